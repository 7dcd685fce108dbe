//! `synod storage-versions check`: whether the members agree, on named resources or on all that is known.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::ArgMatches;
use synod_client::{
    Agreement, AgreementQuery, Client, GroupResource, ObjectKind, ReadOptions, ResourceSpelling,
    Violations,
};
use tokio::time::{Instant, timeout_at};

use super::connect;
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{Resolver, spelling};
use crate::output::Format;
use crate::{output, views};

/// How long a check that waits does not ask again while nothing changes. What drains has drained by time alone.
const PERIOD: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: &CheckArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spellings = spellings(&args.names)?;
    let client = connect(&args.query.client, matches).await?;
    let resources = resources(&client, &spellings, args.new.new).await?;
    let mut query = AgreementQuery::new().with_resources(resources);
    query.allow_none = args.allow_none;
    let agreement = match args.wait {
        None => ask(&client, &query).await?,
        Some(wait) => wait_for(&client, &query, Instant::now() + wait).await?,
    };
    let format = args.query.output;
    output::print(&views::agreement(&agreement).render(format))?;
    let exit = exit(&agreement, args.assume_complete);
    if format == Format::Name && agreement.agreed && exit == Exit::Disagree {
        // Names alone do not say why the exit is not 0.
        output::warn(&views::assumption_lines(&agreement.assumptions));
    }
    Ok(exit)
}

/// The exit is 0 if the members agree for sure, or agree and are vouched for.
fn exit(agreement: &Agreement, assume_complete: bool) -> Exit {
    if agreement.is_agreed_for_sure() || (assume_complete && agreement.agreed) {
        Exit::Ok
    } else {
        Exit::Disagree
    }
}

fn spellings(names: &[String]) -> Result<Vec<ResourceSpelling>, Failure> {
    let mut faults = Violations::new();
    let names = names.iter().enumerate();
    let found = names.filter_map(|(place, name)| faults.parsed("", spelling(name, &at(place))));
    let found = found.collect();
    if faults.is_empty() {
        Ok(found)
    } else {
        Err(Failure::invalid("these are no resources", faults))
    }
}

/// The named resources; none means all that is known.
async fn resources(
    client: &Client,
    spellings: &[ResourceSpelling],
    is_new: bool,
) -> Result<BTreeSet<GroupResource>, Failure> {
    if spellings.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut resolver = Resolver::load_unless_new(client, is_new).await?;
    let spellings = spellings.iter().enumerate();
    let found = spellings.filter_map(|(place, name)| resolver.resolve(&at(place), name));
    let found = found.collect();
    resolver.finish(Some(found))
}

/// The place of a name in a message.
fn at(place: usize) -> String {
    format!("NAMES[{place}]")
}

async fn ask(client: &Client, query: &AgreementQuery) -> Result<Agreement, Failure> {
    let options = ReadOptions::linearizable();
    Ok(client.check_agreement(query, options).await?)
}

/// Asks again after each change that may matter, until there is agreement. Returns the last answer before the deadline.
async fn wait_for(
    client: &Client,
    query: &AgreementQuery,
    deadline: Instant,
) -> Result<Agreement, Failure> {
    let kinds = vec![
        ObjectKind::Member,
        ObjectKind::StorageVersion,
        ObjectKind::StorageState,
        ObjectKind::Roster,
        ObjectKind::Collection,
    ];
    let reflector = client.reflect(kinds).await?;
    loop {
        let agreement = ask(client, query).await?;
        if agreement.agreed || Instant::now() >= deadline {
            return Ok(agreement);
        }
        let next = deadline.min(Instant::now() + PERIOD);
        if let Ok(changed) = timeout_at(next, reflector.changed(agreement.header.revision)).await {
            changed?;
        }
    }
}

#[cfg(test)]
mod tests;
