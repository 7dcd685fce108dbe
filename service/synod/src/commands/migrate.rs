//! `synod migrate`: claims migrations, and rewrites each object of a resource through an API server: it lists it, and
//! writes it back as it is, which the API server stores in its present encoding and with its present key.

mod count;
mod metrics;
mod objects;
mod report;
mod retries;
mod stored_versions;
mod tally;
mod unserved;
mod waits;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use clap::ArgMatches;
use synod_apiserver::{ApiServer, Fault, Resource};
use synod_client::{
    Attempt, Client, Error, ErrorKind, GroupResource, Migration, MigrationId, MigrationPhase,
    Migrator, MigratorOptions, ObjectKind, ReadOptions, Reflector, ResourceSpelling, TopicKind,
    Violation, Violations, Worked, WorkerName,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::api_server::api_server;
use super::{connect, metrics_port, process_name};
use crate::args::{MigrateArgs, MigrateFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{Resolver, spelling};
use crate::output::Reader;
use crate::signals::Signals;
use metrics::Metrics;
use objects::{Given, Objects, Paces, strays_from};
use report::{Event, Report};
use stored_versions::Definition;
use tally::Tally;
use waits::Waits;

/// How long to wait before asking again for a migration that cannot be claimed now, where no event says that it can.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// How long to wait before looking again whether the API server serves by now what it did not.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// How long the worker may take to give back what it has claimed, after a signal. It takes a moment where the cluster answers;
/// the client library gives up before this.
const LETTING_GO: Duration = Duration::from_secs(4);

/// How long to close the session for: if it takes longer, it ends by itself.
const FAREWELL: Duration = Duration::from_millis(500);

pub(crate) async fn run(args: &MigrateArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let typed = spellings(&args.resources)?;
    let name = worker_name(args.worker.as_deref())?;
    let server = api_server(&args.kube, args.kube_server.as_deref(), args.server_timeout)?;
    let mut signals = Signals::listen()?;
    let metrics = Metrics::default();
    if let Some(address) = args.listen_metrics {
        let shown = metrics.clone();
        metrics_port::serve(address, move || shown.text()).await?;
    }
    let client = connect(&args.client, matches).await?;
    let only = resources(&client, &typed, args.new.new).await?;
    let is_terminal = io::stdout().is_terminal();
    let format = args.output.unwrap_or(match is_terminal {
        true => MigrateFormat::Text,
        false => MigrateFormat::Json,
    });
    let worker = Worker {
        args,
        client: client.clone(),
        server,
        only,
        name,
        metrics,
        report: Arc::new(Report::new(format, is_terminal)),
    };
    let stop = CancellationToken::new();
    let mut working = pin!(worker.run(&stop));
    let ended = tokio::select! {
        biased;
        ended = &mut working => ended,
        _ = signals.next() => {
            stop.cancel();
            tokio::select! {
                biased;
                _ = timeout(LETTING_GO, working) => {}
                // Whoever asks twice does not want to wait.
                _ = signals.next() => {}
            }
            Ok(Exit::Ok)
        }
    };
    worker.report.end();
    let _ = timeout(FAREWELL, client.close()).await;
    ended
}

/// The place of a resource in a message.
const RESOURCE: &str = "RESOURCE";

fn spellings(names: &[String]) -> Result<Vec<ResourceSpelling>, Failure> {
    let mut found = Violations::new();
    let mut parsed = Vec::new();
    for name in names {
        match found.parsed("", spelling(name, RESOURCE)) {
            Some(spelling) if is_migratable(spelling.first_reading()) => parsed.push(spelling),
            Some(_) => found.push(no_encoding(name)),
            None => {}
        }
    }
    match found.is_empty() {
        true => Ok(parsed),
        false => Err(Failure::invalid(NOT_MIGRATED, found)),
    }
}

const NOT_MIGRATED: &str = "these resources cannot be migrated";

/// Returns whether a worker of an API server can migrate a resource: it sees encodings alone.
fn is_migratable(resource: &GroupResource) -> bool {
    TopicKind::of(resource).is_seen_in_stores()
}

fn no_encoding(name: &str) -> Violation {
    let rule = "must be an encoding: no API server says which key an object is encrypted with";
    Violation::invalid(name, rule).at(RESOURCE)
}

/// The resources that are named; `None` if none is.
async fn resources(
    client: &Client,
    names: &[ResourceSpelling],
    is_new: bool,
) -> Result<Option<BTreeSet<GroupResource>>, Failure> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut resolver = Resolver::load_unless_new(client, is_new).await?;
    let found = names
        .iter()
        .filter_map(|name| resolver.resolve(RESOURCE, name));
    let found: BTreeSet<GroupResource> = found.collect();
    let found = resolver.finish(Some(found))?;
    // The name of a topic may have been the second reading of a text.
    match found.iter().find(|resource| !is_migratable(resource)) {
        None => Ok(Some(found)),
        Some(topic) => {
            let fault = no_encoding(topic.qualified()).into();
            Err(Failure::invalid(NOT_MIGRATED, fault))
        }
    }
}

fn worker_name(given: Option<&str>) -> Result<WorkerName, Failure> {
    WorkerName::parse(given.unwrap_or(&process_name("synod-migrate"))).map_err(|fault| {
        let mut faults = Violations::new();
        faults.push(fault.at("--worker"));
        Failure::invalid("this name of a worker cannot be used", faults)
    })
}

/// A worker: what it works with, and whom it tells.
struct Worker<'a> {
    args: &'a MigrateArgs,
    client: Client,
    server: ApiServer,
    /// `None`: whatever the API server serves.
    only: Option<BTreeSet<GroupResource>>,
    name: WorkerName,
    metrics: Metrics,
    report: Arc<Report>,
}

/// How the work at one migration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attended {
    /// It was worked at, and is done or with another worker.
    Well,
    /// It was given up.
    GivenUp,
    /// It cannot be claimed now, or not be worked at yet, or the worker was told to stop.
    NotYet,
    /// The API server does not serve its resource.
    NotOurs,
}

impl Worker<'_> {
    /// Works until nothing waits any more, or until it is told to stop: then it gives back what it has claimed.
    async fn run(&self, stop: &CancellationToken) -> Result<Exit, Failure> {
        let reflecting = self.client.reflect(vec![ObjectKind::Migration]);
        let Some(reflector) = stop.run_until_cancelled(reflecting).await.transpose()? else {
            return Ok(Exit::Ok);
        };
        let mut exit = Exit::Ok;
        if self.args.once || self.args.dry_run {
            match stop.run_until_cancelled(self.report_unserved()).await {
                Some(true) => exit = Exit::Disagree,
                Some(false) => {}
                None => return Ok(exit),
            }
        }
        if self.args.dry_run {
            let counting = stop.run_until_cancelled(self.count(&reflector, exit)).await;
            return counting.unwrap_or(Ok(Exit::Ok));
        }
        let mut waits = Waits::default();
        loop {
            let revision = reflector.revision();
            let pending = self.pending(&reflector);
            waits.keep(&self.open(&reflector));
            let mut has_to_wait = false;
            for migration in &pending {
                match self.attend(migration, &reflector, &mut waits, stop).await {
                    Ok(Attended::Well | Attended::NotOurs) => {}
                    Ok(Attended::GivenUp) => exit = Exit::Failure,
                    Ok(Attended::NotYet) => has_to_wait = true,
                    Err(error) if may_pass(&error) => {
                        let why = error.message().to_owned();
                        let event = Event::fault(migration, &Failure::from(error));
                        self.tell_once(&mut waits, migration, &why, &event);
                        has_to_wait = true;
                    }
                    Err(error) => return Err(error.into()),
                }
                if stop.is_cancelled() {
                    return Ok(exit);
                }
            }
            if self.report.reader() == Reader::Gone {
                return Ok(exit);
            }
            // What it gave back may be with another worker, and come back from there.
            has_to_wait |= waits.leaves_any();
            // What has come meanwhile is looked at once more.
            if self.args.once && !has_to_wait && reflector.revision() == revision {
                return Ok(exit);
            }
            let pause = if has_to_wait { ASK_AGAIN } else { LOOK_AGAIN };
            let waiting = timeout(pause, reflector.changed(revision));
            match stop.run_until_cancelled(waiting).await {
                None => return Ok(exit),
                Some(Ok(changed)) => {
                    changed?;
                }
                Some(Err(_)) => {}
            }
        }
    }

    /// The migrations that wait for a worker, in the order of their names.
    fn pending(&self, reflector: &Reflector) -> Vec<Migration> {
        self.ours(reflector, |phase| phase == MigrationPhase::Pending)
    }

    /// The migrations that are not over.
    fn open(&self, reflector: &Reflector) -> BTreeSet<MigrationId> {
        let open = self.ours(reflector, is_open).into_iter();
        open.map(|migration| migration.id).collect()
    }

    fn ours(
        &self,
        reflector: &Reflector,
        is_wanted: impl Fn(MigrationPhase) -> bool,
    ) -> Vec<Migration> {
        let migrations = reflector.migrations().into_iter();
        let wanted = migrations.filter(|migration| {
            let resource = migration.id.resource();
            is_wanted(migration.phase)
                && self
                    .only
                    .as_ref()
                    .is_none_or(|only| only.contains(resource))
        });
        wanted
            .map(|migration| Migration::clone(&migration))
            .collect()
    }

    /// Works at a migration, if it can be claimed now.
    async fn attend(
        &self,
        migration: &Migration,
        reflector: &Reflector,
        waits: &mut Waits,
        stop: &CancellationToken,
    ) -> Result<Attended, Error> {
        if waits.is_left_to_others(&migration.id) {
            return Ok(Attended::NotYet);
        }
        let (found, definition) = match stop.run_until_cancelled(self.look(migration)).await {
            Some(Ok(Some(found))) => found,
            Some(Ok(None)) => return self.give_up_unserved(migration, waits, stop).await,
            Some(Err(fault)) => return Ok(self.put_off(waits, migration, fault.to_string())),
            None => return Ok(Attended::NotYet),
        };
        waits.forget_unserved(&migration.id);
        let strays = strays_from(&found, &migration.target);
        let strays = strays.or_else(|| definition.as_ref()?.strays_from(migration));
        if let Some(why) = strays {
            return Ok(self.put_off(waits, migration, why));
        }
        let tally = Arc::new(Tally::new(migration, &found, self.metrics.clone()));
        let fingerprint = definition.as_ref().map(Definition::fingerprint);
        let paces = Paces::new(self.args.bytes_per_second);
        let objects = Objects {
            server: self.server.clone(),
            resource: found,
            page_size: self.args.page_size.into(),
            paces,
            tally: Arc::clone(&tally),
            report: Arc::clone(&self.report),
            began: fingerprint.into(),
            given: Given::default(),
            strayed: AtomicU32::new(0),
        };
        let began = objects.began.clone();
        let migrator = Migrator::new(self.client.clone(), objects, self.options(migration));
        let working = migrator.run_one_until(&migration.id, stop.cancelled());
        let attempt = tokio::select! {
            biased;
            attempt = Box::pin(working) => attempt?,
            () = self.report.follow(&tally) => return Ok(Attended::NotYet),
        };
        let worked = match attempt {
            Attempt::Worked(worked) => worked,
            Attempt::Refused(refusal) => return Ok(self.waits(waits, migration, &refusal)),
            Attempt::Stopped => return Ok(Attended::NotYet),
        };
        tally.ended(&worked);
        let mut trimmed = None;
        if let (Worked::Completed { .. }, Some(before)) = (&worked, definition) {
            let is_whole = began.is(&before.fingerprint());
            trimmed = Some(before.trim(&self.server, migration, is_whole).await);
        }
        self.report
            .quietly(&Event::ended(&tally, &worked, trimmed.as_ref()));
        Ok(match worked {
            Worked::Completed { .. } | Worked::Lost => Attended::Well,
            Worked::Failed(_) => Attended::GivenUp,
            Worked::Released { .. } => {
                waits.leave_to_others(&migration.id, migration.done);
                let seeing = self.sees_release(migration, reflector);
                stop.run_until_cancelled(seeing).await.transpose()?;
                Attended::NotYet
            }
        })
    }

    /// Waits until the reflector shows that the worker gave its claim back: before that it shows the claim as another's.
    async fn sees_release(
        &self,
        migration: &Migration,
        reflector: &Reflector,
    ) -> Result<(), Error> {
        let view = self
            .client
            .migration(&migration.id, ReadOptions::linearizable());
        match view.await {
            Ok(view) => reflector.reached(view.header.revision, ASK_AGAIN).await,
            // It is gone, which the reflector shows in its turn.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn put_off(&self, waits: &mut Waits, migration: &Migration, why: String) -> Attended {
        let failure = Failure::local(&*why, "see what the API server says");
        let event = Event::fault(migration, &failure);
        self.tell_once(waits, migration, &why, &event);
        Attended::NotYet
    }

    /// Tells what it waits for that cannot be claimed now.
    fn waits(&self, waits: &mut Waits, migration: &Migration, refusal: &Error) -> Attended {
        if refusal.kind() == ErrorKind::NotFound {
            // It is gone, and the next look at what is pending shows that.
            return Attended::NotYet;
        }
        let left = refusal.metadata().get("retry_after_ms");
        let left = left.and_then(|text| text.parse().ok());
        let event = Event::waits(migration, refusal, left.map(Duration::from_millis));
        // The time left is another one in each refusal, and the wait is the same.
        let why = match refusal.kind() {
            ErrorKind::Draining => "draining",
            _ => refusal.message(),
        };
        self.tell_once(waits, migration, why, &event);
        Attended::NotYet
    }

    fn tell_once(&self, waits: &mut Waits, migration: &Migration, why: &str, event: &Event) {
        if waits.is_news(&migration.id, why) {
            self.report.quietly(event);
        }
    }

    /// The place where the API server serves a resource, in this version if it can.
    async fn find(
        &self,
        resource: &GroupResource,
        wanted: Option<&str>,
    ) -> Result<Option<Resource>, Fault> {
        let (group, plural) = (resource.group(), resource.resource());
        self.server.find(group, plural, wanted).await
    }

    /// Where the API server serves the resource, and the definition of a custom resource if it is to be trimmed.
    async fn look(
        &self,
        migration: &Migration,
    ) -> Result<Option<(Resource, Option<Definition>)>, Fault> {
        let target = migration.target.version.as_ref();
        let wanted = target.map(|version| version.version());
        let found = self.find(migration.id.resource(), wanted).await?;
        let Some(found) = found else {
            return Ok(None);
        };
        let definition = match self.args.trim_stored_versions {
            true => Definition::read(&self.server, &found).await?,
            false => None,
        };
        Ok(Some((found, definition)))
    }

    fn options(&self, migration: &Migration) -> MigratorOptions {
        let resources = BTreeSet::from([migration.id.resource().clone()]);
        let options = MigratorOptions::new(self.name.clone(), resources)
            .objects_at_once(self.args.objects_at_once);
        match self.args.objects_per_second {
            Some(rate) => options.objects_per_second(rate),
            None => options,
        }
    }

    /// Counts what the migrations that are not done would rewrite. `exit` says what was reported before.
    async fn count(&self, reflector: &Reflector, mut exit: Exit) -> Result<Exit, Failure> {
        let mut is_told = exit != Exit::Ok;
        for migration in self.ours(reflector, is_open) {
            let counted = match self.look(&migration).await {
                Ok(None) => continue,
                Ok(Some((found, _))) => {
                    count::count(&self.server, &found, self.args.page_size.get()).await
                }
                Err(fault) => Err(fault.to_string()),
            };
            is_told = true;
            match counted {
                Ok(counted) => self.tell(&Event::counted(&migration, &counted))?,
                Err(why) => {
                    let failure = Failure::local(why, "see what the API server says");
                    self.tell(&Event::fault(&migration, &failure))?;
                    exit = Exit::Failure;
                }
            }
        }
        if !is_told {
            self.tell(&Event::nothing_to_count())?;
        }
        Ok(exit)
    }

    fn tell(&self, event: &Event) -> Result<(), Failure> {
        self.report.tell(event)
    }
}

/// Whether a migration in this phase is not over.
fn is_open(phase: MigrationPhase) -> bool {
    matches!(phase, MigrationPhase::Pending | MigrationPhase::Running)
}

/// Whether a call that failed with this error may succeed later, whatever its outcome was.
fn may_pass(error: &Error) -> bool {
    let is_late = matches!(
        error.kind(),
        ErrorKind::DeadlineExceeded | ErrorKind::UnknownOutcome | ErrorKind::RequestExpired
    );
    is_late || error.retryable()
}
