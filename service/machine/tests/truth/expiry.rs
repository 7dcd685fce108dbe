//! What is past its deadline, which the leader removes.

use std::collections::BTreeSet;

use synod_machine::{Command, Expire, Holder};
use synod_model::{LogTime, MemberId};

use crate::machine::Machine;

impl Machine {
    /// The deadlines between now and this moment, in seconds rounded up.
    pub(crate) fn deadlines_before(&self, end: u64) -> BTreeSet<u64> {
        let last = LogTime::from_millis(end * 1_000);
        let holders = self.state.due(last, usize::MAX).holders.into_iter();
        let deadlines = holders.filter_map(|holder| self.state.deadline(&holder));
        let seconds = deadlines.map(|at| at.as_millis().div_ceil(1_000));
        seconds
            .filter(|at| (self.now()..end).contains(at))
            .collect()
    }

    /// Removes all that is past its deadline.
    pub(crate) fn expire(&mut self) {
        let mut expire = Expire::default();
        let now = self.state.log_time();
        for holder in self.state.due(now, usize::MAX).holders {
            let present = self.state.present();
            let epoch = |id: &MemberId| present.member(id).expect("its deadline is kept").epoch;
            match holder {
                Holder::Member(id) => {
                    let epoch = epoch(&id);
                    expire.members.insert((id, epoch));
                }
                Holder::Unreported(id) => {
                    let epoch = epoch(&id);
                    expire.unreported.insert((id, epoch));
                }
                Holder::Claim(id) => {
                    let claim = present.migration(&id).and_then(|it| it.claim.clone());
                    let token = claim.expect("the deadline is a claim's").token;
                    expire.claims.insert((id, token));
                }
                Holder::Retry(id) => {
                    expire.retries.insert(id);
                }
                Holder::Observation(resource) => {
                    expire.observations.insert(resource);
                }
                Holder::Look(resource, observer) => {
                    expire.looks.insert((resource, observer));
                }
                other => panic!("no schedule makes {other:?}"),
            }
        }
        self.send(Command::Expire(expire));
    }
}
