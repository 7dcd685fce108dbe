//! What the machine does, told as stories.

mod agreement;
mod checkpoint;
mod cluster;
mod collections;
mod costs;
mod digest;
mod digest_of_objects;
mod drains;
mod entry;
mod fences;
mod forgetting;
mod formation;
mod history;
mod limits;
mod members;
mod objects;
mod owners;
mod selections;
mod sessions;
mod shelf;
mod strictness;
mod transactions;
mod upgrades;
mod vectors;
mod votes;
