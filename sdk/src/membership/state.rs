//! How a membership does.

use synod_model::{Epoch, StatementNumber};

use super::Ended;
use super::statements::Statements;
use crate::{Error, MemberEpoch};

/// How a membership does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MembershipState {
    /// The present epoch. `None`: it was lost, and the server is joining again; or it is over for good.
    pub epoch: Option<Epoch>,
    /// Whether the epoch can be proved: a renewal was acknowledged lately enough. If not, the gate is closed.
    pub proved: bool,
    /// Whether the present epoch has reported all of its resources.
    pub reported: bool,
    /// Whether the present epoch has said that it is ready.
    pub ready: bool,
    /// Why it is over for good, if it is.
    pub ended: Option<Ended>,
    /// What went wrong last; `None` once all is well again.
    pub last_error: Option<Error>,
}

/// The state, and who the server is for the cluster.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// But for its last error.
    state: MembershipState,
    pub(super) member: Option<MemberEpoch>,
    /// How far it has numbered what it says.
    pub(super) statements: Statements,
    /// Why the last renewal or join failed, if it did.
    pub(super) renewal_error: Option<Error>,
    /// Why the last report or adoption failed, if it did.
    pub(super) report_error: Option<Error>,
}

impl Standing {
    pub(super) fn state(&self) -> MembershipState {
        let error = self.report_error.as_ref().or(self.renewal_error.as_ref());
        MembershipState {
            last_error: error.cloned(),
            ..self.state.clone()
        }
    }

    pub(super) fn ended(&self) -> Option<Ended> {
        self.state.ended
    }

    pub(super) fn is_proved(&self) -> bool {
        self.state.proved
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state.ready
    }

    /// The server joined.
    pub(super) fn joined(&mut self, member: MemberEpoch) {
        self.state.epoch = Some(member.epoch);
        self.member = Some(member);
        self.renewal_error = None;
    }

    /// The number of what the server says next as this member; `None` if it is that no more.
    pub(super) fn next_number(&mut self, member: &MemberEpoch) -> Option<StatementNumber> {
        self.member.as_ref().filter(|present| *present == member)?;
        self.statements.next(member.epoch)
    }

    pub(super) fn set_proved(&mut self, proved: bool) {
        self.state.proved = proved;
    }

    /// All resources were reported under an epoch.
    pub(super) fn reported(&mut self, epoch: Epoch) {
        if self.state.epoch == Some(epoch) {
            self.state.reported = true;
            self.report_error = None;
        }
    }

    /// The server said under an epoch that it is ready.
    pub(super) fn ready(&mut self, epoch: Epoch) {
        if self.state.epoch == Some(epoch) {
            self.state.ready = true;
        }
    }

    /// The epoch is over.
    pub(super) fn lost(&mut self, error: Error) {
        self.renewal_error = Some(error);
        self.leave_epoch();
    }

    /// It is over for good. The first ending stays.
    pub(super) fn end(&mut self, ended: Ended) {
        self.state.ended.get_or_insert(ended);
        self.leave_epoch();
    }

    fn leave_epoch(&mut self) {
        self.member = None;
        self.state = MembershipState {
            ended: self.state.ended,
            ..MembershipState::default()
        };
    }
}
