//! `synod rosters`: shows, sets and deletes rosters.

use std::collections::BTreeSet;

use clap::ArgMatches;
use synod_client::{
    Client, DeleteRoster, LabelSelector, ListRosters, MemberId, ReadOptions, ResourceScope,
    Revision, RosterRule, Rosters, ScopeSpelling, SetRoster, Violation, Violations,
};

use super::{connect, now, show};
use crate::args::{QueryArgs, RostersArgs, RostersCommand, SetRosterArgs, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::Resolver;
use crate::output::{self, printable};
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
    let scope = spelling(scope)?;
    let client = connect(&query.client, matches).await?;
    let scope = look_up(&client, &scope).await?;
    let rosters = client.rosters();
    let view = rosters.get(&scope, ReadOptions::linearizable()).await?;
    show(&views::roster(&view, now()), query.output)
}

async fn set(args: &SetRosterArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (scope, rule) = parse(args)?;
    let client = connect(&args.query.client, matches).await?;
    let mut resolver = Resolver::load_unless_new(&client, args.new.new).await?;
    let scope = resolver.resolve_scope(SCOPE, &scope);
    if scope
        .as_ref()
        .is_some_and(|it| resolver.is_over_nothing(it))
    {
        let text = printable(&args.scope);
        output::warn(&format!(
            "{text} is a roster over nothing that is known yet\n"
        ));
    }
    let scope = resolver.finish(scope)?;
    let set = SetRoster {
        scope: scope.clone(),
        rule,
        if_revision: args.if_revision.map(Revision::new),
    };
    let found = set.check();
    if !found.is_empty() {
        let typed = |_: &str| "--exempt-observed".to_owned();
        return Err(Failure::invalid(NO_ROSTER, found).at(typed));
    }
    let changed = rosters(&client, args.dry_run).set(set).await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    show(&views::roster_changed(&changed?, &scope), args.query.output)
}

async fn delete(scope: &str, write: &WriteArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let scope = spelling(scope)?;
    let client = connect(&write.query.client, matches).await?;
    let scope = look_up(&client, &scope).await?;
    let delete = DeleteRoster {
        scope: scope.clone(),
        if_revision: write.if_revision.map(Revision::new),
    };
    let deleted = rosters(&client, write.dry_run).delete(delete).await;
    let _ = client.close().await;
    show(
        &views::roster_deleted(&deleted?, &scope),
        write.query.output,
    )
}

/// The scope of a roster that must be there: that of one resource is looked up.
async fn look_up(client: &Client, scope: &ScopeSpelling) -> Result<ResourceScope, Failure> {
    match scope {
        ScopeSpelling::Many(scope) => Ok(scope.clone()),
        ScopeSpelling::One(spelling) => {
            let resolver = Resolver::load(client).await?;
            let resource = resolver.resolve_one(SCOPE, spelling)?;
            Ok(ResourceScope::Resource(resource))
        }
    }
}

fn rosters(client: &Client, dry_run: bool) -> Rosters {
    let rosters = client.rosters();
    if dry_run { rosters.dry_run() } else { rosters }
}

fn parse(args: &SetRosterArgs) -> Result<(ScopeSpelling, RosterRule), Failure> {
    let mut found = Violations::new();
    let scope = found.parsed(SCOPE, ScopeSpelling::parse(&args.scope));
    let members = found.parsed("--members", members(&args.members));
    let labels = found.parsed("--labels", labels(args.labels.as_deref()));
    let (Some(scope), Some(members), Some(labels)) = (scope, members, labels) else {
        return Err(Failure::invalid(NO_ROSTER, found));
    };
    let rule = RosterRule {
        members,
        labels,
        least: args.least.unwrap_or(0),
        complete: args.complete,
        exempts_observed: args.exempt_observed,
    };
    let found = rule.check();
    if found.is_empty() {
        Ok((scope, rule))
    } else {
        let typed = |field: &str| format!("--{field}");
        Err(Failure::invalid(NO_ROSTER, found).at(typed))
    }
}

/// The place of a scope in a message.
const SCOPE: &str = "SCOPE";
const NO_ROSTER: &str = "this is no roster";

/// An id that is given twice is refused: another member was probably meant.
fn members(ids: &[String]) -> Result<BTreeSet<MemberId>, Violations> {
    let mut found = Violations::new();
    let mut members = BTreeSet::new();
    for id in ids {
        if let Some(member) = found.parsed("", MemberId::parse(id))
            && !members.insert(member)
        {
            found.push(Violation::duplicate(id));
        }
    }
    if found.is_empty() {
        Ok(members)
    } else {
        Err(found)
    }
}

/// An empty selector is refused: it was probably meant to require somebody.
fn labels(text: Option<&str>) -> Result<LabelSelector, Violation> {
    match text {
        None => Ok(LabelSelector::default()),
        Some("") => Err(Violation::required("leave it out to ask for no labels")),
        Some(text) => LabelSelector::parse(text),
    }
}

fn spelling(scope: &str) -> Result<ScopeSpelling, Failure> {
    ScopeSpelling::parse(scope)
        .map_err(|faults| Failure::invalid("this is no scope", faults.at(SCOPE)))
}
