//! The renewals that a leader keeps to itself: in memory, and for its term.
//!
//! A renewal that is kept needs no log entry. It is answered once a quorum has confirmed, in a round that began after the
//! renewal came, that this replica still leads. Until that round no other replica led, and whoever leads next gives
//! everybody a whole TTL; this replica names in an expiry only who is past the deadline as extended here. So nobody who
//! was answered expires early, whoever dies. Who is named in an expiry whose outcome is not known yet is not kept: its
//! renewal goes into the log, behind that expiry.

use std::collections::{HashMap, HashSet};
use synod_machine::{Envelope, Holder, Outcome, Renewal, State};
use synod_model::LogTime;

/// What one leader keeps in one term.
#[derive(Debug, Default)]
pub(super) struct KeptRenewals {
    extended: HashMap<Holder, Extension>,
    /// The holders in expiries that were proposed and are not settled.
    named: HashSet<Holder>,
}

/// A deadline that was extended here alone.
#[derive(Debug)]
struct Extension {
    /// The renewal, which must still be in order for the extension to count: its epoch or token may be another's by now.
    renewal: Envelope,
    until: LogTime,
}

/// A renewal that was tried. It must not be answered before it is confirmed.
#[derive(Debug)]
pub(super) struct Extended {
    envelope: Envelope,
    /// What was extended; `None` if the state refused it then.
    renewed: Option<Renewal>,
}

impl Extended {
    /// The outcome in a later state. `None` if that allows what was not extended, or for longer: the state before was behind
    /// the log, so the command must go there.
    pub(super) fn outcome(&self, state: &State) -> Option<Outcome> {
        let result = match (state.renewal_of(&self.envelope)?, &self.renewed) {
            (Err(refusal), _) => Err(refusal),
            (Ok(now), Some(then)) if now == *then => Ok(now.answer),
            (Ok(_), _) => return None,
        };
        Some(Outcome {
            revision: state.revision(),
            changed: false,
            result,
        })
    }
}

impl KeptRenewals {
    /// Extends the deadline of what a command renews, at log time `now`. `None` if the command must go into the log: it is
    /// no renewal, or renews what is being expired. A renewal that is refused by `state` extends nothing.
    pub(super) fn extend(
        &mut self,
        state: &State,
        envelope: &Envelope,
        now: LogTime,
    ) -> Option<Extended> {
        let renewed = state.renewal_of(envelope)?.ok();
        if let Some(renewal) = &renewed {
            if self.named.contains(&renewal.holder) || state.belongs_to_log(renewal, now) {
                return None;
            }
            let extension = Extension {
                renewal: envelope.clone(),
                until: now.after(renewal.ttl.duration()),
            };
            self.extended.insert(renewal.holder.clone(), extension);
        }
        Some(Extended {
            envelope: envelope.clone(),
            renewed,
        })
    }

    /// The log time until which the holder was promised to live by a renewal that still counts.
    pub(super) fn until(&self, state: &State, holder: &Holder) -> Option<LogTime> {
        let extension = self.extended.get(holder)?;
        // Not by `renewal_of`: who was answered before leases were switched off may hold its lease until then.
        let renewal = state.renewal(&extension.renewal.command);
        let counts = matches!(renewal, Some(Ok(_)));
        counts.then_some(extension.until)
    }

    /// Forgets the extensions that have passed, and that holders were named which are gone.
    pub(super) fn forget(&mut self, state: &State, now: LogTime) {
        self.extended.retain(|_, extension| extension.until > now);
        self.named.retain(|holder| state.deadline(holder).is_some());
    }

    /// Notes that an expiry of these holders is proposed.
    pub(super) fn name(&mut self, holders: &[Holder]) {
        self.named.extend(holders.iter().cloned());
    }

    /// Notes that the expiry of these holders was applied, or certainly never will be.
    pub(super) fn settle(&mut self, holders: &[Holder]) {
        for holder in holders {
            self.named.remove(holder);
        }
    }
}

#[cfg(test)]
mod tests {
    use synod_machine::{
        AnnounceReplica, Answer, Command, DirectoryId, RaiseMachineVersion, ReplicaId,
    };
    use synod_model::{
        AcquireLease, Epoch, ErrorKind, HolderIdentity, LeaseKey, MemberId, Renew, RenewLease,
        SettingsPatch, Switch, Ttl, UpdateSettings,
    };

    use super::*;
    use crate::samples;

    fn member() -> MemberId {
        MemberId::parse("server-a").unwrap()
    }

    fn holder() -> Holder {
        Holder::Member(member())
    }

    fn renewal(epoch: Epoch) -> Envelope {
        samples::envelope(Command::Renew(Renew {
            member: member(),
            epoch,
        }))
    }

    fn at(millis: u64) -> LogTime {
        LogTime::from_millis(millis)
    }

    /// A state with a member, and its epoch.
    fn joined() -> (State, Epoch) {
        let mut state = samples::state();
        let epoch = samples::joins(&mut state, &member(), "first");
        (state, epoch)
    }

    #[test]
    fn a_renewal_counts_until_its_ttl_has_passed() {
        let (state, epoch) = joined();
        let mut kept = KeptRenewals::default();
        assert!(kept.extend(&state, &renewal(epoch), at(7_000)).is_some());
        let until = at(7_000).after(Ttl::DEFAULT.duration());
        assert_eq!(kept.until(&state, &holder()), Some(until));
        kept.forget(&state, at(until.as_millis() - 1));
        assert_eq!(kept.until(&state, &holder()), Some(until));
        kept.forget(&state, until);
        assert_eq!(kept.until(&state, &holder()), None);
    }

    #[test]
    fn a_renewal_of_another_epoch_extends_nothing_and_one_that_was_kept_ends_with_its_epoch() {
        let (mut state, epoch) = joined();
        let mut kept = KeptRenewals::default();
        let foreign = Epoch::new(synod_model::Revision::new(99));
        assert!(kept.extend(&state, &renewal(foreign), at(7_000)).is_some());
        assert_eq!(kept.until(&state, &holder()), None);
        assert!(kept.extend(&state, &renewal(epoch), at(7_000)).is_some());
        samples::joins(&mut state, &member(), "second");
        assert_eq!(kept.until(&state, &holder()), None);
    }

    /// A state in which machine version 2 is in force and a lease is held, with the holder's renewal.
    fn held() -> (State, Holder, Envelope) {
        let mut state = samples::state();
        let replica = ReplicaId::new(1);
        let commands = [
            Command::AnnounceReplica(AnnounceReplica {
                replica,
                directory: DirectoryId::from_bytes([3; 16]),
                client_endpoint: "10.0.0.1:2379".to_owned(),
                binary: "0.2.0".to_owned(),
                machine_version: 2,
                disk_is_low: false,
            }),
            Command::RaiseMachineVersion(RaiseMachineVersion {
                to: 2,
                replicas: [replica].into(),
            }),
        ];
        for command in commands {
            samples::apply(&mut state, command);
        }
        let key = LeaseKey::new("default", "lock").unwrap();
        let acquire = AcquireLease {
            key: key.clone(),
            holder: HolderIdentity::parse("a").unwrap(),
            ttl: Ttl::DEFAULT,
            wait: None,
            if_member: None,
        };
        let answer = samples::apply(&mut state, Command::AcquireLease(acquire));
        let Answer::LeaseHeld { token, .. } = answer else {
            panic!("a free lease is given, not {answer:?}")
        };
        let renew = RenewLease {
            key: key.clone(),
            token,
        };
        let renewal = samples::envelope(Command::RenewLease(renew));
        (state, Holder::Lease(key), renewal)
    }

    // Guarantee: U-04
    #[test]
    fn a_renewal_that_was_answered_counts_to_its_end_when_leases_are_switched_off() {
        let (mut state, holder, renewal) = held();
        let mut kept = KeptRenewals::default();
        kept.extend(&state, &renewal, at(7_000)).unwrap();
        let off = UpdateSettings {
            patch: SettingsPatch {
                leases: Some(Switch::Off),
                ..SettingsPatch::default()
            },
            if_revision: None,
        };
        samples::apply(&mut state, Command::UpdateSettings(off));
        let until = at(7_000).after(Ttl::DEFAULT.duration());
        assert_eq!(kept.until(&state, &holder), Some(until));
        // A later one is refused, and extends nothing.
        let late = kept.extend(&state, &renewal, at(9_000)).unwrap();
        let refusal = late.outcome(&state).unwrap().result.unwrap_err();
        assert_eq!(refusal.kind, ErrorKind::SwitchedOff);
        assert_eq!(kept.until(&state, &holder), Some(until));
    }

    // Guarantee: M-02
    #[test]
    fn who_is_named_in_an_expiry_is_renewed_by_the_log_until_the_expiry_is_settled() {
        let (state, epoch) = joined();
        let mut kept = KeptRenewals::default();
        kept.name(&[holder()]);
        assert!(kept.extend(&state, &renewal(epoch), at(7_000)).is_none());
        assert_eq!(kept.until(&state, &holder()), None);
        kept.settle(&[holder()]);
        assert!(kept.extend(&state, &renewal(epoch), at(7_000)).is_some());
    }

    #[test]
    fn what_was_not_extended_is_not_answered_as_renewed() {
        let (before, _) = joined();
        let mut after = before.clone();
        let epoch = samples::joins(&mut after, &member(), "second");
        let mut kept = KeptRenewals::default();
        // The join is in the log, and this replica has not applied it when the renewal comes.
        let early = kept.extend(&before, &renewal(epoch), at(7_000)).unwrap();
        assert!(early.outcome(&before).unwrap().result.is_err());
        assert_eq!(early.outcome(&after), None, "it must go into the log");
        let in_time = kept.extend(&after, &renewal(epoch), at(7_000)).unwrap();
        assert!(in_time.outcome(&after).unwrap().result.is_ok());
        assert!(in_time.outcome(&before).unwrap().result.is_err());
    }

    #[test]
    fn who_is_gone_is_named_no_more() {
        let (state, _) = joined();
        let mut kept = KeptRenewals::default();
        kept.name(&[holder()]);
        kept.forget(&state, at(1));
        assert!(kept.named.contains(&holder()));
        kept.forget(&samples::state(), at(1));
        assert!(kept.named.is_empty());
    }

    #[test]
    fn what_is_no_renewal_goes_into_the_log() {
        let (state, _) = joined();
        let other = samples::envelope(Command::CollectGarbage(synod_machine::CollectGarbage {}));
        assert!(
            KeptRenewals::default()
                .extend(&state, &other, at(1))
                .is_none()
        );
    }
}
