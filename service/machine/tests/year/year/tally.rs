//! Counts of the events of a year.

use super::Rollout;

/// How often each event happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) campaigns: u64,
    pub(crate) rolled_back: u64,
    pub(crate) redefined: u64,
    pub(crate) killed: u64,
    pub(crate) overtaken: u64,
    pub(crate) left_drained: u64,
    pub(crate) left_undrained: u64,
    pub(crate) paused: u64,
    pub(crate) outages: u64,
    pub(crate) restored: u64,
    pub(crate) expired: u64,
    pub(crate) joined_again: u64,
    pub(crate) reports_refused: u64,
    pub(crate) adopted: u64,
    /// Statements that arrived late or twice, but before any newer one.
    pub(crate) heard_late: u64,
    /// Statements that arrived after a newer one.
    pub(crate) too_late: u64,
    pub(crate) writes: u64,
    pub(crate) answers_lost: u64,
    pub(crate) draining: u64,
    pub(crate) workers_died: u64,
    pub(crate) given_up: u64,
    pub(crate) completed: u64,
    pub(crate) completed_of_voted: u64,
    /// Counted only of keys and levels: how often a process had to read all that is in use, whether a key was free, and how
    /// often a server turned to another key that it holds.
    pub(crate) could_read: u64,
    pub(crate) free_keys: u64,
    pub(crate) turned: u64,
    /// How often a level rose.
    pub(crate) levels: u64,
    /// Counted only while not every server takes part.
    pub(crate) began_to_take_part: u64,
    pub(crate) fell_back: u64,
    pub(crate) missed_somebody: u64,
    /// How often `persisted` was checked and not on trust.
    pub(crate) known: u64,
    /// Counted only with an observer.
    pub(crate) looks: u64,
    pub(crate) observer_stopped: u64,
    pub(crate) vouched: u64,
    pub(crate) contradicted: u64,
    pub(crate) lapsed: u64,
    pub(crate) completed_of_shown: u64,
    pub(crate) unseen_alone: u64,
    /// Does not happen in every year.
    pub(crate) reset: u64,
    /// Counted only with a fence.
    pub(crate) fenced_off: u64,
}

impl Tally {
    /// The events that should have happened and did not.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let counts = [
            ("campaign", self.campaigns),
            ("rollback", self.rolled_back),
            ("definition", self.redefined),
            ("kill", self.killed),
            ("overtaken process", self.overtaken),
            ("drained leave", self.left_drained),
            ("undrained leave", self.left_undrained),
            ("pause", self.paused),
            ("outage", self.outages),
            ("restored backup", self.restored),
            ("expiry", self.expired),
            ("second join", self.joined_again),
            ("adoption", self.adopted),
            ("statement that came late", self.heard_late),
            ("statement that came too late", self.too_late),
            ("write", self.writes),
            ("lost answer", self.answers_lost),
            ("refused claim", self.draining),
            ("death of a worker", self.workers_died),
            ("aborted migration", self.given_up),
            ("completed migration", self.completed),
            (
                "completed migration of what is voted on",
                self.completed_of_voted,
            ),
        ];
        none_of(&counts)
    }

    /// As [`Self::missing`], for years in which not every server takes part.
    pub(crate) fn missing_of_rollout(&self, rollout: Rollout) -> Vec<&'static str> {
        let mut missing = self.missing();
        let counts = [
            ("server that begins to take part", self.began_to_take_part),
            ("server that takes part no more", self.fell_back),
        ];
        missing.extend(none_of(&counts));
        match rollout {
            Rollout::Over => {}
            Rollout::UnderRoster | Rollout::RosterLater => missing.extend(none_of(&[
                ("missing server", self.missed_somebody),
                ("resource that is not on trust", self.known),
            ])),
            Rollout::Observed => missing.extend(none_of(&[
                ("look", self.looks),
                ("stop of the observer", self.observer_stopped),
                ("reset after a stop", self.vouched),
                ("contradiction", self.contradicted),
                ("observation past its deadline", self.lapsed),
                ("resource of which nobody knows any more", self.unseen_alone),
                (
                    "completed migration of what is shown",
                    self.completed_of_shown,
                ),
            ])),
        }
        missing
    }
}

fn none_of(counts: &[(&'static str, u64)]) -> Vec<&'static str> {
    let missing = counts.iter().filter(|(_, count)| *count == 0);
    missing.map(|(name, _)| *name).collect()
}
