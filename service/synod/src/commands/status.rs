//! `synod status`: shows the state of the cluster and of its replicas.

use std::collections::BTreeSet;

use clap::ArgMatches;
use futures::future::join_all;
use synod_client::{Client, ClusterStatus, Error, ErrorKind, Violation};

use super::show;
use crate::args::QueryArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::ClientSettings;
use crate::views::{self, EndpointStatus};

pub(crate) async fn run(args: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let settings = ClientSettings::load(&args.client, matches)?;
    let answers = answers(settings).await?;
    match best(&answers) {
        Some(best) => show(&views::status(best, &answers), args.output),
        None => Err(none_answered(answers)),
    }
}

/// The answer of every endpoint, and of every replica that an answer names.
pub(super) async fn answers(settings: ClientSettings) -> Result<Vec<EndpointStatus>, Failure> {
    let given = settings.clone().connect().await?;
    let mut answers = ask(&given).await;
    let seen = answers
        .iter()
        .map(|it| (&*it.endpoint, it.status.as_ref().ok()));
    let others = not_asked(&seen.collect::<Vec<_>>());
    if !others.is_empty() {
        let found = ClientSettings {
            endpoints: others,
            ..settings
        };
        answers.extend(ask(&found.connect().await?).await);
    }
    Ok(answers)
}

/// Calls every replica that the client knows, all at once.
pub(super) async fn ask(client: &Client) -> Vec<EndpointStatus> {
    let asking = client.endpoints().into_iter().map(|endpoint| async move {
        let status = client.status_of(&endpoint).await;
        EndpointStatus { endpoint, status }
    });
    join_all(asking).await
}

/// The client addresses of the replicas that were not called, as far as the answers name them.
pub(super) fn not_asked(answers: &[(&str, Option<&ClusterStatus>)]) -> Vec<String> {
    let statuses = || answers.iter().filter_map(|(_, status)| *status);
    let answered: BTreeSet<u64> = statuses().map(|status| status.header.replica_id).collect();
    // An endpoint may be given as a URL.
    let asked: BTreeSet<&str> = answers
        .iter()
        .map(|(endpoint, _)| {
            endpoint
                .split_once("://")
                .map_or(*endpoint, |(_, address)| address)
        })
        .collect();
    let addresses: BTreeSet<&str> = statuses()
        .flat_map(|status| &status.replicas)
        .filter(|replica| !answered.contains(&replica.replica_id))
        .map(|replica| replica.client_address.as_str())
        .filter(|address| !address.is_empty() && !asked.contains(address))
        .collect();
    addresses.into_iter().map(str::to_owned).collect()
}

/// The most informative answer: the leader's, since it knows the progress of the others; else that of the replica that
/// has applied most.
pub(crate) fn best(answers: &[EndpointStatus]) -> Option<&ClusterStatus> {
    let statuses = answers
        .iter()
        .filter_map(|answer| answer.status.as_ref().ok());
    statuses.max_by_key(|status| {
        let leads = status.leader_id == Some(status.header.replica_id);
        // Of two replicas that believe to lead, the one with the later term is right.
        (leads, status.header.raft_term, status.applied_index)
    })
}

/// The error of each endpoint. The first one decides the exit code.
pub(super) fn none_answered(answers: Vec<EndpointStatus>) -> Failure {
    let errors: Vec<(String, Error)> = answers
        .into_iter()
        .filter_map(|answer| Some((answer.endpoint, answer.status.err()?)))
        .collect();
    let kind = errors
        .first()
        .map_or(ErrorKind::Unavailable, |(_, error)| error.kind());
    let faults = errors.into_iter().map(|(endpoint, error)| {
        let message = error.message();
        let what = message
            .strip_prefix(&format!("{endpoint}: "))
            .unwrap_or(message)
            .to_owned();
        Violation {
            field: endpoint,
            rule: what,
        }
    });
    Failure::of(kind, "no replica answered").with_violations(faults.collect())
}
