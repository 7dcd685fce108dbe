//! `synod upgrade status`: whether an upgrade may go on, and what stands in the way.

use std::time::Duration;

use clap::ArgMatches;
use synod_client::{Client, ObjectKind, ReadOptions, UpgradeStatus};
use tokio::time::{Instant, timeout_at};

use super::status;
use crate::args::{UpgradeArgs, UpgradeCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Format;
use crate::settings::ClientSettings;
use crate::{output, views};

/// The time after which a command that waits asks again although nothing changed. What drains has drained by time alone.
const PERIOD: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: &UpgradeArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let UpgradeCommand::Status(args) = &args.command;
    let settings = ClientSettings::load(&args.query.client, matches)?;
    let mut source = Source {
        client: settings.clone().connect().await?,
        settings,
        leader: None,
    };
    let status = match args.wait {
        None => source.ask().await?,
        Some(wait) => source.wait_until(Instant::now() + wait).await?,
    };
    let format = args.query.output;
    output::print(&text(&status, format))?;
    let exit = exit(&status, args.assume_complete);
    if format == Format::Name && status.may_go_on && exit == Exit::Disagree {
        // Names alone do not say why the exit is not 0.
        output::warn(&views::assumption_lines(&status.assumptions));
    }
    Ok(exit)
}

/// The text of the answer. For people it begins with its sentence.
fn text(status: &UpgradeStatus, format: Format) -> String {
    let rest = views::upgrade(status).render(format);
    match format {
        Format::Json | Format::Yaml | Format::Name => rest,
        Format::Table | Format::Wide if rest.is_empty() => format!("{}\n", status.message),
        Format::Table | Format::Wide => format!("{}\n\n{rest}", status.message),
    }
}

/// The exit is 0 if the upgrade may go on for sure, or may go on and is vouched for.
fn exit(status: &UpgradeStatus, assume_complete: bool) -> Exit {
    if status.may_go_on_for_sure() || (assume_complete && status.may_go_on) {
        Exit::Ok
    } else {
        Exit::Disagree
    }
}

/// The replicas that answer. The leader alone knows which members are about to expire, so it is asked where it can be reached.
struct Source {
    client: Client,
    settings: ClientSettings,
    leader: Option<Client>,
}

impl Source {
    async fn ask(&mut self) -> Result<UpgradeStatus, Failure> {
        if let Some(leader) = &self.leader
            && let Ok(status) = leader.check_upgrade(ReadOptions::linearizable()).await
            && status.expiring_known
        {
            return Ok(status);
        }
        let status = self
            .client
            .check_upgrade(ReadOptions::linearizable())
            .await?;
        if status.expiring_known {
            return Ok(status);
        }
        self.leader = leader(&self.settings).await;
        let Some(leader) = &self.leader else {
            return Ok(status);
        };
        let by_leader = leader.check_upgrade(ReadOptions::linearizable()).await;
        Ok(by_leader.unwrap_or(status))
    }

    /// Asks again after each change that may matter, until nothing stands in the way. Returns the last answer before the deadline.
    async fn wait_until(&mut self, deadline: Instant) -> Result<UpgradeStatus, Failure> {
        let kinds = vec![
            ObjectKind::Member,
            ObjectKind::StorageVersion,
            ObjectKind::StorageState,
            ObjectKind::Roster,
            ObjectKind::Collection,
            ObjectKind::Migration,
            ObjectKind::Settings,
        ];
        let reflector = self.client.reflect(kinds).await?;
        loop {
            let status = self.ask().await?;
            if status.may_go_on || Instant::now() >= deadline {
                return Ok(status);
            }
            let next = deadline.min(Instant::now() + PERIOD);
            let changed = reflector.changed(status.header.revision);
            if let Ok(changed) = timeout_at(next, changed).await {
                changed?;
            }
        }
    }
}

/// A client of the leader alone, if a replica that can be reached says that it leads.
async fn leader(settings: &ClientSettings) -> Option<Client> {
    let answers = status::answers(settings.clone()).await.ok()?;
    let leader = answers.into_iter().find(|answer| {
        let status = answer.status.as_ref();
        status.is_ok_and(|it| it.leader_id == Some(it.header.replica_id))
    })?;
    let settings = ClientSettings {
        endpoints: vec![leader.endpoint],
        ..settings.clone()
    };
    settings.connect().await.ok()
}

#[cfg(test)]
mod tests;
