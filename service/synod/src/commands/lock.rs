//! `synod lock` and `synod elect`: run a command while a lease is held.

use std::process::ExitStatus;
use std::time::Duration;

use clap::ArgMatches;
use rustix::process::{Pid, Signal, kill_process};
use synod_client::{Client, Election, ErrorKind, LeadershipEnd, Lock, SemanticVersion};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::connect;
use super::lease::{identity, interrupted, key, options, ttl};
use crate::args::{ElectArgs, LockArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::signals::Signals;

/// How long a command has to end after SIGTERM, while the lease is still held.
const GRACE: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: &LockArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = options(&args.hold)?;
    let client = connect(&args.client, matches).await?;
    let mut signals = Signals::listen()?;
    let lock = if args.no_wait {
        client.try_lock(options).await?
    } else {
        let mut signal = "";
        let over = async { signal = signals.next().await };
        let lock = client.lock_unless(options, over).await?;
        lock.ok_or_else(|| interrupted(signal))?
    };
    let lost = lock.lost();
    let over = async { LeadershipEnd::Lost(lost.await) };
    let ended = match started(&args.command, &lock) {
        Ok(child) => held(child, over, &mut signals).await,
        Err(failure) => Err(failure),
    };
    released(lock).await;
    ended
}

pub(crate) async fn elect(args: &ElectArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&args.client, matches).await?;
    let election = election(&client, args)?;
    let mut signals = Signals::listen()?;
    let mut signal = "";
    let over = async { signal = signals.next().await };
    let lock = election.campaign_unless(over).await?;
    let lock = lock.ok_or_else(|| interrupted(signal))?;
    let ended = match started(&args.command, &lock) {
        Ok(child) => held(child, election.over(&lock), &mut signals).await,
        Err(failure) => Err(failure),
    };
    if let Err(error) = election.withdraw().await {
        tracing::debug!(%error, "the candidate ends by itself");
    }
    released(lock).await;
    ended
}

fn election(client: &Client, args: &ElectArgs) -> Result<Election, Failure> {
    let Some(candidate) = &args.candidate else {
        return Ok(Election::new(client, options(&args.hold)?));
    };
    let version = |text: &str, place: &str| {
        SemanticVersion::parse(text)
            .map_err(|fault| Failure::invalid("this is no version", fault.at(place).into()))
    };
    let binary = version(candidate, "--candidate")?;
    let emulation = match &args.emulates {
        Some(text) => version(text, "--emulates")?,
        None => binary.clone(),
    };
    let Some(holder) = &args.hold.holder else {
        let advice = "give --holder: a candidate has a name of its own";
        return Err(Failure::local("a candidate needs a name", advice));
    };
    Ok(Election::coordinated(
        client,
        key(&args.hold.namespace, &args.hold.name)?,
        identity(holder)?,
        binary,
        emulation,
        ttl(&args.hold)?,
    ))
}

/// Starts the command, with the lease, its holder and its fencing token in the environment.
fn started(command: &[String], lock: &Lock) -> Result<Child, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::local("there is nothing to run", "name a command"));
    };
    let child = Command::new(program)
        .args(arguments)
        .env("SYNOD_LEASE", lock.key().as_str())
        .env("SYNOD_LEASE_HOLDER", lock.holder().as_str())
        .env("SYNOD_FENCING_TOKEN", lock.token().to_string())
        .kill_on_drop(true)
        .spawn();
    child.map_err(|error| {
        let message = format!("{program} cannot be started: {error}");
        Failure::local(message, "check its path and whether it may be run")
    })
}

/// Waits for the command. Ends it when the lease may be lost, when another candidate should lead, or when a signal asks
/// this process to end.
async fn held(
    mut child: Child,
    over: impl Future<Output = LeadershipEnd>,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    tokio::pin!(over);
    tokio::select! {
        biased;
        end = &mut over => match end {
            LeadershipEnd::Lost(error) => {
                // The command must not run beside the next holder of the lease: it has no time left.
                let killed = child.kill().await;
                tracing::debug!(?killed, "the command was killed");
                let message = format!("the lease is lost, and the command was killed: {}", error.message());
                let advice = "run the command again: it waits until the lease is free";
                Err(Failure::of(ErrorKind::StaleEpoch, message).with_advice(advice))
            }
            LeadershipEnd::Preferred(_) => {
                // Any exit status is a success: the command was asked to give way.
                let ended = asked_to_end(&mut child, over).await;
                ended.map(|_| Exit::Ok).or_else(|error| of_status(Err(error)))
            }
        },
        _ = signals.next() => {
            // Only the command's exit status says whether its work was done by then.
            of_status(asked_to_end(&mut child, over).await)
        }
        status = child.wait() => of_status(status),
    }
}

/// Asks the command to end with SIGTERM, and kills it when its grace or the lease is over. Returns its exit status.
async fn asked_to_end(
    child: &mut Child,
    over: impl Future<Output = LeadershipEnd>,
) -> std::io::Result<ExitStatus> {
    let pid = child
        .id()
        .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(pid) = pid {
        // An error means that the command has just ended.
        let _ = kill_process(pid, Signal::TERM);
    }
    let patience = async {
        tokio::select! {
            biased;
            _ = over => {}
            _ = child.wait() => {}
        }
    };
    let _ = timeout(GRACE, patience).await;
    if child.try_wait()?.is_none() {
        child.start_kill()?;
    }
    child.wait().await
}

fn of_status(status: std::io::Result<ExitStatus>) -> Result<Exit, Failure> {
    match status {
        Ok(status) if status.success() => Ok(Exit::Ok),
        Ok(status) => Err(Failure::local(
            format!("the command has failed: {status}"),
            "see what it printed",
        )),
        Err(error) => Err(Failure::local(
            format!("the command cannot be waited for: {error}"),
            "see whether it runs",
        )),
    }
}

async fn released(lock: Lock) {
    if let Err(error) = lock.release().await {
        tracing::debug!(%error, "the lease ends by itself");
    }
}
