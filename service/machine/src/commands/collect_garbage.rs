//! `CollectGarbage`: goes on with the dependents that deletions have left, up to the bound of one command.

use crate::Answer;
use crate::objects::deletion;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>) -> Answer {
    Answer::Collected {
        steps: deletion::collect_backlog(turn),
    }
}
