//! `synod top`: the replicas and what happens in the cluster, drawn anew each second.

mod screen;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use clap::ArgMatches;
use synod_client::Client;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::status::{ask, best, none_answered, not_asked};
use crate::args::TopArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Table};
use crate::settings::ClientSettings;
use crate::signals::Signals;
use crate::views::{self, EndpointStatus, Sample};
use screen::{Keys, Screen};

/// How often the replicas are asked.
const PERIOD: Duration = Duration::from_secs(1);

/// A replica that has not answered by then is shown as unreachable in this round.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: &TopArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let settings = ClientSettings::load(&args.client, matches)?;
    let mut asked = Asked::new(settings).await?;
    if args.once || !io::stdout().is_terminal() {
        let answers = asked.round().await?;
        if best(&answers).is_none() {
            return Err(none_answered(answers));
        }
        let tables = views::top(&sample(answers), None);
        output::print(&lines(&tables).join("\n"))?;
        return Ok(Exit::Ok);
    }
    let mut signals = Signals::listen()?;
    let screen = Screen::open().map_err(|error| {
        let message = format!("the terminal cannot be drawn on: {error}");
        Failure::local(message, "print one table with --once")
    })?;
    let mut keys = Keys::listen();
    tokio::select! {
        biased;
        _ = signals.next() => Ok(Exit::Ok),
        () = keys.quit() => Ok(Exit::Ok),
        ended = show(&mut asked, &screen) => ended,
    }
}

/// Draws each round, for as long as it is polled.
async fn show(asked: &mut Asked, screen: &Screen) -> Result<Exit, Failure> {
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before: Option<Sample> = None;
    loop {
        period.tick().await;
        let now = sample(asked.round().await?);
        let mut lines = lines(&views::top(&now, before.as_ref()));
        lines.push("q quits".to_owned());
        screen.draw(&lines).map_err(|error| {
            let message = format!("the terminal cannot be drawn on: {error}");
            Failure::local(message, "print one table with --once")
        })?;
        before = Some(now);
    }
}

fn sample(answers: Vec<EndpointStatus>) -> Sample {
    Sample {
        at: Instant::now(),
        answers,
    }
}

/// The lines of the tables, with an empty one below each.
fn lines(tables: &[Table]) -> Vec<String> {
    let mut lines = Vec::new();
    for table in tables {
        lines.extend(table.render().lines().map(str::to_owned));
        lines.push(String::new());
    }
    lines
}

/// The replicas that are asked in each round: those that were given, and those that an answer names.
struct Asked {
    settings: ClientSettings,
    given: Client,
    /// The endpoints of those that were named, with a client of them.
    named: Option<(Vec<String>, Client)>,
}

impl Asked {
    async fn new(settings: ClientSettings) -> Result<Self, Failure> {
        let settings = ClientSettings {
            timeout: settings.timeout.min(PATIENCE),
            ..settings
        };
        Ok(Self {
            given: settings.clone().connect().await?,
            named: None,
            settings,
        })
    }

    async fn round(&mut self) -> Result<Vec<EndpointStatus>, Failure> {
        let mut answers = ask(&self.given).await;
        let seen = answers
            .iter()
            .map(|it| (&*it.endpoint, it.status.as_ref().ok()));
        let others = not_asked(&seen.collect::<Vec<_>>());
        if others.is_empty() {
            return Ok(answers);
        }
        // Connections last for as long as the same replicas are named.
        let client = match self.named.take() {
            Some((endpoints, client)) if endpoints == others => client,
            _ => {
                let settings = ClientSettings {
                    endpoints: others.clone(),
                    ..self.settings.clone()
                };
                settings.connect().await?
            }
        };
        answers.extend(ask(&client).await);
        self.named = Some((others, client));
        Ok(answers)
    }
}
