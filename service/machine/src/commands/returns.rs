//! Settles the absences of members that come back, or of which somebody says that they never will.

use synod_model::{ErrorKind, GroupResource, Leave, MemberId, Refusal};

use crate::turn::Turn;
use crate::voting::{decide_return, decide_stop};
use crate::{Answer, MembershipRow, State};

/// Doubts what is stored of the resources of a member that is replaced after a long absence.
pub(super) fn doubt(turn: &mut Turn<'_>, id: &MemberId) {
    for resource in turn.state().reported.get(id).cloned().unwrap_or_default() {
        if let Some(decided) = decide_return(turn.state(), turn.occasion(), &resource, id) {
            turn.carry_out(decided);
        }
    }
}

/// Settles that a member without a gate speaks again, after a process of it had gone without saying so.
pub(super) fn settle(turn: &mut Turn<'_>, id: &MemberId) {
    let Some(row) = turn
        .state()
        .memberships
        .get(id)
        .filter(|row| row.left_ungated)
    else {
        return;
    };
    let row = MembershipRow {
        left_ungated: false,
        ..(**row).clone()
    };
    turn.put_membership(id.clone(), row);
    for resource in resources_left_by(turn.state(), id) {
        let decided = decide_stop(turn.state(), turn.occasion(), &resource, id, false);
        if let Some(decided) = decided {
            turn.carry_out(decided);
        }
    }
}

/// Settles that the process of a member without a gate has stopped, which is no member any more: somebody says so.
///
/// # Errors
///
/// `NOT_A_MEMBER` if no such process is waited for.
pub(super) fn vouch(turn: &mut Turn<'_>, leave: &Leave) -> Result<Answer, Refusal> {
    let id = &leave.member;
    let state = turn.state();
    let mut resources = resources_left_by(state, id);
    resources.retain(|resource| {
        let status = state.status(resource);
        status.ungated_gone.get(id) == Some(&leave.epoch)
    });
    if resources.is_empty() {
        let message = format!(
            "member \"{id}\" is no member, and no process without a gate was left behind under epoch {}: there is nothing to \
             say of it",
            leave.epoch
        );
        return Err(Refusal::new(ErrorKind::NotAMember, message).with("member", id));
    }
    for resource in resources {
        let decided = decide_stop(turn.state(), turn.occasion(), &resource, id, true);
        if let Some(decided) = decided {
            turn.carry_out(decided);
        }
    }
    Ok(Answer::Done)
}

fn resources_left_by(state: &State, id: &MemberId) -> Vec<GroupResource> {
    let states = state.storage_states.iter();
    let left = states.filter(|(_, kept)| kept.row.status.ungated_gone.contains_key(id));
    left.map(|(resource, _)| resource.clone()).collect()
}
