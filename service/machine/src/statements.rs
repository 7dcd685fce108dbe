//! What a member says comes in the order in which it said it, or is refused.
//!
//! A request can be late: given up by its caller, sent again by a network or a replica, executed long after what was said
//! since. Neither a session nor an epoch tells such a report from the present one. So a member numbers what it says within
//! its epoch, and the number of the last statement that was taken is kept beside it, as its deadline is: it is no part of
//! the member that readers see, moves no revision and wakes no watcher.

use synod_model::{Epoch, ErrorKind, Member, MemberId, Refusal, StatementNumber};

use crate::State;

impl State {
    /// The member, if it holds this very epoch and has said nothing later than this.
    ///
    /// The same number as the last one is the same statement again: nothing came between, so it can be carried out again.
    ///
    /// # Errors
    ///
    /// As [`Self::fenced`]; `CONFLICT` if a later statement was taken.
    pub(crate) fn heard(
        &self,
        id: &MemberId,
        epoch: Epoch,
        number: StatementNumber,
    ) -> Result<&Member, Refusal> {
        let member = self.fenced(id, epoch)?;
        match self.statements.get(id) {
            Some(last) if number < *last => Err(late(id, number, *last)),
            Some(_) | None => Ok(member),
        }
    }
}

fn late(id: &MemberId, number: StatementNumber, last: StatementNumber) -> Refusal {
    Refusal::new(
        ErrorKind::Conflict,
        format!(
            "member \"{id}\": its statement {number} comes late, since {last} was taken: say anew what is true now, \
             numbered above {last}"
        ),
    )
    .with("member", id.as_str())
    .with("number", number)
    .with("last_number", last)
}
