//! `synod observe`: looks at API servers that do not report, round by round.

pub(crate) mod documents;
mod round;
pub(crate) mod server;
mod sight;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Duration;

use clap::ArgMatches;
use futures::future::join_all;
use futures::{StreamExt as _, stream};
use synod_client::{
    Client, Error, ErrorKind, GroupResource, ObjectKind, ReadOptions, StorageVersionHash,
    Violation, Violations,
};
use tokio::time::{Instant, sleep_until};

use super::connect;
use crate::args::ObserveArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::http::Http;
use crate::output::{self, Reader};
use crate::signals::Signals;
use round::{Outcome, Posted, Round};
use server::{Look, Server};
use sight::{Seen, sight};

/// The period until the cluster has said its own.
const DISCOVERY_PERIOD: Duration = Duration::from_secs(600);

/// How much sooner than after a period it looks again when something failed.
const SOONER: u32 = 10;

/// How many observations are on their way at a time.
const AT_A_TIME: usize = 16;

pub(crate) async fn run(args: &ObserveArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let servers = servers(&args.urls)?;
    let mut signals = Signals::listen()?;
    let client = connect(&args.client, matches).await?;
    let ended = tokio::select! {
        biased;
        _ = signals.next() => Ok(Exit::Ok),
        ended = Box::pin(rounds(args, &servers, &client)) => ended,
    };
    // The session would end by itself; that it could not be ended now says nothing about what was posted.
    let _ = client.close().await;
    ended
}

fn servers(urls: &[String]) -> Result<BTreeSet<Server>, Failure> {
    let mut servers = BTreeSet::new();
    let mut found = Violations::new();
    for url in urls {
        match Server::parse(url) {
            Err(rule) => found.push(Violation::invalid(url, rule).at("URL")),
            Ok(server) => {
                if !servers.insert(server) {
                    found.push(Violation::invalid(url, "must not be given twice").at("URL"));
                }
            }
        }
    }
    if found.is_empty() {
        Ok(servers)
    } else {
        Err(Failure::invalid("these servers cannot be looked at", found))
    }
}

/// Round by round, until nobody reads what is printed.
async fn rounds(
    args: &ObserveArgs,
    servers: &BTreeSet<Server>,
    client: &Client,
) -> Result<Exit, Failure> {
    let http = Http::new();
    let mut period = args.period;
    loop {
        let begun = Instant::now();
        let view = client.settings(ReadOptions::linearizable()).await;
        if let Ok(view) = &view {
            let longest = view.settings.discovery_period;
            period = Some(args.period.map_or(longest, |asked| asked.min(longest)));
        }
        let round = match view {
            Ok(_) => {
                let looks = servers
                    .iter()
                    .map(|server| server.look(&http, args.server_timeout));
                post(client, join_all(looks).await).await
            }
            Err(error) => Err(error),
        };
        let is_whole = match round {
            Ok(round) => {
                if output::print(&round.render(args.output))? == Reader::Gone {
                    return Ok(Exit::Ok);
                }
                if args.once {
                    return round.ended();
                }
                round.is_whole()
            }
            Err(error) if args.once => return Err(error.into()),
            Err(error) => {
                // Nobody is left to tell if standard error is closed.
                let text = Failure::from(error).to_string();
                let _ = std::io::stderr().write_all(text.as_bytes());
                false
            }
        };
        let period = period.unwrap_or(DISCOVERY_PERIOD);
        let pause = if is_whole { period } else { period / SOONER };
        sleep_until(begun + pause).await;
    }
}

/// Posts what may be posted of what was seen.
async fn post(client: &Client, looks: Vec<Look>) -> Result<Round, Error> {
    let sight = sight(&looks);
    // What was observed before matters only beside what is not whole.
    let before = if sight.values().all(Seen::is_whole) {
        None
    } else {
        Some(client.reflect(vec![ObjectKind::StorageState]).await?)
    };
    let posting = sight.into_iter().map(|(resource, seen)| {
        let state = before.as_ref().and_then(|all| all.storage_state(&resource));
        let observed = state.map_or_else(Vec::new, |state| state.observed.clone());
        Box::pin(async move {
            let outcome = post_one(client, &observed, &resource, &seen).await;
            Posted {
                resource,
                seen,
                outcome,
            }
        })
    });
    let posted = stream::iter(posting).buffered(AT_A_TIME).collect().await;
    Ok(Round { looks, posted })
}

async fn post_one(
    client: &Client,
    observed: &[StorageVersionHash],
    resource: &GroupResource,
    seen: &Seen,
) -> Outcome {
    let Some(hashes) = seen.post(observed) else {
        return Outcome::Withheld;
    };
    match client.observe(resource, hashes).await {
        Ok(answer) => match (answer.changed, seen.is_whole()) {
            (_, false) => Outcome::Widened(answer.header.revision),
            (true, true) => Outcome::Changed(answer.header.revision),
            (false, true) => Outcome::Unchanged,
        },
        Err(error) if error.kind() == ErrorKind::Conflict => Outcome::Reported,
        Err(error) => Outcome::Failed(format!("{}: {}", error.kind(), error.message())),
    }
}
