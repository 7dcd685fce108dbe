//! The machine, and the commands that the world sends to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_machine::{
    AnnounceReplica, Answer, Command, DirectoryId, Envelope, Initialize, LogEntry, Outcome,
    RaiseMachineVersion, ReplicaId, Restore, SafetyVerdict, State, StateStatus, check_drop,
};
use synod_model::{
    AbortMigration, Adopt, ApiVersion, BinaryVersion, ClusterId, CollectionRules, CreateCollection,
    DeleteMigration, DeleteRoster, DismissLooks, Endpoint, Epoch, ForgetResource, GroupResource,
    InstanceId, Join, Kind, LabelSelector, Labels, Leave, LogTime, MemberId, MigrationReason,
    ObserveStorage, ObservedServer, ObserverName, Preconditions, Renew, Report, ReportEntry,
    ResetStorageStates, ResourceScope, RosterRule, ServerLook, SetRoster, Settings, StartMigration,
    StatementNumber, StorageVersionHash, Ttl, WallTime,
};

use std::time::Duration;

use crate::draws::MEMBERS;
use crate::schedule::{Binary, OF_OTHER_GROUP, ResourceName, Roster, Server, Stance, Version};

/// The replicated setting: how long a write may take to reach the store.
pub(crate) const WRITE_GRACE: u64 = 6;

/// Half the span for which an observation counts.
const DISCOVERY_PERIOD: u64 = 6;

pub(crate) const LEGAL: &str = "schedules use legal names and numbers";

/// The replicated state, and the log time of its leader.
pub(crate) struct Machine {
    pub(crate) state: State,
    /// Log time, in seconds.
    now: u64,
    statements: u64,
    instances: u64,
    clusters: u8,
    backup: Option<State>,
    /// Whether reports tell that both resources are one store.
    has_one_store: bool,
    /// Whether the next entry is the first of a term, which lifts all deadlines.
    is_new_term: bool,
}

/// The answers to a process that joined and reported.
pub(crate) struct Admission {
    pub(crate) epoch: Epoch,
    /// The version that it may encode; `None` if the report was refused, or nothing is selected yet.
    pub(crate) encoding: Option<Version>,
    pub(crate) is_reported: bool,
}

impl Machine {
    /// A new cluster in which this machine version is in force.
    pub(crate) fn with_version(machine_version: u32, has_one_store: bool) -> Self {
        let mut machine = Self {
            state: State::new(),
            now: 0,
            statements: 0,
            instances: 0,
            clusters: 1,
            backup: None,
            has_one_store,
            is_new_term: true,
        };
        let settings = Settings {
            write_grace: Duration::from_secs(WRITE_GRACE),
            discovery_period: Duration::from_secs(DISCOVERY_PERIOD),
            ..Settings::default()
        };
        let cluster = ClusterId::from_bytes([machine.clusters; 16]);
        machine.send(Command::Initialize(Initialize { cluster, settings }));
        machine.raise(machine_version);
        machine
    }

    /// Log time, in seconds.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now += seconds;
        self.send_all(Vec::new());
    }

    /// The next entry is the first of another leader.
    pub(crate) fn elect(&mut self) {
        self.is_new_term = true;
    }

    /// Applies one command in an entry of its own.
    pub(crate) fn send(&mut self, command: Command) -> Outcome {
        self.send_all(vec![command]).remove(0)
    }

    /// Applies commands in one entry.
    fn send_all(&mut self, commands: Vec<Command>) -> Vec<Outcome> {
        let envelope = |command| Envelope {
            request: None,
            command: Arc::new(command),
            actor: None,
        };
        let entry = LogEntry {
            log_time: LogTime::from_millis(self.now * 1_000),
            lift_deadlines: std::mem::take(&mut self.is_new_term),
            wall: WallTime::from_millis(1_800_000_000_000 + self.now * 1_000),
            commands: commands.into_iter().map(envelope).collect(),
        };
        self.state.apply(&entry).outcomes
    }

    pub(crate) fn raise(&mut self, to: u32) {
        let replica = ReplicaId::new(1);
        let announce = AnnounceReplica {
            replica,
            directory: DirectoryId::from_bytes([3; 16]),
            client_endpoint: "10.0.0.1:2379".to_owned(),
            binary: "0.2.0".to_owned(),
            machine_version: to,
            disk_is_low: false,
        };
        let replicas = [replica].into();
        let raise = RaiseMachineVersion { to, replicas };
        self.send_all(vec![
            Command::AnnounceReplica(announce),
            Command::RaiseMachineVersion(raise),
        ]);
        assert_eq!(self.state.machine_version(), to);
    }

    pub(crate) fn back_up(&mut self) {
        self.backup = Some(self.state.clone());
    }

    /// Continues from the newest backup, or from the present state, as another cluster.
    pub(crate) fn restore(&mut self) {
        if let Some(backup) = &self.backup {
            self.state = backup.clone();
        }
        self.clusters += 1;
        let cluster = ClusterId::from_bytes([self.clusters; 16]);
        self.send(Command::Restore(Restore { cluster }));
    }

    /// Another process joins under this id and reports, in one entry.
    pub(crate) fn admit(&mut self, server: Server, binary: &Binary, ttl: u64) -> Admission {
        self.instances += 1;
        let join = Join {
            id: member(server),
            instance: InstanceId::parse(&self.instances.to_string()).expect(LEGAL),
            ttl: ttl_of(ttl),
            labels: Labels::parse([("role", "server")]).expect(LEGAL),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            lost_epoch: None,
            gated: binary.is_gated,
        };
        // The epoch is the revision of the join, which is the next one.
        let epoch = Epoch::new(self.state.revision().next());
        let report = self.report_of(server, epoch, binary);
        let outcomes = self.send_all(vec![Command::Join(join), report]);
        let joined = outcomes[0].result.as_ref();
        assert!(
            matches!(joined, Ok(Answer::Joined { epoch: given, .. }) if *given == epoch),
            "{joined:?}"
        );
        let report = outcomes[1].result.as_ref();
        let encoding = match report {
            Ok(Answer::Reported(rows)) => rows[0].encoding.as_ref().map(number),
            _ => None,
        };
        Admission {
            epoch,
            encoding,
            is_reported: report.is_ok(),
        }
    }

    /// The member reports this binary anew. Returns whether the report was accepted.
    pub(crate) fn report(&mut self, server: Server, epoch: Epoch, binary: &Binary) -> bool {
        let report = self.report_of(server, epoch, binary);
        self.send(report).result.is_ok()
    }

    fn report_of(&mut self, server: Server, epoch: Epoch, binary: &Binary) -> Command {
        let number = self.next_statement();
        let decodable = binary.decodes.iter().copied();
        let entry = |resource: &ResourceName| ReportEntry {
            resource: group_resource(*resource),
            kind: kind(),
            decodable: decodable.clone().map(version).collect(),
            served: decodable.clone().map(version).collect(),
            stance: match binary.stance {
                Stance::Encodes(number) => synod_model::Stance::Fixed {
                    encoding: version(number),
                },
                Stance::Prefers(number) => synod_model::Stance::Voting {
                    preferred: version(number),
                },
            },
            serve_until: None,
            stored: synod_model::StoredIn::Outside,
            equivalents: self.equivalents_of(*resource),
        };
        Command::Report(Report {
            member: member(server),
            epoch,
            number,
            entries: binary.resources.iter().map(entry).collect(),
            replace: false,
        })
    }

    /// The other names of the resource's store.
    fn equivalents_of(&self, resource: ResourceName) -> BTreeSet<GroupResource> {
        let all = [ResourceName::Widgets, ResourceName::Gadgets].into_iter();
        let others = all.filter(|other| self.has_one_store && *other != resource);
        others.map(group_resource).collect()
    }

    fn next_statement(&mut self) -> StatementNumber {
        self.statements += 1;
        StatementNumber::new(self.statements).expect(LEGAL)
    }

    /// These members renew in one entry. Returns whether each was accepted.
    pub(crate) fn renew(&mut self, members: &[(Server, Epoch)]) -> Vec<bool> {
        let renewals = members.iter().map(|(server, epoch)| {
            Command::Renew(Renew {
                member: member(server),
                epoch: *epoch,
            })
        });
        let outcomes = self.send_all(renewals.collect());
        outcomes.iter().map(|one| one.result.is_ok()).collect()
    }

    /// The member adopts what is selected. Returns whether that was accepted.
    pub(crate) fn adopt(&mut self, server: Server, epoch: Epoch, resource: ResourceName) -> bool {
        let selected_revision = match self.status(resource) {
            Some(status) => status.selected_revision,
            None => return false,
        };
        let number = self.next_statement();
        let adopt = Adopt {
            member: member(server),
            epoch,
            number,
            resource: group_resource(resource),
            selected_revision,
        };
        self.send(Command::Adopt(adopt)).result.is_ok()
    }

    /// The member leaves by itself. Returns whether that was accepted.
    pub(crate) fn leave(&mut self, server: Server, epoch: Epoch, drained: bool) -> bool {
        let present = self.state.present().member(&member(server));
        let leave = Leave {
            member: member(server),
            epoch,
            drained,
            instance: present.map(|member| member.instance.clone()),
            stopped: false,
        };
        self.send(Command::Leave(leave)).result.is_ok()
    }

    /// An operator evicts the member. Returns whether that was accepted.
    pub(crate) fn evict(&mut self, server: Server, epoch: Epoch) -> bool {
        let leave = Leave {
            member: member(server),
            epoch,
            drained: false,
            instance: None,
            stopped: false,
        };
        self.send(Command::Leave(leave)).result.is_ok()
    }

    /// The epoch of the member; `None` if there is no such member.
    pub(crate) fn epoch(&self, server: Server) -> Option<Epoch> {
        let member = self.state.present().member(&member(server));
        member.map(|member| member.epoch)
    }

    /// The state that is kept of the resource; `None` if none is.
    pub(crate) fn status(&self, resource: ResourceName) -> Option<StateStatus> {
        let state = self
            .state
            .present()
            .storage_state(&group_resource(resource))?;
        Some(state.row.status.clone())
    }

    /// The version that is selected.
    pub(crate) fn selected_version(&self, resource: ResourceName) -> Option<Version> {
        self.status(resource)?.selected.as_ref().map(number)
    }

    pub(crate) fn has_collection(&self, resource: ResourceName) -> bool {
        let present = self.state.present();
        present.collection(&group_resource(resource)).is_some()
    }

    pub(crate) fn start_migration(&mut self, resource: ResourceName) {
        self.send(Command::StartMigration(StartMigration {
            resource: group_resource(resource),
            reason: MigrationReason::Manual,
            alias: None,
        }));
    }

    /// Aborts the unfinished migration.
    pub(crate) fn abort(&mut self, resource: ResourceName) {
        if let Some(id) = self.unfinished_migration(resource).map(|it| it.id) {
            self.send(Command::AbortMigration(AbortMigration { id }));
        }
    }

    /// Deletes the unfinished migration.
    pub(crate) fn delete(&mut self, resource: ResourceName) {
        if let Some(id) = self.unfinished_migration(resource).map(|it| it.id) {
            let preconditions = Preconditions::default();
            let delete = DeleteMigration { id, preconditions };
            self.send(Command::DeleteMigration(delete));
        }
    }

    pub(crate) fn reset(&mut self, resource: ResourceName) {
        let resource = Some(group_resource(resource));
        let reset = ResetStorageStates { resource };
        self.send(Command::ResetStorageStates(reset));
    }

    /// Returns whether the state of the resource was removed.
    pub(crate) fn forget(&mut self, resource: ResourceName) -> bool {
        let forget = ForgetResource {
            resource: group_resource(resource),
            if_revision: None,
        };
        self.send(Command::ForgetResource(forget)).result.is_ok()
    }

    pub(crate) fn declare(&mut self, resource: ResourceName) {
        self.send(Command::CreateCollection(CreateCollection {
            resource: group_resource(resource),
            kind: kind(),
            namespaced: false,
            rules: CollectionRules {
                strict_storage_version: false,
                create_on_update: true,
                unconditional_update: true,
                status_subresource: false,
            },
        }));
    }

    pub(crate) fn set_roster(&mut self, roster: Option<Roster>) {
        let scope = ResourceScope::parse("*").expect(LEGAL);
        let if_revision = None;
        let Some(roster) = roster else {
            self.send(Command::DeleteRoster(DeleteRoster { scope, if_revision }));
            return;
        };
        let mut rule = RosterRule::default();
        match roster {
            Roster::Named(servers) => {
                rule.members = servers.iter().map(|server| member(server)).collect();
            }
            Roster::Labelled => rule.labels = LabelSelector::parse("role=server").expect(LEGAL),
            Roster::AtLeast(least) => rule.least = least,
        }
        let set = SetRoster {
            scope,
            rule,
            if_revision,
        };
        self.send(Command::SetRoster(set));
    }

    /// Reports what these servers show. Returns whether that was accepted.
    pub(crate) fn observe(
        &mut self,
        resource: ResourceName,
        observer: Option<Server>,
        shown: BTreeMap<Server, Version>,
    ) -> bool {
        let resource = group_resource(resource);
        let kind = Some(kind());
        let hashes = shown.values().map(|version| hash(*version));
        let observe = match observer {
            None => ObserveStorage {
                kind,
                ..ObserveStorage::unnamed(resource, hashes.collect())
            },
            Some(observer) => ObserveStorage {
                kind,
                observer: Some(ObserverName::parse(observer).expect(LEGAL)),
                servers: shown
                    .iter()
                    .map(|(server, version)| server_look(server, *version))
                    .collect(),
                ..ObserveStorage::unnamed(resource, BTreeSet::new())
            },
        };
        self.send(Command::ObserveStorage(observe)).result.is_ok()
    }

    /// An operator ends all evidence of observers.
    pub(crate) fn dismiss(&mut self, resource: ResourceName) {
        self.send(Command::DismissLooks(DismissLooks {
            resource: group_resource(resource),
            observer: None,
            server: None,
        }));
    }

    /// Returns whether the version may be dropped.
    pub(crate) fn check_drop(&self, resource: ResourceName, number: Version) -> SafetyVerdict {
        let now = self.state.log_time();
        check_drop(
            &self.state.present(),
            now,
            &group_resource(resource),
            &version(number),
        )
    }
}

/// What a server shows. An observer knows the members by their addresses.
fn server_look(server: Server, version: Version) -> (ObservedServer, ServerLook) {
    let look = ServerLook {
        hashes: [hash(version)].into(),
        member: MEMBERS.contains(&server).then(|| member(server)),
    };
    (ObservedServer::parse(server).expect(LEGAL), look)
}

pub(crate) fn group_resource(resource: ResourceName) -> GroupResource {
    let name = match resource {
        ResourceName::Widgets => "widgets",
        ResourceName::Gadgets => "gadgets",
    };
    GroupResource::new("example.io", name).expect(LEGAL)
}

pub(crate) fn member(server: Server) -> MemberId {
    MemberId::parse(server).expect(LEGAL)
}

pub(crate) fn ttl_of(seconds: u64) -> Ttl {
    Ttl::from_millis(seconds * 1_000).expect(LEGAL)
}

pub(crate) fn hash(number: Version) -> StorageVersionHash {
    StorageVersionHash::of_version(&version(number), &kind())
}

pub(crate) fn kind() -> Kind {
    Kind::parse("Widget").expect(LEGAL)
}

pub(crate) fn version(number: Version) -> ApiVersion {
    let group = if number == OF_OTHER_GROUP {
        "older.example.io"
    } else {
        "example.io"
    };
    ApiVersion::parse(&format!("{group}/v{number}")).expect(LEGAL)
}

fn number(version: &ApiVersion) -> Version {
    let text = version.as_str();
    let digits = text.rsplit_once('v').expect(LEGAL).1;
    digits.parse().expect(LEGAL)
}
