//! Data directories of every release, byte for byte: each build opens them all and must find what was on them.
//!
//! `<release>/disk` is the data directory of a stopped replica that was its own set; `<release>/facts.json` says what
//! it held. A directory that was released is never written again. CONTRIBUTING.md says how the next one is made.

#[cfg(test)]
mod facts;
#[cfg(test)]
mod history;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod replica;
