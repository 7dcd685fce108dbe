//! Keys: none is free while it may be needed, and what is selected never goes back.
//!
//! That every member can read what is stored, each server looks at by itself, with its own clock.

use std::collections::BTreeSet;

use synod_machine::{State, StateStatus};
use synod_model::Persisted;

use super::rising::Rising;
use crate::rotations::{Key, Pen, Scene, is_free, number, secrets};

/// The keys before the selected one that are asked for: all that may be held, and some that were thrown away.
const ASKED: u64 = 8;

#[derive(Default)]
pub(super) struct Keys(Rising);

impl Keys {
    pub(super) fn check(
        &mut self,
        state: &State,
        status: &StateStatus,
        scene: &Scene,
    ) -> Result<(), String> {
        let Some(selected) = status.selected.as_ref().map(number) else {
            return Ok(());
        };
        self.0.check(status.selected_revision, selected)?;
        let asked = selected.saturating_sub(ASKED).max(1)..selected;
        for key in asked.filter(|key| is_free(state, *key)) {
            needs(scene, key)
                .and_then(|()| is_free_by_the_rule(state, status, key))
                .map_err(|why| format!("{key} is called free, and {why}"))?;
        }
        Ok(())
    }
}

/// Checks that no object is stored with a key and that nobody may write with it.
fn needs(scene: &Scene, key: Key) -> Result<(), String> {
    if scene.stored.contains(&key) {
        return Err("an object is stored with it".to_owned());
    }
    let uses = |pens: &[Pen]| pens.iter().find(|pen| pen.key() == key).cloned();
    if let Some(flight) = uses(&scene.flights) {
        return Err(format!("a write with it may land: {flight:?}"));
    }
    match uses(&scene.pens) {
        Some(pen) => Err(format!("somebody writes with it: {pen:?}")),
        None => Ok(()),
    }
}

/// Checks that a free key is so by the rule: nothing can be stored with it, no member writes with it or would, and no drain
/// of it is open.
fn is_free_by_the_rule(state: &State, status: &StateStatus, key: Key) -> Result<(), String> {
    let is_it = |name| number(name) == key;
    let mut persisted = status.persisted.iter();
    let needed = persisted.find(|kept| match kept {
        Persisted::Unknown => true,
        Persisted::Version { version, .. } => version.as_ref().is_none_or(is_it),
    });
    if let Some(needed) = needed {
        return Err(format!("{needed:?} may be stored"));
    }
    let mut drains = status.drains.iter();
    let open = drains.find(|(name, until)| is_it(name) && **until > state.log_time());
    if let Some((_, until)) = open {
        return Err(format!("writes with it may land until {until}"));
    }
    let reported = state.present().storage_version(&secrets());
    let entries = reported.iter().flat_map(|version| version.entries());
    for (member, entry) in entries {
        let mut encodes = entry.encoding.iter().chain(entry.preferred());
        if encodes.any(is_it) {
            return Err(format!("{member} writes with it or would: {entry:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use synod_machine::{
        AnnounceReplica, Answer, Command, DirectoryId, Envelope, Initialize, LogEntry,
        RaiseMachineVersion, ReplicaId,
    };
    use synod_model::{
        BinaryVersion, ClusterId, Endpoint, Epoch, InstanceId, Join, Kind, Labels, LogTime,
        MemberId, Report, ReportEntry, Revision, Settings, Stance, StatementNumber,
        StorageVersionHash, StoredIn, Ttl, VersionSet, WallTime,
    };

    use super::*;
    use crate::rotations::name;

    const NOW: LogTime = LogTime::from_millis(5_000);

    fn at(revision: u64) -> Revision {
        Revision::new(revision)
    }

    fn pen(key: Key) -> Pen {
        Pen {
            member: MemberId::parse("a").unwrap(),
            epoch: Epoch::new(at(3)),
            value: name(key),
            revision: at(5),
        }
    }

    #[test]
    fn a_key_that_somebody_needs_is_found() {
        let scene = Scene {
            stored: vec![2, 3],
            flights: vec![pen(4)],
            pens: vec![pen(5)],
            ..Scene::default()
        };
        needs(&scene, 1).unwrap();
        for (key, why) in [(2, "stored"), (3, "stored"), (4, "land"), (5, "somebody")] {
            let fault = needs(&scene, key).unwrap_err();
            assert!(fault.contains(why), "{fault}");
        }
    }

    fn applied(state: &mut State, command: Command) -> Answer {
        let entry = LogEntry {
            log_time: NOW,
            lift_deadlines: false,
            wall: WallTime::from_millis(1_800_000_000_000),
            commands: vec![Envelope {
                actor: None,
                request: None,
                command: Arc::new(command),
            }],
        };
        let outcome = state.apply(&entry).outcomes.into_iter().next();
        outcome.unwrap().result.unwrap()
    }

    /// A new member holds these keys, and would write with the last.
    fn reports(state: &mut State, id: &str, keys: &[Key]) {
        let id = MemberId::parse(id).unwrap();
        let join = Join {
            id: id.clone(),
            instance: InstanceId::parse("process-1").unwrap(),
            ttl: Ttl::DEFAULT,
            labels: Labels::default(),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            lost_epoch: None,
            gated: true,
        };
        let Answer::Joined { epoch, .. } = applied(state, Command::Join(join)) else {
            panic!("it has not joined");
        };
        let held: VersionSet = keys.iter().copied().map(name).collect();
        let report = Report {
            member: id,
            epoch,
            number: StatementNumber::new(1).unwrap(),
            entries: vec![ReportEntry {
                resource: secrets(),
                kind: Kind::parse("Secret").unwrap(),
                served: held.clone(),
                decodable: held,
                stance: Stance::Voting {
                    preferred: name(*keys.last().unwrap()),
                },
                serve_until: None,
                stored: StoredIn::Outside,
                equivalents: BTreeSet::new(),
            }],
            replace: true,
        };
        applied(state, Command::Report(report));
    }

    /// A cluster that has keys as topics.
    fn formed() -> State {
        let (mut state, replica) = (State::new(), ReplicaId::new(1));
        for command in [
            Command::Initialize(Initialize {
                cluster: ClusterId::from_bytes([7; 16]),
                settings: Settings::default(),
            }),
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
        ] {
            applied(&mut state, command);
        }
        state
    }

    #[test]
    fn a_key_that_is_not_free_by_the_rule_is_found() {
        let mut state = formed();
        reports(&mut state, "a", &[1, 2]);
        reports(&mut state, "b", &[1, 2, 3]);
        let kept = state.present().storage_state(&secrets()).unwrap();
        assert_eq!(kept.row.status.selected, Some(name(2)));
        // Nothing is stored, and no drain is open.
        let mut bare = kept.row.status.clone();
        bare.persisted.clear();
        bare.drains.clear();
        let judged = |status: &StateStatus, key| is_free_by_the_rule(&state, status, key);
        judged(&bare, 1).unwrap();
        for key in [2, 3] {
            let fault = judged(&bare, key).unwrap_err();
            assert!(fault.contains("writes with it or would"), "{fault}");
        }

        let kind = Kind::parse("Secret").unwrap();
        let named = Persisted::Version {
            hash: StorageVersionHash::of_version(&name(1), &kind),
            version: Some(name(1)),
        };
        let other = Persisted::Version {
            hash: StorageVersionHash::of_version(&name(2), &kind),
            version: Some(name(2)),
        };
        let by_hash = Persisted::observed(StorageVersionHash::of_version(&name(1), &kind));
        let with = |persisted: Persisted| StateStatus {
            persisted: [persisted].into(),
            ..bare.clone()
        };
        judged(&with(other), 1).unwrap();
        for persisted in [named, by_hash, Persisted::Unknown] {
            let fault = judged(&with(persisted), 1).unwrap_err();
            assert!(fault.contains("may be stored"), "{fault}");
        }

        let drains = |key, until| StateStatus {
            drains: [(name(key), until)].into(),
            ..bare.clone()
        };
        let later = LogTime::from_millis(5_001);
        judged(&drains(2, later), 1).unwrap();
        judged(&drains(1, NOW), 1).unwrap();
        let fault = judged(&drains(1, later), 1).unwrap_err();
        assert!(fault.contains("may land until"), "{fault}");
    }
}
