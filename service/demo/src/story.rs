//! The acts of the demo, from the first replica to the last recording.

mod migrating;

use std::fs;
use std::future::ready;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use synod_client::{
    Client, CollectionRules, CreateCollection, Kind, ReadOptions, SettingsPatch, WatchFrom,
    WatchMessage, WatchOptions,
};
use tokio::task::JoinSet;

use super::clients::Clients;
use super::cluster::{Cluster, show_replicas};
use super::journal::Journal;
use super::patience::until;
use super::ports::free_ports;
use super::processes::Process;
use super::recorders::Recorders;
use super::records::files;
use super::release::{self, AGGREGATED, Release};
use super::run::{LIMIT, Run, Stuck};
use super::servers::{CONTROL_PLANE, Down, METRICS, OUTSIDER, Servers};
use super::stage::{Shown, Stage};
use super::survey::survey;
use super::workers::Workers;
use crate::args::Violation;
use synod_terminal::exit::Exit;

/// How long a write may still land after its member's membership has ended: longer than a call of the store may take.
const WRITE_GRACE: Duration = Duration::from_secs(2);

/// The default of a new cluster. Setting it again is the last change of the run, which all recordings must hold.
const WRITE_GRACE_BY_DEFAULT: Duration = Duration::from_secs(70);

/// The number of writes that a server must have acknowledged before the next act.
const WRITES: u64 = 40;

const WIDGETS: &str = "widgets.example.io";
const GADGETS: &str = "gadgets.example.io";
const TRINKETS: &str = "trinkets.example.io";
const GIZMOS: &str = "gizmos.example.io";

/// The running demo. Dropping it ends all of its processes.
struct Story<'a> {
    run: &'a Run,
    cluster: Cluster,
    recorders: Recorders,
    servers: Servers,
    workers: Workers,
    client: Client,
    /// The tasks that run beside the story.
    beside: JoinSet<()>,
}

/// Runs the demo. When this returns, every process has ended and every recording is written.
///
/// # Errors
///
/// A condition was not met in time, or a process ended by itself.
pub(crate) async fn tell(run: &Run, violation: Option<Violation>) -> Result<(), Stuck> {
    let mut story = Story::begin(run).await?;
    if violation == Some(Violation::EncodeEarly) {
        story.servers.let_encode_early(CONTROL_PLANE[0]);
    }
    run.stage
        .enter("clients read and write at all servers, all the time from now on");
    let journal = Arc::new(Journal::open(&run.path(files::CLIENTS))?);
    let mut clients = Clients::start(&story.servers.addresses(), &journal, &run.stage);
    story.all_take_writes().await?;
    run.stage
        .enter("objects are stored that nobody will touch for a long time");
    clients.archived().await;

    let [_, reports_second, votes_second] = release::CONTROL_PLANE;
    story.say_whether_to_go_on().await?;
    story.upgrade_in_report_mode(reports_second).await?;
    story.say_whether_to_go_on().await?;
    story.change_a_definition().await?;
    story.say_whether_to_go_on().await?;
    story.upgrade_in_vote_mode(votes_second).await?;
    story.say_whether_to_go_on().await?;
    story.migrate().await?;

    run.stage
        .enter("the clients finish, and read everything back through every server");
    story.all_take_writes().await?;
    clients.finish().await;
    story.end().await
}

impl<'a> Story<'a> {
    /// Says at the end of an act what an operator is told who asks whether the upgrade may go on.
    async fn say_whether_to_go_on(&self) -> Result<(), Stuck> {
        let status = self.client.check_upgrade(ReadOptions::linearizable());
        let told = format!("synod upgrade status: {}", status.await?.message);
        self.run.stage.say(told);
        Ok(())
    }

    /// Starts the replicas, the recorders, the store and the servers with the oldest release.
    async fn begin(run: &'a Run) -> Result<Self, Stuck> {
        run.stage.enter("three replicas form a cluster");
        let ports = free_ports(16)?;
        let (replica_ports, server_ports) = ports.split_at(9);
        let cluster = Cluster::start(run, replica_ports).await?;
        let client = Client::builder()
            .endpoints(cluster.endpoints())
            .connect()
            .await?;
        let endpoints = cluster.endpoints().join(",");
        run.stage.say(format!(
            "to look at it yourself, elsewhere: export SYNOD_ENDPOINTS={endpoints}"
        ));
        set_write_grace(&client, WRITE_GRACE).await?;
        let recorders = Recorders::start(run, &cluster)?;
        let mut beside = JoinSet::new();
        beside.spawn(show_replicas(client.clone(), run.stage.clone()));
        beside.spawn(follow(client.clone(), run.stage.clone()));

        declare_collections(run, &client).await?;
        run.stage
            .enter("three API servers and one of another kind join and report");
        let servers = Servers::start_store(run, server_ports, cluster.endpoints()).await?;
        let marks = Arc::new(Journal::open(&run.path(files::MARKS))?);
        beside.spawn(survey(
            client.clone(),
            servers.store(),
            marks,
            run.stage.clone(),
        ));
        let mut story = Self {
            run,
            cluster,
            recorders,
            servers,
            workers: Workers::default(),
            client,
            beside,
        };
        for id in CONTROL_PLANE {
            story.servers.launch(run, id, release::CONTROL_PLANE[0])?;
        }
        story.servers.launch(run, METRICS, AGGREGATED)?;
        for id in CONTROL_PLANE.into_iter().chain([METRICS]) {
            story.servers.ready(run, id).await?;
        }
        // This server uses the same store as the others, but is no member of Synod.
        let servers = &mut story.servers;
        servers.launch_aside(run, OUTSIDER, release::CONTROL_PLANE[0])?;
        servers.ready(run, OUTSIDER).await?;
        run.stage.say(format!(
            "{OUTSIDER} does not take part: it has neither joined nor reported"
        ));
        Ok(story)
    }

    /// Every server encodes the version that its release has compiled in, whatever the others do, so there is no
    /// agreement during the upgrade.
    async fn upgrade_in_report_mode(&mut self, release: Release) -> Result<(), Stuck> {
        let [first, second, third] = CONTROL_PLANE;
        let stage = &self.run.stage;
        stage.enter(format!(
            "rolling upgrade to release {}: it encodes widgets in v2 (report mode)",
            release.version
        ));
        self.upgrade(first, Down::Stopped, release).await?;
        self.upgrade(second, Down::Killed, release).await?;
        self.upgrade(third, Down::Stopped, release).await?;
        self.agreed(WIDGETS, "example.io/v2").await
    }

    /// Like changing the storage version of a custom resource: all servers report it again without a restart.
    async fn change_a_definition(&mut self) -> Result<(), Stuck> {
        self.run
            .stage
            .enter("an administrator defines that gizmos are stored in v2 (at run time)");
        let store = self.servers.store();
        until("the store taking the definition", LIMIT, || {
            store.define(GIZMOS, "example.io/v2")
        })
        .await?;
        self.agreed(GIZMOS, "example.io/v2").await?;
        self.all_take_writes().await
    }

    /// The release decodes v2 and prefers it; v2 is written once all prefer it. Half-way the leader is killed.
    async fn upgrade_in_vote_mode(&mut self, release: Release) -> Result<(), Stuck> {
        let [first, second, third] = CONTROL_PLANE;
        let stage = &self.run.stage;
        stage.enter(format!(
            "rolling upgrade to release {}: it prefers v2 for gadgets and trinkets (vote mode)",
            release.version
        ));
        self.upgrade(first, Down::Stopped, release).await?;

        // This server stays down until its membership expires: its entry is removed, and its last writes drain.
        self.servers
            .bring_down(self.run, second, Down::Killed)
            .await?;
        stage.enter(format!(
            "{second} is dead: it expires, since it does not renew"
        ));
        self.see(format!("{second} expired"), |shown| {
            let seat = shown.board.members.get(second);
            seat.is_some_and(|seat| seat.gone)
                .then_some(())
                .ok_or_else(|| "it is a member still".to_owned())
        })
        .await?;

        stage.enter(
            "half-way: the leader of the replicas is killed, and the upgrade goes on with two",
        );
        let leader = self.cluster.kill_leader(self.run, &self.client).await?;
        self.servers.launch(self.run, second, release)?;
        self.servers.ready(self.run, second).await?;
        self.takes_writes(second).await?;
        stage.enter(format!("replica-{leader} comes back and catches up"));
        self.cluster.start_again(self.run, leader).await?;

        stage.enter(format!(
            "the last server of the older release, {third}, is upgraded: now all prefer v2"
        ));
        self.upgrade(third, Down::Killed, release).await?;
        self.agreed(GADGETS, "example.io/v2").await?;
        self.agreed(TRINKETS, "example.io/v2").await
    }

    /// Brings a server down, starts it with another release, and waits until clients can write to it.
    async fn upgrade(
        &mut self,
        id: &'static str,
        down: Down,
        release: Release,
    ) -> Result<(), Stuck> {
        self.servers.bring_down(self.run, id, down).await?;
        self.servers.launch(self.run, id, release)?;
        self.servers.ready(self.run, id).await?;
        self.takes_writes(id).await
    }

    async fn all_take_writes(&mut self) -> Result<(), Stuck> {
        for id in CONTROL_PLANE.into_iter().chain([METRICS]) {
            self.takes_writes(id).await?;
        }
        Ok(())
    }

    /// Waits until a server has acknowledged [`WRITES`] more writes.
    async fn takes_writes(&mut self, id: &'static str) -> Result<(), Stuck> {
        let before = self.run.stage.look(|shown| shown.tally.at(id));
        self.see(
            format!("{WRITES} more writes acknowledged by {id}"),
            |shown| {
                let taken = shown.tally.at(id) - before;
                (taken >= WRITES)
                    .then_some(())
                    .ok_or_else(|| format!("there were {taken}"))
            },
        )
        .await
    }

    /// Waits until the members agree on a version.
    async fn agreed(&mut self, resource: &'static str, version: &'static str) -> Result<(), Stuck> {
        self.see(format!("agreement on {version} for {resource}"), |shown| {
            let agreed = shown.board.agreed(resource).map(ToString::to_string);
            let missing = || format!("agreed on is {agreed:?}");
            (agreed.as_deref() == Some(version))
                .then_some(())
                .ok_or_else(missing)
        })
        .await
    }

    /// Waits until `look` finds what it looks for. Fails early if a process has ended by itself.
    async fn see<T>(
        &mut self,
        what: String,
        look: impl Fn(&Shown) -> Result<T, String>,
    ) -> Result<T, Stuck> {
        let stage = self.run.stage.clone();
        let seen = until(what, LIMIT, || {
            ready(match self.deserter() {
                Some(deserter) => Ok(Err(deserter)),
                None => stage.look(&look).map(Ok),
            })
        });
        seen.await?
    }

    /// The process that has ended by itself, if there is one.
    fn deserter(&mut self) -> Option<Stuck> {
        let deserter = self.cluster.deserter().or_else(|| self.servers.deserter());
        let deserter = deserter.or_else(|| self.workers.deserter());
        deserter.or_else(|| self.recorders.deserter())
    }

    /// Completes the recordings and ends all processes.
    async fn end(mut self) -> Result<(), Stuck> {
        let run = self.run;
        let store = self.servers.store();
        let position = until("the position of the store", LIMIT, || store.position()).await?;
        self.see(
            format!("a mark behind the last write, at position {position}"),
            |shown| {
                let marked = shown.tally.marked;
                (marked >= position)
                    .then_some(())
                    .ok_or_else(|| format!("the last one is behind position {marked}"))
            },
        )
        .await?;
        let last = set_write_grace(&self.client, WRITE_GRACE_BY_DEFAULT).await?;
        self.recorders.reached(last).await?;
        let objects = until("the objects of the store", LIMIT, || store.dump()).await?;
        fs::write(run.path(files::OBJECTS), objects)?;
        self.list(&["members", "list"], files::MEMBERS).await?;
        self.list(&["storage-versions", "list"], files::STORAGE_VERSIONS)
            .await?;
        self.list(&["collections", "list"], files::COLLECTIONS)
            .await?;
        for resource in release::kept_in_synod() {
            let name = resource.name();
            self.list(&["get", &name], &files::listed(&name)).await?;
        }
        run.stage.enter("every process is ended");
        self.beside.shutdown().await;
        self.recorders.end().await
    }

    /// Runs a listing command of this program, as a person would.
    async fn list(&self, command: &[&str], file: &str) -> Result<(), Stuck> {
        let process = self.command(command, file)?;
        let (name, log) = (
            process.name().to_owned(),
            process.log().display().to_string(),
        );
        let status: ExitStatus = process.wait(LIMIT).await?;
        if status.success() {
            Ok(())
        } else {
            Err(Stuck::new(format!("{name} ended with {status}; see {log}")))
        }
    }

    /// Runs a command of this program, as a person would, again and again until its exit code is `wanted`.
    async fn ask(&self, command: &[&str], file: &str, wanted: Exit) -> Result<(), Stuck> {
        let path = self.run.path(file);
        let asking = || async {
            // Only the last answer is kept as evidence.
            fs::write(&path, "").map_err(|error| error.to_string())?;
            let process = self
                .command(command, file)
                .map_err(|stuck| stuck.to_string())?;
            let status = process
                .wait(LIMIT)
                .await
                .map_err(|error| error.to_string())?;
            (status.code() == Some(i32::from(wanted as u8)))
                .then_some(())
                .ok_or_else(|| format!("it ended with {status}; see {}", path.display()))
        };
        until(
            format!("`synod {}` answering so", command.join(" ")),
            LIMIT,
            asking,
        )
        .await?;
        Ok(())
    }

    /// Starts this program as a person would. What it prints goes to a file.
    fn command(&self, command: &[&str], file: &str) -> Result<Process, Stuck> {
        let mut arguments: Vec<String> = command.iter().map(ToString::to_string).collect();
        arguments.push("--output=json".to_owned());
        arguments.push(format!(
            "--endpoints={}",
            self.cluster.endpoints().join(",")
        ));
        let name = file.trim_end_matches(".json");
        let path = self.run.path(file);
        Ok(self.run.launcher.start_into(name, &arguments, &path)?)
    }
}

/// Declares the strict collections that Synod keeps for the servers.
async fn declare_collections(run: &Run, client: &Client) -> Result<(), Stuck> {
    for resource in release::kept_in_synod() {
        let create = CreateCollection {
            resource: resource.group_resource(),
            kind: Kind::parse(resource.kind).map_err(|fault| Stuck::new(fault.to_string()))?,
            namespaced: false,
            rules: CollectionRules {
                strict_storage_version: true,
                ..CollectionRules::default()
            },
        };
        client.collections().create(create).await?;
        let name = resource.name();
        run.stage.say(format!(
            "Synod keeps the objects of {name}, in the selected version and in no other"
        ));
    }
    Ok(())
}

/// Sets the setting `write_grace`, and returns the revision of the change.
async fn set_write_grace(client: &Client, grace: Duration) -> Result<u64, Stuck> {
    let patch = SettingsPatch {
        write_grace: Some(grace),
        ..SettingsPatch::default()
    };
    Ok(client
        .update_settings(patch, None)
        .await?
        .header
        .revision
        .get())
}

/// Shows the changes that a watch reports, for as long as it is polled.
async fn follow(client: Client, stage: Stage) {
    loop {
        let watch = client
            .watch(WatchOptions::new().from(WatchFrom::List))
            .await;
        let error = match watch {
            Err(error) => error,
            Ok(mut watch) => loop {
                match watch.next().await {
                    Some(Ok(WatchMessage::Events(events) | WatchMessage::Resync(events))) => {
                        stage.take(&events)
                    }
                    Some(Ok(WatchMessage::Bookmark(_))) => {}
                    Some(Err(error)) => break error,
                    None => return,
                }
            },
        };
        stage.say(format!(
            "what is shown may be old: the watch for it ended with {error}"
        ));
    }
}
