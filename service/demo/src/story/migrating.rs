//! The last act: objects that are still stored in the old version are migrated, until none is left.

use std::fs;

use serde_json::{Value, json};
use synod_client::{
    MemberId, MigrationPhase, MigrationReason, ResourceScope, RosterRule, SetRoster, SettingsPatch,
};

use super::Story;
use crate::records::files;
use crate::release::{self, AGGREGATED, Encodes, FORGOTTEN, NEXT, REVERTED, TARGET};
use crate::run::Stuck;
use crate::servers::{CONTROL_PLANE, Down, NEWCOMER, OUTSIDER};
use crate::stage::Shown;
use crate::workers::{Pace, Places};
use synod_terminal::exit::Exit;

const WORKERS: [&str; 2] = ["worker-1", "worker-2"];

/// The number of widgets that a slow worker has rewritten before the next step of the act.
const BEGUN: u64 = 5;

impl Story<'_> {
    /// Runs the act, from the agreement until nothing is stored in the old version.
    pub(super) async fn migrate(&mut self) -> Result<(), Stuck> {
        self.keep_out().await?;
        let widgets = self.migrate_in_part().await?;
        self.say_whether_to_go_on().await?;
        self.roll_back(&widgets).await?;
        self.migrate_all().await?;
        self.say_whether_to_go_on().await?;
        self.assume().await?;
        self.ask_for_all().await?;
        self.say_whether_to_go_on().await?;
        self.migrate_under_the_roster().await?;
        self.let_in().await?;
        self.say_whether_to_go_on().await
    }

    /// A release that cannot read stored objects is refused: by the safety commands, and by Synod when it reports.
    async fn keep_out(&mut self) -> Result<(), Stuck> {
        self.run.stage.enter(format!(
            "release {} reads {TARGET} alone, and objects may be stored in {FORGOTTEN}: it is kept out",
            NEXT.version
        ));
        let resources = release::upgraded().map(|resource| resource.group_resource());
        let patch = SettingsPatch {
            enforce_persisted: Some(resources.collect()),
            ..SettingsPatch::default()
        };
        self.client.update_settings(patch, None).await?;
        fs::write(self.run.path(files::MANIFEST), manifest())?;
        self.judge(files::BEFORE, &[], Exit::Disagree).await?;
        self.servers.launch(self.run, NEWCOMER, NEXT)?;
        self.servers.refused(self.run, NEWCOMER).await
    }

    /// Two slow workers compete for the widgets' migration. The one that claims it is killed; the other goes on from
    /// its progress. Returns the name of the migration.
    async fn migrate_in_part(&mut self) -> Result<String, Stuck> {
        self.run
            .stage
            .enter("two workers migrate widgets, slowly; the one that has the migration is killed half-way");
        for name in WORKERS {
            self.workers
                .start(self.run, name, &self.places(), &["widgets"], Pace::Slow)?;
        }
        let (name, worker) = self.rewritten(BEGUN, None).await?;
        self.workers.kill(self.run, &worker).await?;
        let (_, other) = self.rewritten(2 * BEGUN, Some(&worker)).await?;
        self.run.stage.say(format!(
            "{other} goes on with {name} where {worker} stood, behind the pages that were done"
        ));
        Ok(name)
    }

    /// One server is rolled back. The members no longer agree on a version to store, so the migration is aborted.
    async fn roll_back(&mut self, migration: &str) -> Result<(), Stuck> {
        let [first, _, _] = CONTROL_PLANE;
        self.run.stage.enter(format!(
            "{first} is rolled back, and stores widgets in v1: the migration is aborted"
        ));
        self.servers
            .bring_down(self.run, first, Down::Stopped)
            .await?;
        self.servers.launch(self.run, first, REVERTED)?;
        self.servers.ready(self.run, first).await?;
        let name = migration.to_owned();
        self.see(format!("{name} aborted"), |shown| {
            let aborted = shown.board.migrations.get(&name);
            let phase = aborted.map(|migration| migration.phase);
            (phase == Some(MigrationPhase::Aborted))
                .then_some(())
                .ok_or_else(|| format!("it is {phase:?}"))
        })
        .await?;
        self.takes_writes(first).await?;
        self.workers.stop(self.run).await?;
        self.run
            .stage
            .enter(format!("the upgrade of {first} is finished again"));
        self.upgrade(first, Down::Stopped, release::CONTROL_PLANE[2])
            .await?;
        self.agreed(super::WIDGETS, TARGET).await
    }

    /// Two quick workers migrate all resources.
    async fn migrate_all(&mut self) -> Result<(), Stuck> {
        self.run
            .stage
            .enter("two workers migrate everything, as fast as the servers take it");
        let plurals: Vec<&str> = release::upgraded()
            .map(|resource| resource.plural)
            .collect();
        for name in WORKERS {
            self.workers
                .start(self.run, name, &self.places(), &plurals, Pace::Quick)?;
        }
        for resource in release::upgraded() {
            let name = resource.name();
            self.see(format!("{name} stored in {TARGET} alone"), |shown| {
                let stored = shown.board.stored_in(&name);
                (stored == "v2")
                    .then_some(())
                    .ok_or_else(|| format!("it may be stored in {stored}"))
            })
            .await?;
        }
        self.workers.stop(self.run).await
    }

    /// Dropping the old version is safe now only if none but the members write; `--assume-complete` vouches for that.
    async fn assume(&mut self) -> Result<(), Stuck> {
        self.run.stage.enter(format!(
            "nothing is stored in {FORGOTTEN} any more, as far as Synod knows: whether it is safe rests on an assumption"
        ));
        self.judge(files::VOUCHED, &["--assume-complete"], Exit::Ok)
            .await?;
        self.judge(files::ASSUMED, &[], Exit::Disagree).await?;
        self.say_from(files::ASSUMED, "/assumptions/0/message")
    }

    /// A roster requires every server of the control plane. One of them is no member. Until it is, nothing is agreed on
    /// and nothing is safe, not even with `--assume-complete`.
    async fn ask_for_all(&mut self) -> Result<(), Stuck> {
        self.run.stage.enter(format!(
            "a roster asks for {OUTSIDER}, too, which does not take part: nothing is safe until it does"
        ));
        let fault = |error: synod_client::Violation| Stuck::new(error.to_string());
        let asked = CONTROL_PLANE.into_iter().chain([OUTSIDER]);
        let members = asked.map(MemberId::parse).collect::<Result<_, _>>();
        let set = SetRoster {
            scope: ResourceScope::group(NEXT.resources[0].group).map_err(fault)?,
            rule: RosterRule {
                members: members.map_err(fault)?,
                ..RosterRule::default()
            },
            if_revision: None,
        };
        self.client.rosters().set(set).await?;
        self.judge(files::ABSENT, &["--assume-complete"], Exit::Disagree)
            .await?;
        self.say_from(files::ABSENT, "/dangers/0/message")?;
        self.run.stage.enter(format!("{OUTSIDER} takes part"));
        let servers = &mut self.servers;
        servers
            .bring_down(self.run, OUTSIDER, Down::Stopped)
            .await?;
        servers.launch(self.run, OUTSIDER, release::CONTROL_PLANE[2])?;
        servers.ready(self.run, OUTSIDER).await?;
        self.agreed(super::WIDGETS, TARGET).await
    }

    /// What was stored before the roster was set is on trust until it is migrated again.
    async fn migrate_under_the_roster(&mut self) -> Result<(), Stuck> {
        self.run.stage.enter(
            "what was stored before the roster came is on trust: everything is migrated under it",
        );
        let mut started = Vec::new();
        for resource in release::upgraded() {
            let resource = resource.group_resource();
            let reason = MigrationReason::Manual;
            let asked = self.client.start_migration(&resource, reason);
            started.push(asked.await?.id.to_string());
        }
        let plurals: Vec<&str> = release::upgraded()
            .map(|resource| resource.plural)
            .collect();
        for name in WORKERS {
            self.workers
                .start(self.run, name, &self.places(), &plurals, Pace::Quick)?;
        }
        for name in started {
            self.see(format!("{name} succeeded"), |shown| {
                let migration = shown.board.migrations.get(&name);
                let phase = migration.map(|migration| migration.phase);
                (phase == Some(MigrationPhase::Succeeded))
                    .then_some(())
                    .ok_or_else(|| format!("it is {phase:?}"))
            })
            .await?;
        }
        self.workers.stop(self.run).await
    }

    /// Shows a sentence of the answer about the first resource.
    fn say_from(&self, when: &str, place: &str) -> Result<(), Stuck> {
        let file = files::drop_verdict(super::WIDGETS, when);
        let answer: Value = serde_json::from_str(&fs::read_to_string(self.run.path(&file))?)
            .map_err(|error| Stuck::new(format!("{file}: {error}")))?;
        let sentence = answer.pointer(place).and_then(Value::as_str);
        let sentence = sentence.ok_or_else(|| Stuck::new(format!("{file} has no {place}")))?;
        self.run
            .stage
            .say(format!("synod check-drop {}: {sentence}", super::WIDGETS));
        Ok(())
    }

    /// Dropping the old version is certainly safe now, and the release that was kept out may join.
    async fn let_in(&mut self) -> Result<(), Stuck> {
        self.run.stage.enter(format!(
            "all that the roster asks for take part, and nothing is stored in {FORGOTTEN} any more: release {} may join",
            NEXT.version
        ));
        self.judge_drops(files::AFTER, &[], Exit::Ok).await?;
        // `--assume-complete` vouches that others read the resources that the manifest leaves to them.
        self.judge_binary(files::AFTER, &["--assume-complete"], Exit::Ok)
            .await?;
        self.servers.launch(self.run, NEWCOMER, NEXT)?;
        self.servers.ready(self.run, NEWCOMER).await
    }

    /// Asks this program, as a person would, whether the old version of each resource may be dropped and the next
    /// release may join, until the exit code is `wanted`: while writes drain, nothing is safe for a moment.
    async fn judge(&mut self, when: &str, flags: &[&str], wanted: Exit) -> Result<(), Stuck> {
        self.judge_drops(when, flags, wanted).await?;
        self.judge_binary(when, flags, wanted).await
    }

    async fn judge_drops(&mut self, when: &str, flags: &[&str], wanted: Exit) -> Result<(), Stuck> {
        for resource in release::upgraded() {
            let name = resource.name();
            let command = [&["check-drop", &name, FORGOTTEN], flags].concat();
            self.ask(&command, &files::drop_verdict(&name, when), wanted)
                .await?;
        }
        Ok(())
    }

    async fn judge_binary(
        &mut self,
        when: &str,
        flags: &[&str],
        wanted: Exit,
    ) -> Result<(), Stuck> {
        let manifest = self.run.argument(files::MANIFEST);
        let command = [&["check-binary", "-f", &manifest], flags].concat();
        self.ask(&command, &files::binary_verdict(when), wanted)
            .await
    }

    /// Waits until a worker other than `but` has rewritten `count` widgets; returns the migration and the worker.
    async fn rewritten(
        &mut self,
        count: u64,
        but: Option<&str>,
    ) -> Result<(String, String), Stuck> {
        let what = format!("{count} widgets rewritten by one worker");
        let at_work = |shown: &Shown| {
            let mut running = shown.board.migrations.values();
            let claimed = running.find_map(|migration| {
                let claim = migration.claim.as_ref()?;
                let worker = claim.worker.as_str();
                (but != Some(worker)).then(|| (migration.id.clone(), worker.to_owned()))
            });
            claimed.ok_or_else(|| "nobody has the migration".to_owned())
        };
        let (id, worker) = self.see(what.clone(), at_work).await?;
        // A rewritten page changes no revision: the progress is stored beside the migration, and is read by a call.
        let client = self.client.clone();
        let asking = || async {
            let view = client.migration(&id, Default::default()).await;
            let progress = view.map_err(|error| error.to_string())?.progress;
            let done = progress.map_or(0, |progress| progress.done);
            (done >= count)
                .then_some(())
                .ok_or_else(|| format!("there are {done}"))
        };
        super::until(what, super::LIMIT, asking).await?;
        Ok((id.to_string(), worker))
    }

    fn places(&self) -> Places {
        let servers = self.servers.addresses().into_iter();
        let servers = servers.filter(|(id, _)| CONTROL_PLANE.contains(id));
        Places {
            endpoints: self.cluster.endpoints(),
            servers: servers.map(|(_, address)| address).collect(),
        }
    }
}

/// The manifest of the next release, as `synod check-binary` reads it.
fn manifest() -> String {
    let resources = NEXT.resources.iter().map(|resource| {
        let (encodes, version) = match resource.encodes {
            Encodes::Fixed(version) | Encodes::Defined(version) => ("encodingVersion", version),
            Encodes::Selected(version) => ("preferredVersion", version),
        };
        json!({
            "resource": resource.name(),
            "kind": resource.kind,
            "decodableVersions": resource.decodable,
            encodes: version,
        })
    });
    let others = AGGREGATED.resources.iter();
    let others = others.map(|resource| format!("{}.*", resource.group));
    // JSON is YAML.
    json!({
        "resources": resources.collect::<Vec<_>>(),
        "leftToOthers": others.collect::<Vec<_>>(),
    })
    .to_string()
}
