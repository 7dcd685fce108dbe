//! Commands of members under their epochs.

use synod_machine::{Command, State};
use synod_model::{
    Adopt, Epoch, InstanceId, Leave, MarkReady, MemberId, Renew, Report, StatementNumber,
};

use super::entries::{member, report_entries, reported_before, resource};
use super::{LEGAL, Script};
use crate::calls::{Does, Leaves, MEMBERS, RESOURCES, What, Which};

impl Script {
    /// The number of a member's next statement under an epoch.
    fn next_number(&mut self, member: &MemberId, epoch: Epoch) -> StatementNumber {
        let last = self.numbers.entry((member.clone(), epoch));
        let next = last.and_modify(|last| *last = last.next().expect(LEGAL));
        *next.or_insert(StatementNumber::FIRST)
    }

    pub(super) fn member_command(
        &mut self,
        who: usize,
        epoch: Epoch,
        does: &Does,
        state: &State,
    ) -> Command {
        let member = member(who);
        match does {
            Does::Renew => Command::Renew(Renew { member, epoch }),
            Does::Ready => Command::MarkReady(MarkReady { member, epoch }),
            Does::Leave(leaves) => leave(member, epoch, *leaves, state),
            Does::Report { replace, entries } => Command::Report(Report {
                number: self.next_number(&member, epoch),
                member,
                epoch,
                entries: report_entries(entries),
                replace: *replace,
            }),
            Does::ReportAgain { other_preference } => Command::Report(Report {
                entries: reported_before(&member, *other_preference, state),
                number: self.next_number(&member, epoch),
                member,
                epoch,
                replace: true,
            }),
            Does::Adopt {
                resource: of,
                selection,
            } => Command::Adopt(Adopt {
                number: self.next_number(&member, epoch),
                member,
                epoch,
                resource: resource(*of),
                selected_revision: self.selection(*of, *selection, state),
            }),
        }
    }
}

fn leave(member: MemberId, epoch: Epoch, leaves: Leaves, state: &State) -> Command {
    let present = state.present().member(&member);
    let present = present.map(|member| member.instance.clone());
    let unheard = InstanceId::parse("unheard").expect(LEGAL);
    let instance = match leaves {
        Leaves::Drained | Leaves::Undrained => present.or(Some(unheard)),
        Leaves::ByAnotherInstance => Some(unheard),
        Leaves::Evicted | Leaves::SaidToHaveStopped => None,
    };
    Command::Leave(Leave {
        member,
        epoch,
        drained: matches!(leaves, Leaves::Drained),
        instance,
        stopped: matches!(leaves, Leaves::SaidToHaveStopped),
    })
}

/// The call of a server that joins or renews.
pub(super) fn stay(who: usize, state: &State) -> What {
    match state.present().member(&member(who)) {
        Some(_) => What::Member {
            who,
            epoch: Which::Present,
            does: Does::Renew,
        },
        None => What::Join {
            who,
            instance: 0,
            ttl: who % 3,
            release: 0,
            lost: None,
        },
    }
}

/// The members, each with a resource, that have yet to adopt the selection.
pub(super) fn behind(state: &State) -> impl Iterator<Item = (usize, usize)> {
    let pairs = (0..MEMBERS).flat_map(|who| (0..RESOURCES).map(move |of| (who, of)));
    pairs.filter(move |(who, of)| {
        let version = state.present().storage_version(&resource(*of));
        version.is_some_and(|version| {
            let entry = version.entry(&member(*who));
            let adopted = entry.and_then(|entry| entry.adopted_revision);
            adopted.is_some_and(|adopted| adopted != version.row.status.selected_revision)
        })
    })
}
