//! Disks of every release, byte for byte: each build opens them all and finds what was on them.
//!
//! `<release>/disk` is the data directory of a replica that was its own set, and was stopped; `<release>/facts.json` says
//! what it held. A disk that was released is never written again. CONTRIBUTING.md says how the next one is made.

#[cfg(test)]
mod facts;
#[cfg(test)]
mod history;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod replica;
