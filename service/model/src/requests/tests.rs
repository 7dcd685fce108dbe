use super::*;
use crate::{
    BinaryVersion, Endpoint, Epoch, FencingToken, GroupResource, HolderIdentity, InstanceId,
    Labels, LeaseKey, MemberId, ReportEntry, ReportEntryText, Revision, SemanticVersion, SessionId,
    SettingsPatch, StanceText, StatementNumber, StoredIn, Strategy, Ttl, Violations,
};

mod objects;

fn member() -> MemberId {
    MemberId::parse("apiserver-1").unwrap()
}

fn epoch(number: u64) -> Epoch {
    Epoch::new(Revision::new(number))
}

fn entry(resource: &str) -> ReportEntry {
    ReportEntry::parse(&ReportEntryText {
        group: "",
        resource,
        kind: "Thing",
        decodable: vec!["v1"],
        served: vec!["v1"],
        stance: StanceText::Fixed { encoding: "v1" },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: Vec::new(),
    })
    .unwrap()
}

fn texts(violations: &Violations) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}

#[test]
fn every_request_of_a_member_names_an_epoch_that_can_exist() {
    let checked = |number: u64| {
        let (member, epoch) = (member(), epoch(number));
        let resource = GroupResource::new("", "pods").unwrap();
        let selected_revision = Revision::new(1);
        [
            Renew {
                member: member.clone(),
                epoch,
            }
            .check(),
            MarkReady {
                member: member.clone(),
                epoch,
            }
            .check(),
            Leave {
                member: member.clone(),
                epoch,
                drained: true,
                instance: None,
                stopped: false,
            }
            .check(),
            Report {
                member: member.clone(),
                epoch,
                number: StatementNumber::FIRST,
                entries: Vec::new(),
                replace: true,
            }
            .check(),
            Adopt {
                member,
                epoch,
                number: StatementNumber::FIRST,
                resource,
                selected_revision,
            }
            .check(),
        ]
    };
    assert!(checked(1).iter().all(Violations::is_empty));
    for violations in checked(0) {
        assert_eq!(
            texts(&violations),
            ["member.epoch: Required value: must be the number that a join answered"]
        );
    }
}

#[test]
fn a_join_names_no_lost_epoch_or_one_that_can_exist() {
    let join = |lost_epoch| Join {
        id: member(),
        instance: InstanceId::parse("a").unwrap(),
        ttl: Ttl::DEFAULT,
        labels: Labels::default(),
        version: BinaryVersion::default(),
        endpoint: Endpoint::default(),
        lost_epoch,
        gated: true,
    };
    assert!(join(None).check().is_empty());
    assert!(join(Some(epoch(3))).check().is_empty());
    assert_eq!(
        join(Some(epoch(0))).check().iter().next().unwrap().field,
        "lostEpoch"
    );
}

#[test]
fn a_report_names_no_resource_twice_and_every_fault_with_its_place() {
    let mut broken = entry("nodes");
    broken.decodable = Default::default();
    let entries = vec![entry("pods"), broken, entry("pods")];
    let report = Report {
        member: member(),
        epoch: epoch(1),
        number: StatementNumber::FIRST,
        entries,
        replace: true,
    };
    assert_eq!(
        texts(&report.check()),
        [
            "entries[1].decodableVersions: Invalid value: []: decodableVersions must include \
             encodingVersion v1",
            "entries[1].servedVersions[0]: Invalid value: \"v1\": individual served version : v1 \
             must be included in decodableVersions : []",
            "entries[2].resource: Duplicate value: \"pods\"",
        ]
    );
}

#[test]
fn a_report_never_has_more_entries_than_the_setting_can_allow() {
    let with = |count: usize| {
        let entries = (0..count).map(|i| entry(&format!("r{i}"))).collect();
        Report {
            member: member(),
            epoch: epoch(1),
            number: StatementNumber::FIRST,
            entries,
            replace: true,
        }
        .check()
    };
    assert!(with(100_000).is_empty());
    assert_eq!(
        texts(&with(100_001)),
        ["entries: Too many: 100001: must have at most 100000 items"]
    );
}

#[test]
fn an_adoption_names_what_was_selected() {
    let adopt = Adopt {
        member: member(),
        epoch: epoch(1),
        number: StatementNumber::FIRST,
        resource: GroupResource::new("", "pods").unwrap(),
        selected_revision: Revision::ZERO,
    };
    assert_eq!(
        texts(&adopt.check()),
        [
            "selectedRevision: Required value: must be the selected revision of the resource's \
          StorageVersion"
        ]
    );
}

#[test]
fn a_session_is_closed_by_a_number_that_can_exist() {
    assert!(OpenSession {}.check().is_empty());
    assert!(
        CloseSession {
            session: SessionId::new(Revision::new(1))
        }
        .check()
        .is_empty()
    );
    let violations = CloseSession {
        session: SessionId::default(),
    }
    .check();
    assert_eq!(violations.iter().next().unwrap().field, "session");
}

#[test]
fn a_change_of_settings_names_at_least_one_within_its_bounds() {
    let update = |patch| {
        UpdateSettings {
            patch,
            if_revision: None,
        }
        .check()
    };
    let fine = SettingsPatch {
        members_max: Some(5),
        ..SettingsPatch::default()
    };
    assert!(update(fine).is_empty());
    assert_eq!(
        texts(&update(SettingsPatch::default())),
        ["patch: Required value: must name at least one setting"]
    );
    let wrong = SettingsPatch {
        members_max: Some(0),
        ..SettingsPatch::default()
    };
    assert_eq!(
        update(wrong).iter().next().unwrap().field,
        "patch.membersMax"
    );
}

fn key() -> LeaseKey {
    LeaseKey::new("kube-system", "scheduler").unwrap()
}

fn holder() -> HolderIdentity {
    HolderIdentity::parse("host-1").unwrap()
}

#[test]
fn a_lease_is_held_by_tokens_and_epochs_that_can_exist() {
    let acquire = |number| AcquireLease {
        key: key(),
        holder: holder(),
        ttl: Ttl::DEFAULT,
        wait: None,
        if_member: Some((member(), epoch(number))),
    };
    assert!(acquire(1).check().is_empty());
    assert_eq!(
        texts(&acquire(0).check()),
        ["ifMember.epoch: Required value: must be the number that a join answered"]
    );
    let token = FencingToken::default();
    assert_eq!(
        texts(&RenewLease { key: key(), token }.check()),
        ["lease.token: Required value: must be the number that acquiring the lease answered"]
    );
    let release = |token| ReleaseLease {
        key: key(),
        holder: holder(),
        token,
    };
    assert!(release(None).check().is_empty());
    assert_eq!(
        release(Some(token)).check().iter().next().unwrap().field,
        "token"
    );
}

#[test]
fn a_candidate_says_what_it_emulates_and_that_is_not_above_what_it_is() {
    let stands = |emulation: Option<&str>, strategy: &str| {
        PutLeaseCandidate {
            key: key(),
            identity: holder(),
            binary_version: SemanticVersion::parse("1.32.0").unwrap(),
            emulation_version: emulation.map(|text| SemanticVersion::parse(text).unwrap()),
            strategy: Strategy::parse(strategy).unwrap(),
            ttl: Ttl::DEFAULT,
        }
        .check()
    };
    assert!(stands(Some("1.32.0"), "OldestEmulationVersion").is_empty());
    assert!(stands(None, "example.com/Mine").is_empty());
    assert_eq!(
        texts(&stands(None, "OldestEmulationVersion")),
        ["emulationVersion: Required value: must be given when strategy is OldestEmulationVersion"]
    );
    assert_eq!(
        texts(&stands(Some("1.33.0"), "OldestEmulationVersion")),
        ["emulationVersion: Invalid value: \"1.33.0\": must not be above binaryVersion 1.32.0"]
    );
}
