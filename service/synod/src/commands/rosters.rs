//! `synod rosters`.

use clap::ArgMatches;
use synod_client::{
    Client, DeleteRoster, LabelSelector, ListRosters, MemberId, ReadOptions, ResourceScope,
    Revision, RosterRule, Rosters, SetRoster, Violations,
};

use super::{connect, now, show};
use crate::args::{QueryArgs, RostersArgs, RostersCommand, SetRosterArgs, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(crate) async fn run(args: &RostersArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.command {
        None => list(&args.query, matches).await,
        Some(RostersCommand::List(query)) => list(query, matches).await,
        Some(RostersCommand::Get { scope, query }) => get(scope, query, matches).await,
        Some(RostersCommand::Set(args)) => set(args, matches).await,
        Some(RostersCommand::Delete { scope, write }) => delete(scope, write, matches).await,
    }
}

async fn list(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client.rosters().list(&ListRosters::new()).all().await?;
    show(&views::rosters(&page, now()), query.output)
}

async fn get(scope: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let scope = named(scope)?;
    let client = connect(&query.client, matches).await?;
    let rosters = client.rosters();
    let view = rosters.get(&scope, ReadOptions::linearizable()).await?;
    show(&views::roster(&view, now()), query.output)
}

async fn set(args: &SetRosterArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let set = asked(args)?;
    let scope = set.scope.clone();
    let client = connect(&args.query.client, matches).await?;
    let changed = rosters(&client, args.dry_run).set(set).await;
    // The session would end by itself; that it could not be ended now says nothing about the change.
    let _ = client.close().await;
    show(&views::roster_changed(&changed?, &scope), args.query.output)
}

async fn delete(scope: &str, write: &WriteArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let scope = named(scope)?;
    let delete = DeleteRoster {
        scope: scope.clone(),
        if_revision: write.if_revision.map(Revision::new),
    };
    let client = connect(&write.query.client, matches).await?;
    let deleted = rosters(&client, write.dry_run).delete(delete).await;
    let _ = client.close().await;
    show(
        &views::roster_deleted(&deleted?, &scope),
        write.query.output,
    )
}

fn rosters(client: &Client, dry_run: bool) -> Rosters {
    let rosters = client.rosters();
    if dry_run { rosters.dry_run() } else { rosters }
}

fn asked(args: &SetRosterArgs) -> Result<SetRoster, Failure> {
    let mut found = Violations::new();
    let scope = found.parsed("SCOPE", ResourceScope::parse(&args.scope));
    let ids = args.members.iter();
    let members = ids
        .filter_map(|id| found.parsed("--members", MemberId::parse(id)))
        .collect();
    let labels = LabelSelector::parse(args.labels.as_deref().unwrap_or_default());
    let labels = found.parsed("--labels", labels).unwrap_or_default();
    match scope {
        Some(scope) if found.is_empty() => Ok(SetRoster {
            scope,
            rule: RosterRule {
                members,
                labels,
                least: args.least.unwrap_or(0),
            },
            if_revision: args.if_revision.map(Revision::new),
        }),
        _ => Err(Failure::invalid("this is no roster", found)),
    }
}

fn named(scope: &str) -> Result<ResourceScope, Failure> {
    ResourceScope::parse(scope)
        .map_err(|fault| Failure::invalid("this is no scope", fault.at("SCOPE").into()))
}
