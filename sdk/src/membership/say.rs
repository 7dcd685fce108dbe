//! Sends statements about the server's resources, and sends them again under a new number if they were overtaken.

use std::sync::Arc;

use synod_model::{ErrorKind, StatementNumber};
use synod_proto::status::key;

use super::state::Standing;
use crate::board::Board;
use crate::{Error, MemberEpoch};

/// How often one statement is sent, each time under a new number, if others overtake it.
const NUMBERINGS_MAX: u32 = 64;

/// Sends a statement about the server's resources under the present epoch. If another statement of the server with a
/// greater number was executed first, this one is sent again under a new number, since it is still true.
///
/// A statement whose outcome is unknown is not repeated here: a caller that repeats it gives it a new number.
///
/// # Errors
///
/// `NOT_A_MEMBER`: the epoch is over. Else the error of `send`.
pub(super) async fn say<T, Sending>(
    standing: &Arc<Board<Standing>>,
    member: &MemberEpoch,
    send: impl Fn(StatementNumber) -> Sending,
) -> Result<T, Error>
where
    Sending: Future<Output = Result<T, Error>>,
{
    let mut numberings = 0;
    loop {
        let number = standing.lock().next_number(member);
        let Some(number) = number else {
            return Err(over(member));
        };
        let said = send(number).await;
        numberings += 1;
        let taken = said.as_ref().err().and_then(overtaken_by);
        match taken {
            Some(taken) if numberings < NUMBERINGS_MAX => {
                standing.lock().statements.taken(member.epoch, taken);
            }
            Some(_) | None => return said,
        }
    }
}

/// The number of the later statement because of which this one was refused; `None` for any other error.
fn overtaken_by(error: &Error) -> Option<StatementNumber> {
    let taken = error.metadata().get(key::LAST_NUMBER)?;
    let taken = taken.parse().ok().and_then(StatementNumber::new);
    taken.filter(|_| error.kind() == ErrorKind::Conflict)
}

fn over(member: &MemberEpoch) -> Error {
    let message = format!(
        "epoch {} of member \"{}\" is over; nothing was sent",
        member.epoch, member.member
    );
    Error::new(ErrorKind::NotAMember, message)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use synod_model::{Epoch, MemberId, Refusal, Revision};

    use super::*;

    fn epoch(number: u64) -> Epoch {
        Epoch::new(Revision::new(number))
    }

    fn member(at: u64) -> MemberEpoch {
        MemberEpoch {
            member: MemberId::parse("a").unwrap(),
            epoch: epoch(at),
            cluster: None,
        }
    }

    fn standing(at: u64) -> Arc<Board<Standing>> {
        let standing = Arc::<Board<Standing>>::default();
        standing.lock().joined(member(at));
        standing
    }

    fn late(last: u64) -> Error {
        Refusal::new(ErrorKind::Conflict, "late")
            .with("last_number", last)
            .into()
    }

    #[tokio::test]
    async fn what_was_overtaken_is_said_again_after_what_overtook_it() {
        let sent = RefCell::new(Vec::new());
        let standing = standing(5);
        let speaker = member(5);
        let said = say(&standing, &speaker, |number| {
            sent.borrow_mut().push(number.get());
            let answer = if number.get() < 10 {
                Err(late(12))
            } else {
                Ok(())
            };
            async move { answer }
        });
        assert_eq!(said.await, Ok(()));
        assert_eq!(sent.into_inner(), [1, 13]);
    }

    #[tokio::test]
    async fn a_cluster_that_calls_everything_late_is_believed_in_the_end() {
        let sent = RefCell::new(0);
        let standing = standing(5);
        let speaker = member(5);
        let said = say(&standing, &speaker, |number| {
            *sent.borrow_mut() += 1;
            async move { Err::<(), _>(late(number.get())) }
        });
        assert_eq!(said.await.unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(sent.into_inner(), NUMBERINGS_MAX);
    }

    #[tokio::test]
    async fn nothing_is_said_under_an_epoch_that_is_over() {
        let standing = standing(9);
        let speaker = member(5);
        let said = say(&standing, &speaker, |_| async { Ok(()) });
        assert_eq!(said.await.unwrap_err().kind(), ErrorKind::NotAMember);
    }

    #[tokio::test]
    async fn another_conflict_is_no_matter_of_order() {
        let standing = standing(5);
        let speaker = member(5);
        let said = say(&standing, &speaker, |_| async {
            let refusal = Refusal::new(ErrorKind::Conflict, "selected moved");
            Err::<(), _>(refusal.with("selected_revision", 7).into())
        });
        assert_eq!(said.await.unwrap_err().message(), "selected moved");
        assert_eq!(standing.lock().statements.said(epoch(5)), 1);
    }
}
