//! Decides which endpoint to try next.

use std::collections::BTreeSet;

/// A round of tries over all endpoints, between two waits.
#[derive(Debug)]
pub(super) struct Round {
    endpoints: usize,
    failed: BTreeSet<usize>,
}

impl Round {
    /// A round over this number of endpoints, which is at least one.
    pub(super) fn new(endpoints: usize) -> Self {
        Self {
            endpoints,
            failed: BTreeSet::new(),
        }
    }

    /// Records that the endpoint at `place` has failed, and returns the next: the leader's as far as it is known, else
    /// the one in turn. No endpoint is tried twice in a round: replicas that do not know yet that the leader is dead
    /// would otherwise send every try to it.
    pub(super) fn next(&mut self, place: usize, hinted: Option<usize>) -> usize {
        self.failed.insert(place);
        let in_turn = (1..=self.endpoints).map(|step| (place + step) % self.endpoints);
        let mut untried = hinted
            .into_iter()
            .chain(in_turn)
            .filter(|next| !self.failed.contains(next));
        untried
            .next()
            .or(hinted)
            .unwrap_or((place + 1) % self.endpoints)
    }

    /// Whether every endpoint has failed. If so, another round begins.
    pub(super) fn end(&mut self) -> bool {
        let over = self.failed.len() >= self.endpoints;
        if over {
            self.failed.clear();
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_tried_in_turn_and_the_round_ends_with_the_last() {
        let mut round = Round::new(3);
        assert_eq!((round.next(1, None), round.end()), (2, false));
        assert_eq!((round.next(2, None), round.end()), (0, false));
        assert_eq!((round.next(0, None), round.end()), (1, true));
        assert_eq!((round.next(1, None), round.end()), (2, false));
    }

    #[test]
    fn a_hint_comes_first_but_not_twice() {
        let mut round = Round::new(3);
        assert_eq!(round.next(1, Some(0)), 0);
        // The leader is dead, and replica 1 would still name it if it were asked again: so replica 2 is next.
        assert_eq!(round.next(0, None), 2);
        assert_eq!(round.next(2, Some(0)), 0);
        assert!(round.end());
        assert_eq!(round.next(0, Some(0)), 1);
    }

    #[test]
    fn a_single_endpoint_is_tried_again() {
        let mut round = Round::new(1);
        assert_eq!((round.next(0, None), round.end()), (0, true));
        assert_eq!((round.next(0, Some(0)), round.end()), (0, true));
    }
}
