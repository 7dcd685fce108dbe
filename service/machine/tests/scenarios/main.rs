//! What the machine does, told as stories.

mod agreement;
mod checkpoint;
mod cluster;
mod costs;
mod digest;
mod drains;
mod entry;
mod forgetting;
mod formation;
mod history;
mod limits;
mod members;
mod sessions;
mod upgrades;
mod vectors;
mod votes;
