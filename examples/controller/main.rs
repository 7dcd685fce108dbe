//! A leader-elected controller that keeps its history in Synod.
//!
//! It manages workers, each labelled with the ControllerRevision that it was made from. When the wanted state changes,
//! it relabels the workers that already conform, updates in place those that differ in their replicas alone, and
//! recreates the others. Only the leading instance acts. Run it against a cluster:
//! `cargo run --example controller -- 127.0.0.1:4600`.

mod controller;

use std::error::Error;
use std::io::Write as _;

use controller::{Controller, Worker};
use synod_client::{
    Client, Election, HolderIdentity, LeaseKey, Lock, LockOptions, ReadOptions, RollbackTarget,
    Violations,
};

type Failed = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let mut controller = Controller::new(&client)?;
    let before_history = Worker {
        revision: None,
        runs: String::new(),
        made: 1,
    };
    controller
        .workers
        .insert("web-0".to_owned(), before_history);

    let (first, second) = (election(&client, "one")?, election(&client, "two")?);
    let lead = first.campaign().await?;
    let follow = async { second.campaign().await.map_err(Failed::from) };
    let work = async {
        let worked = act(&mut controller, &lead).await;
        // The waiting instance gets the lease at the revision of the release.
        lead.release().await?;
        worked
    };
    let (lead, ()) = tokio::try_join!(follow, work)?;
    writeln!(std::io::stdout(), "{} leads now", lead.holder())?;
    lead.release().await?;
    controller.history().delete(false).await?;
    client.close().await?;
    Ok(())
}

/// The work of the leading instance: it brings the workers to each wanted state, and rolls back once.
async fn act(controller: &mut Controller, lead: &Lock) -> Result<(), Failed> {
    let mut out = std::io::stdout();
    writeln!(out, "{} leads", lead.holder())?;
    let known = controller
        .history()
        .read(ReadOptions::linearizable())
        .await?;
    writeln!(out, "{} ControllerRevisions before", known.items.len())?;
    for target in [
        r#"{"image":"web:1","replicas":1}"#,
        r#"{"image":"web:1","replicas":2}"#,
        r#"{"image":"web:2","replicas":2}"#,
    ] {
        lead.check()?;
        for (worker, step) in controller.want(target).await? {
            writeln!(out, "{target}: {worker} {step:?}")?;
        }
    }
    lead.check()?;
    let history = controller.history();
    let back = history
        .rollback(RollbackTarget::Previous, None, false)
        .await?;
    let wanted = back.revision.ok_or("the answer came too late")?;
    let wanted = String::from_utf8(wanted.data.bytes().to_vec())?;
    for (worker, step) in controller.want(&wanted).await? {
        writeln!(out, "back to {wanted}: {worker} {step:?}")?;
    }
    Ok(())
}

/// An election in which the holder of this lease leads.
fn election(client: &Client, instance: &str) -> Result<Election, Violations> {
    let key = LeaseKey::new("default", "controller-example")?;
    let holder = HolderIdentity::parse(&format!("controller-{instance}"))?;
    Ok(Election::new(client, LockOptions::new(key).holder(holder)))
}

fn endpoints() -> Vec<String> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.is_empty() {
        return vec!["127.0.0.1:4600".to_owned()];
    }
    given
}
