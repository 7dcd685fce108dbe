//! Accepts the statements of a member in the order in which the member made them, and refuses late ones.
//!
//! A request can be late: its caller gave it up, or a network or a replica sent it again, and it is executed long after
//! newer statements. Neither a session nor an epoch tells such a report from the present one. So a member numbers its
//! statements within its epoch, and the number of the last accepted statement is kept beside the member, as its
//! deadline is: it is no part of the member that readers see, moves no revision and wakes no watcher.

use synod_model::{Epoch, ErrorKind, Member, MemberId, Refusal, StatementNumber};

use crate::{State, StatementRow};

impl State {
    /// The member, if it holds this very epoch and has made no later statement than this.
    ///
    /// The last statement may be repeated: nothing came between, so it can be carried out again.
    ///
    /// # Errors
    ///
    /// As [`Self::fenced`]; `CONFLICT` if a later statement was accepted, or another one under the same number.
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
            "member \"{id}\": statement {number} was already made with another content: send the present facts again, \
             with a number above {number}"
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
            "member \"{id}\": statement {number} is older than statement {last}, which was accepted: send the present \
             facts again, with a number above {last}"
        ),
    )
    .with("member", id.as_str())
    .with("number", number)
    .with("last_number", last)
}
