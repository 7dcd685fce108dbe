//! The check at the end: was every promise kept?
//!
//! It has no state of the run. It reads the raw recordings, every stored object and what the replicas answer in the end,
//! all of them files in one directory, and works out everything else by itself: which versions each member's entry
//! allowed at every revision, what had to be selected, what had to be agreed on. It shares no rule with the replicas.
//!
//! # How the two orders are held against each other
//!
//! The store orders writes by position, Synod orders changes by revision, and nobody counts both. A third process reads
//! a revision from Synod, linearizably, between two looks at the store's position, many times a second: a
//! [`Mark`](super::records::Mark). So the revision at which a write landed lies between two that are known:
//!
//! * `after(w)`: the greatest revision that was read before the write landed: it landed at that one or later;
//! * `before(w)`: the least revision that was read after it had landed: it landed at that one or earlier.
//!
//! # What check 1 demands of a write
//!
//! Let `m` be the member that wrote it, `e` the epoch and `p` the revision of its permit, as the writer says; `v` the
//! version in which the stored bytes say they are encoded, whatever the writer says. *The entry allows v at r* means:
//! at revision `r` the member `m` holds epoch `e` and has reported under it, and its entry for the resource encodes `v`,
//! or it votes and `v` is selected (a voter takes up what is selected before it has adopted it).
//!
//! 1. The bytes are in the version that the writer says.
//! 2. The entry allows `v` at `p`.
//! 3. `p` is at most `before(w)`: nobody writes with a permit that is given later.
//! 4. The entry allows `v` at every revision from `p` to `after(w)` as long as the epoch lives: what an entry ceases to
//!    allow is drained first.
//! 5. If the epoch ended at a revision `x` up to `after(w)`, Synod knew that the write may still come: at `x` the
//!    resource has a drain for `v` (a member that leaves drained has none, so none of its writes may come later), and the
//!    write landed within the member's TTL and `write_grace` of it.
//!
//! A drain says until when, and not for whom: one that another member's end had raised before covers a later end as well.
//! A write that breaks 4 or 5 by less than the time between two marks is not seen. One that breaks 1, 2 or 3 always is.
//!
//! # What Synod keeps itself
//!
//! Its own objects need none of that: each one stands in the recording of the watch, with its bytes, at the revision at
//! which it was stored. Check 8 replays them and holds each against what is selected at that revision; check 9 holds
//! them against what the servers had encoded and were refused; check 10 against the list of the end.
//!
//! # What a migration may have changed
//!
//! A worker puts objects back as it read them. So a write of the very object that was there before is one of a worker, and
//! no change was lost by it; every other write goes on from the one before.

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

/// What came of the check.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// What is wrong, by check; empty if nothing is.
    pub(crate) findings: Vec<Finding>,
    /// What happened.
    pub(crate) summary: Summary,
}

/// Reads the recordings in a directory and checks them.
///
/// # Errors
///
/// A recording is missing or holds what is not one, with the file and the line.
pub(crate) fn check(directory: &Path) -> Result<Judgement, String> {
    Ok(judge(&Evidence::read(directory)?))
}

fn judge(evidence: &Evidence) -> Judgement {
    let mut findings = watchers::check(evidence);
    // The recordings are the same, or the check above says where they are not.
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
