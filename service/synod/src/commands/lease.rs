//! `synod lease`: shows, takes, renews and releases leases.

use std::time::Duration;

use clap::ArgMatches;
use synod_client::{
    Client, DeleteLease, ErrorKind, FencingToken, HolderIdentity, LeaseKey, Lock, LockOptions,
    Preconditions, ReadOptions, ReleaseLease, Revision, Ttl,
};
use tokio::time::timeout;

use super::{connect, now, show};
use crate::args::{HoldArgs, LeaseCommand, QueryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::signals::Signals;
use crate::{output, views};

pub(crate) async fn run(command: &LeaseCommand, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        LeaseCommand::List { namespace, query } => list(namespace.as_deref(), query, matches).await,
        LeaseCommand::Get {
            name,
            namespace,
            query,
        } => get(&key(namespace, name)?, query, matches).await,
        LeaseCommand::Acquire { hold, wait, client } => {
            let options = options(hold)?;
            let client = connect(client, matches).await?;
            let lock = match wait {
                None => client.try_lock(options).await?,
                Some(limit) => waited(&client, *limit, options).await?,
            };
            output::print(&format!("{} {}\n", lock.token(), lock.holder()))?;
            Ok(Exit::Ok)
        }
        LeaseCommand::Renew {
            name,
            namespace,
            token,
            client,
        } => {
            let (key, token) = (key(namespace, name)?, fencing_token(*token));
            let client = connect(client, matches).await?;
            client.send_renew_lease(&key, token, None).await?;
            Ok(Exit::Ok)
        }
        LeaseCommand::Delete {
            name,
            namespace,
            if_revision,
            client,
        } => {
            let preconditions = Preconditions {
                uid: None,
                resource_version: if_revision.map(Revision::new),
            };
            let (key, client) = (key(namespace, name)?, connect(client, matches).await?);
            let delete = DeleteLease { key, preconditions };
            client.delete_lease(delete).await?;
            output::print("deleted\n")?;
            Ok(Exit::Ok)
        }
        LeaseCommand::Release {
            name,
            namespace,
            holder,
            token,
            client,
        } => {
            let release = ReleaseLease {
                key: key(namespace, name)?,
                holder: identity(holder)?,
                token: token.map(fencing_token),
            };
            let client = connect(client, matches).await?;
            let released = client.send_release_lease(release).await?;
            let text = if released.changed {
                "released\n"
            } else {
                "nothing to release\n"
            };
            output::print(text)?;
            Ok(Exit::Ok)
        }
    }
}

async fn list(
    namespace: Option<&str>,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client
        .leases(namespace, ReadOptions::linearizable())
        .await?;
    show(&views::leases(&page, now()), query.output)
}

async fn get(key: &LeaseKey, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let view = client.lease(key, ReadOptions::linearizable()).await?;
    show(&views::lease(&view, now()), query.output)
}

/// Waits for the lease for at most `limit`. Gives up the place in the queue then, or when a signal asks to end.
async fn waited(client: &Client, limit: Duration, options: LockOptions) -> Result<Lock, Failure> {
    let mut signals = Signals::listen()?;
    let mut signal = None;
    let over = async { signal = timeout(limit, signals.next()).await.ok() };
    if let Some(lock) = client.lock_unless(options, over).await? {
        return Ok(lock);
    }
    if let Some(signal) = signal {
        return Err(interrupted(signal));
    }
    let message = format!(
        "the lease could not be had within {limit:?}: others hold it or are ahead in the queue, or no replica answered"
    );
    let advice = "wait longer, or see with `synod lease get` who holds it";
    Err(Failure::of(ErrorKind::DeadlineExceeded, message).with_advice(advice))
}

/// A signal came before the lease was held.
pub(super) fn interrupted(signal: &str) -> Failure {
    let message = format!("interrupted by {signal} while waiting for the lease");
    Failure::local(message, "nothing was run, and nothing is held")
}

/// The options of the lock, from the arguments.
pub(super) fn options(hold: &HoldArgs) -> Result<LockOptions, Failure> {
    let key = key(&hold.namespace, &hold.name)?;
    let mut options = LockOptions::new(key).ttl(ttl(hold)?);
    if let Some(holder) = &hold.holder {
        options = options.holder(identity(holder)?);
    }
    Ok(options)
}

pub(super) fn key(namespace: &str, name: &str) -> Result<LeaseKey, Failure> {
    LeaseKey::new(namespace, name).map_err(|faults| {
        let place = |field: &str| match field {
            "name" => "NAME".to_owned(),
            other => format!("--{other}"),
        };
        Failure::invalid("this is no lease", faults).at(place)
    })
}

pub(super) fn ttl(hold: &HoldArgs) -> Result<Ttl, Failure> {
    let millis = u64::try_from(hold.ttl.as_millis()).unwrap_or(u64::MAX);
    Ttl::from_millis(millis)
        .map_err(|fault| Failure::invalid("this is no TTL", fault.at("--ttl").into()))
}

pub(super) fn identity(text: &str) -> Result<HolderIdentity, Failure> {
    HolderIdentity::parse(text)
        .map_err(|fault| Failure::invalid("this is no holder", fault.at("--holder").into()))
}

fn fencing_token(number: u64) -> FencingToken {
    FencingToken::new(Revision::new(number))
}
