//! A key that is rotated while servers write.
//!
//! Three servers encrypt what they store, each write with the key that its permit names. They get a new key one after the
//! other, and one of them is killed meanwhile; it is used once all hold it, and a server that is rolled back to the old one
//! is not let in. A worker rewrites what the old one encrypts, and then the old one may be thrown away. That takes until no
//! write of the killed server can land any more: 85 seconds with the settings of a new cluster.
//!
//! Run it against a cluster: `cargo run --example key_rotation -- 127.0.0.1:4600`.

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

/// How long the program waits for each thing that must happen. Writes of a killed server may land for as long as it is a
/// member, and for `write_grace` after that.
const PATIENCE: Duration = Duration::from_secs(180);

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let topic = Topic::parse("keys/rotated.example.io")?;
    let old = Secret::generate(ApiVersion::parse("aesgcm/key-2025")?)?;
    let new = Secret::generate(ApiVersion::parse("aesgcm/key-2026")?)?;
    let store = Store::default();
    ask_for_three(&client, &topic).await?;

    let start = async |name: &str, secrets: &[&Secret]| {
        Server::start(&client, &topic, &store, name, secrets).await
    };
    let one = start("one", &[&old]).await?;
    let two = start("two", &[&old]).await?;
    let three = start("three", &[&old]).await?;
    for (number, server) in (0..6).zip([&one, &two, &three].into_iter().cycle()) {
        let name = format!("secret-{number}");
        server.write(&name, "the old text").await?;
    }
    say(&format!("three servers have written: {}", store.told()))?;
    let checked = check(&client, &topic, &old).await?;
    say(&format!("is {} free? {}", old.name(), told(&checked)))?;
    if checked.is_safe() {
        return Err("a key that encrypts objects is called free".into());
    }

    // Restarted one after the other, as by a change of their configuration. The new key comes last: it is preferred.
    one.stop().await?;
    let one = start("one", &[&old, &new]).await?;
    two.stop().await?;
    let two = start("two", &[&old, &new]).await?;
    one.write("secret-0", "written by one, which prefers the new key")
        .await?;
    say(&format!(
        "three does not hold the new key, so one writes with the old: {}",
        store.told()
    ))?;
    three.kill();
    let three = start("three", &[&old, &new]).await?;
    timeout(PATIENCE, one.writes_with(new.name())).await??;
    one.write("secret-0", "written by one").await?;
    say(&format!(
        "all hold it, so one writes with it: {}",
        store.told()
    ))?;

    // Two is rolled back, and would be asked for objects that it cannot decrypt.
    two.stop().await?;
    match start("two", &[&old]).await {
        Ok(_) => return Err("a server that lacks the key in use was let in".into()),
        Err(refused) => say(&format!("two is rolled back, and not let in: {refused}"))?,
    }
    let two = start("two", &[&old, &new]).await?;

    say("three was killed, so a write with the old key may still land: the worker waits for that")?;
    let checked = rewrite(&client, &topic, &store, [&old, &new]).await?;
    say(&format!(
        "is {} free? {}, with all rewritten: {}",
        old.name(),
        told(&checked),
        store.told()
    ))?;

    let ids = throw_away(&client, &topic, &store, [one, two, three], &new).await?;
    clean_up(&client, &topic, &ids).await?;
    say("all have left, and nothing of it is left in the cluster")?;
    client.close().await?;
    Ok(())
}

/// Restarts each server with the new key alone, has it read an object, and stops it.
async fn throw_away(
    client: &Client,
    topic: &Topic,
    store: &Store,
    servers: [Server; 3],
    new: &Secret,
) -> Result<Vec<MemberId>, Failed> {
    let mut ids = Vec::new();
    for server in servers {
        let name = server.name().to_owned();
        server.stop().await?;
        let server = Server::start(client, topic, store, &name, &[new]).await?;
        say(&format!(
            "{name} holds the new key alone, and reads \"{}\"",
            server.read("secret-4")?
        ))?;
        ids.push(server.id().clone());
        server.stop().await?;
    }
    Ok(ids)
}

fn say(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
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

/// Asks that three servers speak before anything counts: a key is not free for sure while somebody may be missing.
async fn ask_for_three(client: &Client, topic: &Topic) -> Result<(), Failed> {
    let set = SetRoster {
        scope: scope(topic),
        rule: RosterRule {
            least: 3,
            // These three are all that there are.
            complete: true,
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
