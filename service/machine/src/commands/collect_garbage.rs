//! `CollectGarbage`: continues with the dependents that deletions have left, up to the bound of one command.

use synod_model::Refusal;

use crate::objects::deletion;
use crate::turn::Turn;
use crate::{Answer, CollectGarbage};

pub(crate) fn apply(turn: &mut Turn<'_>, _: &CollectGarbage) -> Result<Answer, Refusal> {
    Ok(Answer::Collected {
        steps: deletion::collect_backlog(turn),
    })
}
