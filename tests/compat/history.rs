//! The commands that fill a disk before it is put away: a few of every kind.
//!
//! Half of them are in the checkpoint, the other half in the log after it.

use std::collections::BTreeSet;

use bytes::Bytes;
use synod_machine::{AnnounceReplica, Answer, Command, DirectoryId, MACHINE_VERSION, Outcome};
use synod_model::{
    Adopt, Annotations, ApiVersion, BinaryVersion, ControllerHistory, CreateControllerRevision,
    Endpoint, Epoch, Equality, GroupResource, InstanceId, Join, Kind, LabelSelector, Labels, Leave,
    MarkReady, MarkTie, MediaType, MemberId, NamePrefix, Namespace, ObjectName, ObserveStorage,
    OpenSession, OwnerReference, Renew, Report, ReportEntry, RequestId, ResourceScope, Revision,
    RevisionData, RosterRule, Sequence, SessionId, SetRoster, SettingsPatch, Stance,
    StatementNumber, StorageVersionHash, StoredIn, Ttl, Uid, UpdateSettings, VersionSet,
};
use synod_server::consensus::ReplicaId;

use crate::replica::Alone;

/// Log time between two commands, in milliseconds.
const STEP: u64 = 10;

/// Executes commands one after another.
struct Hand<'a> {
    replica: &'a Alone,
    log_time: u64,
    /// The number of statements that members have made.
    said: u64,
}

impl Hand<'_> {
    async fn does(&mut self, command: Command) -> Outcome {
        self.log_time += STEP;
        let outcome = self.replica.execute(self.log_time, None, command).await;
        assert!(outcome.result.is_ok(), "{outcome:?}");
        outcome
    }

    async fn join(&mut self, id: &str) -> Epoch {
        match self.does(join(id)).await.result {
            Ok(Answer::Joined { epoch, .. }) => epoch,
            other => panic!("{other:?}"),
        }
    }

    /// The number of the next statement, counted over all members.
    fn next(&mut self) -> StatementNumber {
        self.said += 1;
        StatementNumber::new(self.said).expect("it is above zero")
    }

    /// Reports an entry, and returns the revision at which its version was selected.
    async fn report(&mut self, id: &str, epoch: Epoch, entry: ReportEntry) -> Revision {
        let number = self.next();
        let reported = self.does(Command::Report(Report {
            member: member(id),
            epoch,
            number,
            entries: vec![entry],
            replace: true,
        }));
        match reported.await.result {
            Ok(Answer::Reported(told)) => told[0].selected_revision,
            other => panic!("{other:?}"),
        }
    }
}

/// Executes the commands on a new replica, and returns the session that is left open.
pub(crate) async fn live(replica: &Alone) -> SessionId {
    let mut hand = Hand {
        replica,
        log_time: 1_000,
        said: 0,
    };
    hand.does(announcement()).await;
    let (fixed, voter) = (hand.join("fixed").await, hand.join("voter").await);
    hand.report("fixed", fixed, entry("gadgets", None)).await;
    hand.report("voter", voter, entry("widgets", Some("v1")))
        .await;
    hand.does(Command::MarkReady(MarkReady {
        member: member("fixed"),
        epoch: fixed,
    }))
    .await;
    hand.does(snapshot(r#"{"replicas":1}"#)).await;
    hand.does(roster()).await;
    let session = match hand.does(Command::OpenSession(OpenSession {})).await.result {
        Ok(Answer::SessionOpened(session)) => session,
        other => panic!("{other:?}"),
    };
    replica.checkpoint().await;

    let selected = hand.report("voter", voter, entry("widgets", Some("v2")));
    let selected_revision = selected.await;
    let number = hand.next();
    hand.does(Command::Adopt(Adopt {
        member: member("voter"),
        epoch: voter,
        number,
        resource: resource("widgets"),
        selected_revision,
    }))
    .await;
    hand.does(snapshot(r#"{"replicas":2}"#)).await;
    hand.does(look()).await;
    let leaving = hand.join("leaving").await;
    hand.does(Command::Renew(Renew {
        member: member("voter"),
        epoch: voter,
    }))
    .await;
    hand.does(Command::Leave(Leave {
        member: member("leaving"),
        epoch: leaving,
        drained: true,
        instance: None,
        stopped: false,
    }))
    .await;
    session
}

/// A request that changes something the first time only: its retry must get the first answer.
pub(crate) async fn request(replica: &Alone, session: SessionId) -> Outcome {
    let sequence = Sequence::new(1).unwrap();
    let request = RequestId::new(session, sequence, sequence).unwrap();
    let change = Command::UpdateSettings(UpdateSettings {
        patch: SettingsPatch {
            members_max: Some(4_321),
            ..SettingsPatch::default()
        },
        if_revision: None,
    });
    replica.execute(2_000, Some(request), change).await
}

/// Joins one more member, to show that the replica still works.
pub(crate) async fn join_another(replica: &Alone) -> Outcome {
    replica.execute(3_000, None, join("another")).await
}

fn announcement() -> Command {
    Command::AnnounceReplica(AnnounceReplica {
        replica: ReplicaId::new(1),
        directory: DirectoryId::from_bytes([1; 16]),
        client_endpoint: "127.0.0.1:2".to_owned(),
        binary: env!("CARGO_PKG_VERSION").to_owned(),
        machine_version: MACHINE_VERSION,
        disk_is_low: false,
    })
}

fn join(id: &str) -> Command {
    Command::Join(Join {
        id: member(id),
        instance: InstanceId::parse("first").unwrap(),
        ttl: Ttl::DEFAULT,
        labels: Labels::parse([("zone", "a")]).unwrap(),
        version: BinaryVersion::parse("1.2.3").unwrap(),
        endpoint: Endpoint::parse("127.0.0.1:3").unwrap(),
        lost_epoch: None,
        gated: false,
    })
}

fn member(id: &str) -> MemberId {
    MemberId::parse(id).unwrap()
}

fn resource(name: &str) -> GroupResource {
    GroupResource::new("compat.example", name).unwrap()
}

/// An entry that prefers a version, or else encodes the first one.
fn entry(name: &str, preferred: Option<&str>) -> ReportEntry {
    let version = |version: &str| ApiVersion::parse(&format!("compat.example/{version}")).unwrap();
    let versions = ["v1", "v2"].map(version);
    ReportEntry {
        resource: resource(name),
        kind: Kind::parse("Thing").unwrap(),
        decodable: VersionSet::from_iter(versions.clone()),
        served: VersionSet::from_iter(versions),
        stance: match preferred {
            Some(preferred) => Stance::Voting {
                preferred: version(preferred),
            },
            None => Stance::Fixed {
                encoding: version("v1"),
            },
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

fn snapshot(text: &'static str) -> Command {
    let owner = OwnerReference {
        api_version: ApiVersion::parse("apps/v1").unwrap(),
        kind: Kind::parse("StatefulSet").unwrap(),
        name: ObjectName::parse("web").unwrap(),
        uid: Uid::from_bytes([3; 16]),
        controller: true,
        block_owner_deletion: true,
    };
    let labels = Labels::parse([("app", "web")]).unwrap();
    Command::CreateControllerRevision(CreateControllerRevision {
        history: ControllerHistory {
            namespace: Namespace::parse("default").unwrap(),
            owner,
            selector: labels.clone(),
        },
        data: RevisionData::new(MediaType::JSON, Bytes::from_static(text.as_bytes())).unwrap(),
        equality: Equality::Json,
        prefix: NamePrefix::parse("web").unwrap(),
        labels,
        annotations: Annotations::parse([("example.io/why", "to keep")]).unwrap(),
        number: None,
        collision_count: 0,
        history_limit: 10,
        if_newest: None,
        mark_update: Some(MarkTie::Renewals(Ttl::DEFAULT)),
        name: None,
    })
}

/// A roster for the resources of the group, which one member satisfies.
fn roster() -> Command {
    Command::SetRoster(SetRoster {
        scope: ResourceScope::parse("compat.example.*").unwrap(),
        rule: RosterRule {
            labels: LabelSelector::parse("zone=a").unwrap(),
            ..RosterRule::default()
        },
        if_revision: None,
    })
}

/// An observation of discovery that shows a version no member reports.
fn look() -> Command {
    let kind = Kind::parse("Thing").unwrap();
    let version = ApiVersion::parse("compat.example/v2").unwrap();
    Command::ObserveStorage(ObserveStorage {
        kind: Some(kind.clone()),
        ..ObserveStorage::unnamed(
            resource("gadgets"),
            [StorageVersionHash::of_version(&version, &kind)].into(),
        )
    })
}
