//! The state of a membership.

use synod_model::{Epoch, StatementNumber};

use super::Ended;
use super::statements::Statements;
use crate::{Error, MemberEpoch};

/// The state of a membership.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MembershipState {
    /// The present epoch. `None`: it was lost, and the server is joining again; or the membership is over for good.
    pub epoch: Option<Epoch>,
    /// Whether the epoch can be proved: a renewal was acknowledged lately enough. If not, the gate is closed.
    pub proved: bool,
    /// Whether the present epoch has reported all of its resources.
    pub reported: bool,
    /// Whether the server was marked as ready under the present epoch.
    pub ready: bool,
    /// Why the membership is over for good, if it is.
    pub ended: Option<Ended>,
    /// The last error; `None` once the failed operation has succeeded.
    pub last_error: Option<Error>,
}

/// The state of a membership, and the member as which the server sends requests.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Without its last error, which is in the two fields below.
    state: MembershipState,
    pub(super) member: Option<MemberEpoch>,
    /// The last statement number of the epoch.
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

    /// The number of the server's next statement as this member; `None` if it is not this member any more.
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

    /// The server was marked as ready under an epoch.
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

    /// The membership is over for good. Only the first reason is kept.
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
