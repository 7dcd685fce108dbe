//! `OpenSession`: opens a client's session, whose id is the revision of this command.

use synod_model::{ErrorKind, OpenSession, Refusal};

use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, _: &OpenSession) -> Result<Answer, Refusal> {
    let most = turn.state().settings.sessions_max;
    if turn.state().sessions.len() as u64 >= u64::from(most) {
        return Err(Refusal::new(
            ErrorKind::Quota,
            format!(
                "{most} sessions are open, the most that sessions_max allows: close unused ones or raise it"
            ),
        ));
    }
    turn.state().check_quota()?;
    let owner = turn.actor().map(|actor| actor.identity.clone());
    Ok(Answer::SessionOpened(turn.open_session(owner)))
}
