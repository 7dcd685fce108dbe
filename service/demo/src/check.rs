//! The check at the end of the demo: decides from the recordings whether every promise was kept.
//!
//! It has no state of the run. It reads the raw recordings, every stored object and the last answers of the replicas,
//! all of them files in one directory, and derives everything else itself: the versions that each member's entry
//! allowed at every revision, the version that had to be selected, and the one that had to be agreed on. It shares no
//! rule with the replicas.
//!
//! # How positions of the store are related to revisions
//!
//! The store orders writes by position, Synod orders changes by revision, and no process counts both. The demo reads a
//! revision from Synod, linearizably, between two reads of the store's position, many times a second: a
//! [`Mark`](super::records::Mark). So the revision at which a write landed lies between two known ones:
//!
//! * `after(w)`: the greatest revision that was read before the write landed. It landed at this revision or later;
//! * `before(w)`: the least revision that was read after it had landed. It landed at this revision or earlier.
//!
//! # What check 1 demands of a write
//!
//! Let `m` be the member that wrote it, `e` the epoch and `p` the revision of its permit, as the writer says, and `v`
//! the version that the stored bytes name, whatever the writer says. *The entry allows v at r* means: at revision `r`
//! the member `m` holds epoch `e` and has reported under it, and its entry for the resource encodes `v`, or it votes
//! and `v` is selected (a voter may encode the selected version before it has adopted it).
//!
//! 1. The bytes are in the version that the writer says.
//! 2. The entry allows `v` at `p`.
//! 3. `p` is at most `before(w)`: no permit is given after its write.
//! 4. The entry allows `v` at every revision from `p` to `after(w)` as long as the epoch lives: what an entry ceases to
//!    allow is drained first.
//! 5. If the epoch ended at a revision `x` up to `after(w)`, Synod knew that the write may still come: at `x` the
//!    resource has a drain for `v` (a member that leaves drained has none, so none of its writes may come later), and
//!    the write landed within the member's TTL and `write_grace` of it.
//!
//! A drain has an end and names no member: one that began when another member ended covers a later end as well. A write
//! that breaks 4 or 5 by less than the time between two marks is not found. One that breaks 1, 2 or 3 always is.
//!
//! # Objects that Synod keeps
//!
//! Objects that Synod keeps need no marks: the recording of the watch has each one, with its bytes, at the revision at
//! which it was stored. Check 8 compares the version of each with the one selected at that revision, check 9 compares
//! them with the servers' encodings and refusals, and check 10 with the list at the end.
//!
//! # Writes of a migration
//!
//! A worker puts objects back as it read them. So a write that repeats the object before it is a worker's, and loses no
//! change; every other write must be the next change of the object.

mod agreement;
mod assumed;
mod completed;
mod early;
mod encodings;
mod evidence;
mod finding;
mod kept;
mod marks;
mod migrated;
mod objects;
mod path;
mod persisted;
mod replay;
mod selected;
mod summary;
mod timeline;
mod watchers;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use std::path::Path;

use evidence::Evidence;
#[cfg(test)]
use finding::Check;
use replay::Replay;
use timeline::Timeline;

pub(crate) use finding::{CHECKS, Finding};
pub(crate) use summary::Summary;

/// The result of the check.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// The broken promises, by check; empty if every promise was kept.
    pub(crate) findings: Vec<Finding>,
    /// What happened in the run.
    pub(crate) summary: Summary,
}

/// Reads the recordings in a directory and checks them.
///
/// # Errors
///
/// A recording is missing, or a line cannot be parsed. The text names the file and the line.
pub(crate) fn check(directory: &Path) -> Result<Judgement, String> {
    Ok(judge(&Evidence::read(directory)?))
}

fn judge(evidence: &Evidence) -> Judgement {
    let mut findings = watchers::check(evidence);
    // The recordings are the same, or `watchers::check` has found where they differ.
    let (timeline, broken) = Timeline::of(&evidence.watches[0]);
    findings.extend(broken);
    let (replay, broken) = Replay::of(&evidence.watches[0]);
    findings.extend(broken);
    findings.extend(encodings::check(evidence, &timeline));
    findings.extend(selected::check(&timeline));
    findings.extend(agreement::check(&timeline));
    findings.extend(persisted::check(evidence, &timeline));
    findings.extend(objects::check(evidence, &replay));
    findings.extend(watchers::check_end(evidence, &timeline));
    findings.extend(kept::check(evidence, &timeline, &replay));
    findings.extend(early::check(evidence, &replay));
    findings.extend(migrated::check(evidence, &timeline, &replay));
    findings.extend(completed::check(evidence, &timeline, &replay));
    findings.extend(assumed::check(evidence, &timeline));
    findings.extend(path::check(evidence, &timeline, &replay));
    findings.sort_by_key(|finding| finding.check);
    Judgement {
        findings,
        summary: Summary::of(evidence, &timeline, &replay),
    }
}
