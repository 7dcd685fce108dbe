//! Numbers the statements about a server's resources, so that the cluster recognizes one that arrives late.

use synod_model::{Epoch, StatementNumber};

/// The last number that was given under an epoch.
#[derive(Debug, Default)]
pub(super) struct Statements {
    last: Option<(Epoch, u64)>,
}

impl Statements {
    /// The number of the next statement under an epoch; `None` if there are no more numbers.
    pub(super) fn next(&mut self, epoch: Epoch) -> Option<StatementNumber> {
        let number = StatementNumber::new(self.said(epoch).checked_add(1)?)?;
        self.last = Some((epoch, number.get()));
        Some(number)
    }

    /// The cluster has taken a statement of this number under an epoch: the next number is greater. An epoch that is
    /// over is ignored.
    pub(super) fn taken(&mut self, epoch: Epoch, number: StatementNumber) {
        if let Some((of, last)) = &mut self.last
            && *of == epoch
        {
            *last = number.get().max(*last);
        }
    }

    /// The number of the last statement under an epoch; 0 if there was none.
    pub(super) fn said(&self, epoch: Epoch) -> u64 {
        let last = self.last.filter(|(of, _)| *of == epoch);
        last.map_or(0, |(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use synod_model::Revision;

    use super::*;

    fn epoch(number: u64) -> Epoch {
        Epoch::new(Revision::new(number))
    }

    fn number(number: u64) -> StatementNumber {
        StatementNumber::new(number).unwrap()
    }

    #[test]
    fn each_epoch_counts_what_it_says_from_one() {
        let mut statements = Statements::default();
        assert_eq!(statements.next(epoch(5)), Some(number(1)));
        assert_eq!(statements.next(epoch(5)), Some(number(2)));
        statements.taken(epoch(5), number(40));
        statements.taken(epoch(5), number(7));
        assert_eq!(statements.next(epoch(5)), Some(number(41)));
        assert_eq!(statements.next(epoch(9)), Some(number(1)));
        // The answer to a statement of the previous epoch.
        statements.taken(epoch(5), number(90));
        assert_eq!(statements.next(epoch(9)), Some(number(2)));
        statements.taken(epoch(9), number(u64::MAX));
        assert_eq!(statements.next(epoch(9)), None);
    }
}
