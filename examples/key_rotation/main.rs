//! A key that is rotated while servers write.
//!
//! Two servers encrypt what they store, each write with the key that its permit names. They get a new key one after the
//! other; it is used once both hold it, a worker rewrites what the old one encrypts, and then the old one may be thrown
//! away. Run it against a cluster: `cargo run --example key_rotation -- 127.0.0.1:4600`.

mod keyring;
mod server;
mod store;

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use keyring::{Keyring, Secret};
use server::Server;
use store::{Rewriting, Store};
use synod_client::{
    ApiVersion, Client, DeleteRoster, ErrorKind, ListMembers, ListStorageVersions, MemberId,
    Migrator, MigratorOptions, ReadOptions, ResourceScope, RosterRule, Safety, SetRoster, Topic,
    WorkerName,
};
use tokio::time::{sleep, timeout};

type Failed = Box<dyn Error + Send + Sync>;

/// How long the program waits for each thing that must happen.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut out = std::io::stdout();
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let topic = Topic::parse("keys/rotated.example.io")?;
    let old = Secret::generate(ApiVersion::parse("aesgcm/key-2025")?)?;
    let new = Secret::generate(ApiVersion::parse("aesgcm/key-2026")?)?;
    let store = Store::default();
    ask_for_two(&client, &topic).await?;

    let one = Server::start(&client, &topic, &store, "one", &[&old]).await?;
    let two = Server::start(&client, &topic, &store, "two", &[&old]).await?;
    for number in 0..5 {
        one.write(&format!("secret-{number}"), "the old text")
            .await?;
    }
    writeln!(out, "one has written 5 objects: {}", store.told())?;
    let checked = check(&client, &topic, &old).await?;
    writeln!(out, "is {} free? {}", old.name(), told(&checked))?;
    if checked.is_safe() {
        return Err("a key that encrypts objects is called free".into());
    }

    // Restarted one after the other, as by a change of their configuration. The new key comes last: it is preferred.
    one.stop().await?;
    let one = Server::start(&client, &topic, &store, "one", &[&old, &new]).await?;
    one.write("secret-0", "written by one, which prefers the new key")
        .await?;
    writeln!(
        out,
        "two does not hold the new key, so one writes with the old: {}",
        store.told()
    )?;
    two.stop().await?;
    let two = Server::start(&client, &topic, &store, "two", &[&old, &new]).await?;
    timeout(PATIENCE, one.writes_with(new.name())).await??;
    one.write("secret-0", "written by one").await?;
    writeln!(out, "both hold it, so one writes with it: {}", store.told())?;

    let checked = rewrite(&client, &topic, &store, [&old, &new]).await?;
    writeln!(
        out,
        "is {} free? {}, with all rewritten: {}",
        old.name(),
        told(&checked),
        store.told()
    )?;

    one.stop().await?;
    let one = Server::start(&client, &topic, &store, "one", &[&new]).await?;
    two.stop().await?;
    let two = Server::start(&client, &topic, &store, "two", &[&new]).await?;
    writeln!(
        out,
        "both hold the new key alone, and two reads \"{}\"",
        two.read("secret-4")?
    )?;
    let ids = [one.id().clone(), two.id().clone()];
    for server in [one, two] {
        server.stop().await?;
    }
    clean_up(&client, &topic, &ids).await?;
    writeln!(
        out,
        "both have left, and nothing of it is left in the cluster"
    )?;
    client.close().await?;
    Ok(())
}

/// Removes what the cluster knows of the topic, once nobody reports it, and its roster. Fails if anything is left.
async fn clean_up(client: &Client, topic: &Topic, ids: &[MemberId]) -> Result<(), Failed> {
    client.forget_resource(topic.resource(), None).await?;
    let (scope, if_revision) = (scope(topic), None);
    let roster = DeleteRoster { scope, if_revision };
    client.rosters().delete(roster).await?;
    let left = left(client, topic, ids).await?;
    if !left.is_empty() {
        return Err(format!("left behind: {}", left.join(", ")).into());
    }
    Ok(())
}

/// What the cluster still has of the members, the topic and its roster.
async fn left(client: &Client, topic: &Topic, ids: &[MemberId]) -> Result<Vec<String>, Failed> {
    let members = client.members(ListMembers::new()).all().await?.items;
    let members = members.into_iter().map(|view| view.member.id);
    let mut left: Vec<String> = members
        .filter(|id| ids.contains(id))
        .map(|id| format!("the member {id}"))
        .collect();
    let states = ListStorageVersions::new().with_unreported();
    let states = client.storage_versions(states).all().await?.items;
    let mut states = states.iter().filter_map(|it| it.storage_state.as_ref());
    if states.any(|state| state.resource == *topic.resource()) {
        left.push(format!("the topic {topic}"));
    }
    let scope = scope(topic);
    match client.rosters().get(&scope, ReadOptions::default()).await {
        Ok(_) => left.push(format!("the roster of {scope}")),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    Ok(left)
}

/// Rewrites what the old key encrypts, until nothing may need it any more. Returns the check that says so.
async fn rewrite(
    client: &Client,
    topic: &Topic,
    store: &Store,
    [old, new]: [&Secret; 2],
) -> Result<Safety, Failed> {
    let options = MigratorOptions::new(
        WorkerName::parse("example")?,
        BTreeSet::from([topic.resource().clone()]),
    );
    let keyring = Keyring::holding(&[old, new])?;
    let rewriting = Rewriting::new(store.clone(), keyring);
    let worker = Migrator::new(client.clone(), rewriting, options);
    tokio::select! {
        biased;
        ended = worker.run() => {
            ended?;
            Err("the worker has ended".into())
        }
        waited = timeout(PATIENCE, free(client, topic, old)) => waited?,
    }
}

/// Asks that two servers speak before anything counts: a key is not free for sure while somebody may be missing.
async fn ask_for_two(client: &Client, topic: &Topic) -> Result<(), Failed> {
    let set = SetRoster {
        scope: scope(topic),
        rule: RosterRule {
            least: 2,
            ..RosterRule::default()
        },
        if_revision: None,
    };
    client.rosters().set(set).await?;
    Ok(())
}

fn scope(topic: &Topic) -> ResourceScope {
    ResourceScope::Resource(topic.resource().clone())
}

async fn check(client: &Client, topic: &Topic, key: &Secret) -> Result<Safety, Failed> {
    let checked = client.check_drop(topic.resource(), key.name(), ReadOptions::default());
    Ok(checked.await?)
}

/// Waits until nothing may need a key any more. Nothing announces the end of a drain, so it asks again.
async fn free(client: &Client, topic: &Topic, key: &Secret) -> Result<Safety, Failed> {
    loop {
        let checked = check(client, topic, key).await?;
        if checked.is_safe_for_sure() {
            return Ok(checked);
        }
        sleep(Duration::from_millis(100)).await;
    }
}

fn told(checked: &Safety) -> String {
    if checked.is_safe_for_sure() {
        return "yes".to_owned();
    }
    let reasons = checked.dangers.iter().map(|danger| danger.message.as_str());
    format!("no: {}", reasons.collect::<Vec<_>>().join("; "))
}

fn endpoints() -> Vec<String> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.is_empty() {
        return vec!["127.0.0.1:4600".to_owned()];
    }
    given
}
