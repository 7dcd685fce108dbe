//! Clients that write and read all the time, and record the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use synod_client::{ApiVersion, Kind};
use synod_client::{
    BinaryVersion, Client, Current, Endpoint, Error, ErrorKind, GroupResource, InstanceId, Join,
    Labels, ListStorageVersions, MemberEpoch, MemberId, Outcome, ReadOptions, ReportEntry,
    Revision, SettingsPatch, Stance, StatementNumber, StoredIn, Ttl, Verdict,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::cards;
use crate::cluster::Cluster;
use crate::history::{self, Asked, Call, Register, Setting, Tally, Told};
use crate::waiting::{LIMIT, within};
use crate::watch_log::WatchLog;

/// The number of writers.
const WRITERS: usize = 4;

/// The interval of a writer's calls: 200 calls a second in all.
const BEAT: Duration = Duration::from_millis(20);

/// The request timeout of every other writer, so that some outcomes are unknown; the others have the library's default.
const IMPATIENT: Duration = Duration::from_millis(700);

/// The TTL of the writers' members: so long that none expires in a test.
const TTL_MS: u64 = 24 * 60 * 60 * 1_000;

/// The running writers.
pub(crate) struct Writers {
    shared: Arc<WritersParts>,
    acknowledged: watch::Receiver<usize>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<Client>,
    first: First,
}

/// The values before the first call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    settings: Setting,
    object: Setting,
}

struct WritersParts {
    calls: Mutex<Vec<Call>>,
    acknowledged: watch::Sender<usize>,
    /// The next value to set, which is set only once.
    value: AtomicU32,
}

/// The recorded calls, once the writers have stopped.
pub(crate) struct Written {
    pub(crate) calls: Vec<Call>,
    first: First,
    clients: Vec<Client>,
}

impl Writers {
    /// Joins members, each of which writes from then on.
    pub(crate) async fn start(cluster: &Cluster) -> Self {
        Self::start_with(cluster, Some(IMPATIENT)).await
    }

    /// The same, all of them with the library's own request timeout.
    pub(crate) async fn start_patient(cluster: &Cluster) -> Self {
        Self::start_with(cluster, None).await
    }

    /// Every other writer has this request timeout.
    async fn start_with(cluster: &Cluster, impatient: Option<Duration>) -> Self {
        let client = cluster.client().await;
        let settings = client
            .settings(ReadOptions::linearizable())
            .await
            .expect("the cluster serves")
            .settings;
        let first = First {
            settings: Setting {
                since: settings.revision,
                value: settings.members_max,
            },
            object: cards::declare(&client, settings.members_max).await,
        };
        let (sender, acknowledged) = watch::channel(0);
        let shared = Arc::new(WritersParts {
            calls: Mutex::default(),
            acknowledged: sender,
            value: AtomicU32::new(settings.members_max + 1),
        });
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for number in 0..WRITERS {
            let client = cluster.client().await;
            let id = format!("writer-{number}");
            let member = join(&client, &id, &id, TTL_MS).await;
            let client = match impatient {
                Some(timeout) if number % 2 == 1 => client.with_timeout(timeout),
                Some(_) | None => client,
            };
            let writer = Writer {
                number,
                client,
                member,
                said: 0,
                known: first,
                shared: Arc::clone(&shared),
            };
            tasks.spawn(writer.run(stopped.clone()));
        }
        Self {
            shared,
            acknowledged,
            stop,
            tasks,
            first,
        }
    }

    /// Waits until this many more changes have been acknowledged.
    pub(crate) async fn acknowledge(&mut self, more: usize) {
        let wanted = *self.acknowledged.borrow_and_update() + more;
        let waiting = self.acknowledged.wait_for(|count| *count >= wanted);
        if let Ok(waited) = timeout(LIMIT, waiting).await {
            waited.expect("writers write until they are stopped");
            return;
        }
        let calls = self.calls();
        let last = &calls[calls.len().saturating_sub(2 * WRITERS)..];
        panic!(
            "waited {LIMIT:?} in vain for {more} more changes: {:?}, the last of them {last:#?}",
            Tally::of(&calls)
        );
    }

    /// Adds calls of other clients, to be checked with these.
    pub(crate) fn add(&self, calls: Vec<Call>) {
        self.shared
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(calls);
    }

    /// The calls that have ended.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.shared
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Lets the calls in flight end, and starts no others.
    pub(crate) async fn stop(mut self) -> Written {
        self.stop.send_replace(true);
        let mut clients = Vec::new();
        while let Some(ended) = within("the writers to stop", self.tasks.join_next()).await {
            clients.push(ended.expect("no writer panics"));
        }
        let calls = std::mem::take(
            &mut *self
                .shared
                .calls
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        Written {
            calls,
            first: self.first,
            clients,
        }
    }
}

impl Written {
    /// Checks that the answers agree with real time, with each other, with what a watch saw, and with the present
    /// state. Returns the number of calls with each result.
    pub(crate) async fn check(mut self, cluster: &Cluster, log: &WatchLog) -> Tally {
        let tally = Tally::of(&self.calls);
        self.resolve().await;
        let created = created(&cluster.client().await).await;
        history::check_real_time(&self.calls).unwrap_or_else(|fault| panic!("{fault}"));
        history::check_settings(&self.calls, self.first.settings, log)
            .unwrap_or_else(|fault| panic!("{fault}"));
        history::check_reports(&self.calls, created).unwrap_or_else(|fault| panic!("{fault}"));
        let (first, cards) = (
            self.first.object,
            cards::created(&cluster.client().await).await,
        );
        let changes = cards::changes(first, log);
        history::check_register(&self.calls, Register::Object, first, &changes)
            .unwrap_or_else(|fault| panic!("{fault}"));
        history::check_created(&self.calls, cards).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(tally.refused, 0, "nothing that was asked breaks a rule");
        assert!(tally.done > 0 && tally.seen > 0, "{tally:?}");
        tally
    }

    /// Asks for the outcome of each change whose outcome was unknown, and replaces the answer by it.
    async fn resolve(&mut self) {
        for call in &mut self.calls {
            let Told::Unknown(Some(key)) = &call.told else {
                continue;
            };
            let client = self.clients[0].with_timeout(LIMIT);
            call.told = match client.outcome(key).await {
                Ok(Outcome::Executed {
                    revision,
                    changed: true,
                    ..
                }) => Told::Done(revision),
                Ok(Outcome::Executed { .. }) => Told::Lost(None),
                // The outcome is still unknown: a try may be in flight.
                Ok(_) => continue,
                // The session has forgotten the outcome, after too many requests.
                Err(error) if error.kind() == ErrorKind::RequestExpired => continue,
                Err(error) => panic!("nobody says what became of {call:?}: {error}"),
            };
            // It can have been executed at any time since it was sent.
            call.ended = Instant::now();
        }
    }
}

/// Every storage version, with the revision that created it.
async fn created(client: &Client) -> BTreeMap<GroupResource, Revision> {
    let pages = client
        .with_timeout(LIMIT)
        .storage_versions(ListStorageVersions::new().with_page_size(5_000));
    let all = pages.all().await.expect("the cluster serves");
    let versions = all
        .items
        .into_iter()
        .filter_map(|item| item.storage_version);
    versions
        .map(|version| (version.resource, version.metadata.create_revision))
        .collect()
}

/// One writer.
struct Writer {
    number: usize,
    client: Client,
    member: MemberEpoch,
    /// The number of its statements.
    said: u64,
    /// The values as it last saw them.
    known: First,
    shared: Arc<WritersParts>,
}

impl Writer {
    async fn run(mut self, stopped: watch::Receiver<bool>) -> Client {
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut count = 0;
        while !*stopped.borrow() {
            beat.tick().await;
            let asked = self.next(count);
            let began = Instant::now();
            let told = self.ask(&asked).await;
            let ended = Instant::now();
            let is_done = matches!(told, Told::Done(_));
            let call = Call {
                began,
                ended,
                asked,
                told,
            };
            self.shared
                .calls
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(call);
            self.shared
                .acknowledged
                .send_modify(|acknowledged| *acknowledged += usize::from(is_done));
            count += 1;
        }
        self.client
    }

    fn next(&self, count: u64) -> Asked {
        match count % 6 {
            0 => Asked::Report(
                ["a", "b"]
                    .map(|half| self.resource(&format!("r{count}{half}")))
                    .into(),
            ),
            1 => self.comparison(Register::Settings),
            2 => Asked::Read(Register::Settings),
            3 => {
                let names = ["a", "b"].map(|half| format!("w{}-{count}{half}", self.number));
                Asked::Create(names.into())
            }
            4 => self.comparison(Register::Object),
            _ => Asked::Read(Register::Object),
        }
    }

    fn comparison(&self, register: Register) -> Asked {
        let known = match register {
            Register::Settings => self.known.settings,
            Register::Object => self.known.object,
        };
        Asked::Compare {
            register,
            if_revision: known.since,
            value: self.shared.value.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn resource(&self, name: &str) -> GroupResource {
        GroupResource::new(&format!("w{}.example.com", self.number), name).expect("it is a name")
    }

    async fn ask(&mut self, asked: &Asked) -> Told {
        match asked {
            Asked::Report(resources) => {
                let entries = resources.iter().cloned().map(fixed).collect();
                self.said += 1;
                let number = StatementNumber::new(self.said).expect("it is above zero");
                let reported = self
                    .client
                    .send_report(&self.member, number, entries, false);
                reported.await.map_or_else(
                    |error| failed(&error),
                    |reported| Told::Done(reported.header.revision),
                )
            }
            Asked::Create(names) => cards::create(&self.client, names)
                .await
                .map_or_else(|error| failed(&error), Told::Done),
            Asked::Compare {
                register: Register::Settings,
                if_revision,
                value,
            } => self.compare(*if_revision, *value).await,
            Asked::Compare {
                register: Register::Object,
                if_revision,
                value,
            } => self.compare_object(*if_revision, *value).await,
            Asked::Read(Register::Settings) => self.read().await,
            Asked::Read(Register::Object) => match cards::read(&self.client).await {
                Ok((at, setting)) => {
                    self.known.object = setting;
                    Told::Seen { at, setting }
                }
                Err(error) => failed(&error),
            },
        }
    }

    async fn compare_object(&mut self, if_revision: Revision, value: u32) -> Told {
        let error = match cards::compare(&self.client, if_revision, value).await {
            Ok(since) => {
                self.known.object = Setting { since, value };
                return Told::Done(since);
            }
            Err(error) => error,
        };
        match error.current() {
            Some(Current::Object(object)) if error.kind() == ErrorKind::Conflict => {
                self.known.object = cards::setting(object);
                Told::Lost(Some(self.known.object))
            }
            _ if error.kind() == ErrorKind::Conflict => Told::Lost(None),
            _ => failed(&error),
        }
    }

    async fn compare(&mut self, if_revision: Revision, value: u32) -> Told {
        let patch = SettingsPatch {
            members_max: Some(value),
            ..SettingsPatch::default()
        };
        match self.client.update_settings(patch, Some(if_revision)).await {
            Ok(changed) => {
                self.known.settings = Setting {
                    since: changed.header.revision,
                    value,
                };
                Told::Done(changed.header.revision)
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                let Some(Current::Settings(settings)) = error.current() else {
                    return Told::Lost(None);
                };
                self.known.settings = Setting {
                    since: settings.revision,
                    value: settings.members_max,
                };
                Told::Lost(Some(self.known.settings))
            }
            Err(error) => failed(&error),
        }
    }

    async fn read(&mut self) -> Told {
        match self.client.settings(ReadOptions::linearizable()).await {
            Ok(view) => {
                self.known.settings = Setting {
                    since: view.settings.revision,
                    value: view.settings.members_max,
                };
                Told::Seen {
                    at: view.header.revision,
                    setting: self.known.settings,
                }
            }
            Err(error) => failed(&error),
        }
    }
}

fn failed(error: &Error) -> Told {
    match error.execution() {
        Verdict::Refused => Told::Refused(error.kind()),
        Verdict::NotExecuted => Told::NotExecuted(error.kind()),
        Verdict::Unknown => Told::Unknown(error.request_key().cloned()),
    }
}

/// Joins a member once.
pub(crate) async fn join(client: &Client, id: &str, instance: &str, ttl_ms: u64) -> MemberEpoch {
    let join = Join {
        id: MemberId::parse(id).expect("it is an id"),
        instance: InstanceId::parse(instance).expect("it is an instance"),
        ttl: Ttl::from_millis(ttl_ms).expect("it is within bounds"),
        labels: Labels::default(),
        version: BinaryVersion::default(),
        endpoint: Endpoint::default(),
        lost_epoch: None,
        gated: true,
    };
    let member = join.id.clone();
    let joined = client.send_join(join).await.expect("a member is let in");
    MemberEpoch {
        member,
        epoch: joined.epoch,
        cluster: Some(joined.header.cluster),
    }
}

/// An entry that encodes and decodes `v1` of a resource.
pub(crate) fn fixed(resource: GroupResource) -> ReportEntry {
    let version = ApiVersion::parse("v1").expect("it is a version");
    ReportEntry {
        resource,
        kind: Kind::parse("Thing").expect("it is a kind"),
        decodable: [version.clone()].into_iter().collect(),
        served: [version.clone()].into_iter().collect(),
        stance: Stance::Fixed { encoding: version },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}
