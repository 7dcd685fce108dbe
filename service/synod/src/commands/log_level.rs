//! `synod log-level`: shows or changes which events the replicas at the given endpoints log, each by itself.

use clap::ArgMatches;
use futures::future::join_all;

use super::connect;
use crate::args::LogLevelArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::views::{self, EndpointLog};

pub(crate) async fn run(args: &LogLevelArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&args.query.client, matches).await?;
    let endpoints = client.endpoints();
    let answers = join_all(endpoints.into_iter().map(async |endpoint| {
        let answer = match (&args.filter, args.reset) {
            (Some(filter), _) => {
                let other = Some((filter.clone(), args.lasts));
                client.set_log_filter_of(&endpoint, other).await
            }
            (None, true) => client.set_log_filter_of(&endpoint, None).await,
            (None, false) => client.log_filter_of(&endpoint).await,
        };
        EndpointLog { endpoint, answer }
    }));
    let answers = answers.await;
    // What was changed is named even if a replica was not reached.
    if answers.iter().any(|one| one.answer.is_ok()) {
        output::print(&views::log_filters(&answers).render(args.query.output))?;
    }
    let failed = answers.into_iter().find_map(|one| one.answer.err());
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(Exit::Ok),
    }
}
