//! Scenario tests of the machine, through commands.

mod absences;
mod actors;
mod agreement;
mod checkpoint;
mod cluster;
mod collections;
mod costs;
mod counted;
mod digest;
mod digest_of_objects;
mod drains;
mod entry;
mod evidence;
mod fences;
mod forgetting;
mod formation;
mod history;
mod known;
mod late_writes;
mod limits;
mod members;
mod migrations;
mod named_migrations;
mod objects;
mod observations;
mod owners;
mod patches;
#[path = "../support/raised.rs"]
mod raised;
mod releases;
mod restores;
mod room;
mod rosters;
mod safety;
mod said;
mod second_deletions;
mod selections;
mod served;
mod sessions;
mod shelf;
mod statements;
mod status_subresource;
#[path = "../support/stored.rs"]
mod stored;
mod strictness;
#[path = "../support/switched.rs"]
mod switched;
mod switches;
mod topics;
mod transactions;
mod trust;
mod upgrade_history;
mod upgrades;
mod vectors;
mod votes;
mod wording;
