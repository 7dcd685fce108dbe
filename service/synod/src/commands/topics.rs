//! `synod topics`: what members agree on, encodings and all else.

use clap::ArgMatches;
use synod_client::{
    ApiVersion, ListStorageVersions, ReadOptions, ResourceSpelling, Topic, TopicKind, Violations,
};

use super::{connect, now, safety, show};
use crate::args::{QueryArgs, TopicsArgs, TopicsCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::Resolver;
use crate::views;

pub(crate) async fn run(args: &TopicsArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.command {
        TopicsCommand::List {
            kind,
            unreported,
            query,
        } => list(kind.map(|kind| kind.kind()), *unreported, query, matches).await,
        TopicsCommand::Get { topic, query } => get(topic, query, matches).await,
        TopicsCommand::History { topic, query } => history(topic, query, matches).await,
        TopicsCommand::Check {
            topic,
            value,
            assume_complete,
            query,
        } => check(topic, value, *assume_complete, query, matches).await,
    }
}

async fn list(
    kind: Option<TopicKind>,
    unreported: bool,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let list = if unreported {
        ListStorageVersions::new().with_unreported()
    } else {
        ListStorageVersions::new()
    };
    let mut page = client.storage_versions(list).all().await?;
    if let Some(kind) = kind {
        page.items.retain(|item| {
            let version = item.storage_version.as_ref();
            let reported = version.map(|version| &version.resource);
            let kept = item.storage_state.as_ref().map(|state| &state.resource);
            reported.or(kept).map(TopicKind::of) == Some(kind)
        });
    }
    show(&views::topics(&page, now()), query.output)
}

async fn get(topic: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spelling = spelling(topic)?;
    let client = connect(&query.client, matches).await?;
    let resource = Resolver::load(&client)
        .await?
        .resolve_one(TOPIC, &spelling)?;
    let view = client
        .storage_version(&resource, ReadOptions::linearizable())
        .await?;
    show(&views::topic(&view, now()), query.output)
}

async fn history(topic: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spelling = spelling(topic)?;
    let client = connect(&query.client, matches).await?;
    let resource = Resolver::load(&client)
        .await?
        .resolve_one(TOPIC, &spelling)?;
    let history = client
        .agreement_history(&resource, ReadOptions::linearizable())
        .await?;
    show(&views::history(&history, now()), query.output)
}

async fn check(
    topic: &str,
    value: &str,
    assume_complete: bool,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let mut found = Violations::new();
    let topic = found.parsed(TOPIC, parse(topic));
    let value = found.parsed("VALUE", ApiVersion::parse(value));
    let (Some(topic), Some(value)) = (topic, value) else {
        return Err(Failure::invalid("this is no value of a topic", found));
    };
    let client = connect(&query.client, matches).await?;
    let resource = Resolver::load(&client).await?.resolve_one(TOPIC, &topic)?;
    let options = ReadOptions::linearizable();
    let verdict = client.check_drop(&resource, &value, options).await?;
    safety::answer(&verdict, assume_complete, query.output)
}

/// The place of a topic in a message.
const TOPIC: &str = "TOPIC";

fn spelling(topic: &str) -> Result<ResourceSpelling, Failure> {
    parse(topic).map_err(|faults| Failure::invalid("this is no topic", faults.at(TOPIC)))
}

/// Reads the text of a topic: of a resource only as one.
fn parse(topic: &str) -> Result<ResourceSpelling, Violations> {
    Topic::parse(topic)?;
    ResourceSpelling::parse(topic)
}
