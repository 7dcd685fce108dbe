//! What a member says comes in the order in which it said it, or is refused.
//!
//! A request can be late: given up by its caller, sent again by a network or a replica, executed long after what was said
//! since. Neither a session nor an epoch tells such a report from the present one. So a member numbers what it says within
//! its epoch, and the number of the last statement that was taken is kept beside it, as its deadline is: it is no part of
//! the member that readers see, moves no revision and wakes no watcher.

use synod_model::{Epoch, ErrorKind, Member, MemberId, Refusal, StatementNumber};

use crate::{State, StatementRow};

impl State {
    /// The member, if it holds this very epoch and has said nothing later than this.
    ///
    /// The last one once more is the same statement again: nothing came between, so it can be carried out again.
    ///
    /// # Errors
    ///
    /// As [`Self::fenced`]; `CONFLICT` if a later statement was taken, or another one under the same number.
    pub(crate) fn heard(
        &self,
        id: &MemberId,
        epoch: Epoch,
        said: StatementRow,
    ) -> Result<&Member, Refusal> {
        let member = self.fenced(id, epoch)?;
        match self.statements.get(id) {
            Some(last) if said.number < last.number => Err(late(id, said.number, last.number)),
            Some(last) if said.number == last.number && said.content != last.content => {
                Err(twice(id, said.number))
            }
            Some(_) | None => Ok(member),
        }
    }
}

fn twice(id: &MemberId, number: StatementNumber) -> Refusal {
    Refusal::new(
        ErrorKind::Conflict,
        format!(
            "member \"{id}\": something else was said under the number {number}: say anew what is true now, numbered \
             above {number}"
        ),
    )
    .with("member", id.as_str())
    .with("number", number)
    .with("last_number", number)
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
