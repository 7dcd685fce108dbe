//! `synod demo`: the whole path, on this machine, in less than a minute.
//!
//! Three replicas, three API servers, one server of another kind and their store run as processes of their own. Clients
//! write all the time, while the servers are upgraded one by one, first in report mode, then in vote mode, and the leader
//! of the replicas is killed. One kind of object they keep in Synod, the others in their store. In the last act workers
//! migrate what is stored in the old version still, until a release that cannot read it may join. A fourth API server takes
//! no part at first: what is called safe then says what it assumes, and once a roster asks for that server, nothing is safe
//! until it takes part. Everything is recorded as it happens; the [`check`] at the end reads the recordings, and nothing
//! else, and decides whether every promise was kept.
//!
//! | module | what |
//! |---|---|
//! | [`story`] | what happens, in its order |
//! | [`cluster`], [`servers`], [`workers`], [`recorders`] | the processes of the run |
//! | [`apiserver`], [`store`], [`migrator`] | what runs in them, beside `synod serve` and `synod watch` |
//! | [`clients`], [`survey`] | what goes on meanwhile |
//! | [`release`], [`codec`] | what the servers know, and how they store it |
//! | [`records`], [`check`] | what is recorded, and what must hold |
//! | [`stage`], [`board`], [`picture`], [`screen`] | what is shown |
//! | [`leash`], [`processes`], [`ports`], [`patience`] | nothing stays behind, nothing waits for ever |

mod apiserver;
mod board;
mod check;
mod clients;
mod clock;
mod cluster;
mod codec;
mod journal;
mod leash;
mod migrator;
mod patience;
mod picture;
mod ports;
mod processes;
mod recorders;
mod records;
mod release;
mod report;
mod run;
mod screen;
mod servers;
mod stage;
mod store;
mod story;
mod survey;
mod workers;

use std::future::ready;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::http;
use crate::signals::Signals;
use patience::until;
use run::{Run, Stuck};
use screen::Screen;
use stage::Stage;

pub(crate) use apiserver::ApiServerArgs;
pub(crate) use leash::LeashArgs;
pub(crate) use migrator::MigratorArgs;
pub(crate) use store::StoreArgs;

/// How long to try to delete the files of a run.
const DISCARD_LIMIT: Duration = Duration::from_secs(2);

/// Lets everything happen, then checks it.
///
/// # Errors
///
/// Something did not come to pass, or the recordings cannot be read. A check that fails is no error of this kind: it is
/// printed, and the exit code is 1.
pub(crate) async fn run(args: &DemoArgs) -> Result<Exit, Failure> {
    let home = Home::new(args.keep.as_deref())?;
    let stage = Stage::new();
    stage.say(format!(
        "everything is recorded in {}",
        home.path().display()
    ));
    match happen(args, home.path(), &stage).await? {
        Ending::Told => {}
        Ending::Interrupted(signal) => {
            home.discard().await;
            let message = format!("interrupted by {signal}: every process of the demo is ended");
            return Err(Failure::local(message, "nothing; or run it again"));
        }
        Ending::Stuck(stuck) => {
            let phase = stage.look(|shown| shown.phase.clone());
            let message = format!("the demo ended early, at {phase:?}: {stuck}");
            return Err(Failure::local(
                message,
                format!("see the logs in {}", home.keep().display()),
            ));
        }
    }
    let checked = check::check(home.path());
    let verdict = match checked {
        Ok(verdict) => verdict,
        Err(fault) => {
            let message = format!("the recordings cannot be checked: {fault}");
            return Err(Failure::local(
                message,
                format!("see {}", home.keep().display()),
            ));
        }
    };
    let failed = report::print(&verdict, args.violation)?;
    if failed || args.keep.is_some() {
        let path = home.keep();
        crate::output::print(&format!(
            "\nThe recordings and logs are in {}\n",
            path.display()
        ))?;
    } else {
        home.discard().await;
    }
    Ok(if failed { Exit::Failure } else { Exit::Ok })
}

/// How the story ended.
enum Ending {
    Told,
    Stuck(Stuck),
    Interrupted(&'static str),
}

/// Tells the story and shows it. Whatever ends it, every process of it is ended when this returns.
async fn happen(args: &DemoArgs, home: &Path, stage: &Stage) -> Result<Ending, Failure> {
    let mut signals = Signals::listen()?;
    let mut screen = Screen::new(stage.clone(), args.plain);
    let told = async {
        let run = Run::new(home, stage.clone())?;
        story::tell(&run, args.violation).await
    };
    let ending = tokio::select! {
        biased;
        signal = signals.next() => Ending::Interrupted(signal),
        told = told => told.map_or_else(Ending::Stuck, |()| Ending::Told),
        () = screen.show() => Ending::Told,
    };
    screen.finish();
    Ok(ending)
}

/// One of the demo's API servers.
///
/// # Errors
///
/// It cannot do what it is for.
pub(crate) async fn run_apiserver(args: &ApiServerArgs) -> Result<Exit, Failure> {
    apiserver::run(args).await
}

/// One of the demo's migration workers.
///
/// # Errors
///
/// It cannot do what it is for.
pub(crate) async fn run_migrator(args: &MigratorArgs) -> Result<Exit, Failure> {
    migrator::run(args).await
}

/// The demo's store.
///
/// # Errors
///
/// It cannot do what it is for.
pub(crate) async fn run_store(args: &StoreArgs) -> Result<Exit, Failure> {
    store::run(args).await
}

/// Any process of the demo, before it is what it will be.
///
/// # Errors
///
/// It cannot become it.
pub(crate) fn run_leash(args: &LeashArgs) -> Result<Exit, Failure> {
    leash::run(args)
}

/// Where a run has its files.
enum Home {
    /// Deleted at the end.
    Temporary(TempDir),
    /// Kept.
    Named(PathBuf),
}

impl Home {
    fn new(keep: Option<&Path>) -> Result<Self, Failure> {
        let fault = |error: std::io::Error| {
            let message = format!("the demo has no place for its files: {error}");
            Failure::local(
                message,
                "name a directory of yours with --keep, or set TMPDIR",
            )
        };
        let Some(path) = keep else {
            return Ok(Self::Temporary(
                tempfile::Builder::new()
                    .prefix("synod-demo-")
                    .tempdir()
                    .map_err(fault)?,
            ));
        };
        std::fs::create_dir_all(path).map_err(fault)?;
        if std::fs::read_dir(path).map_err(fault)?.next().is_some() {
            let message = format!("--keep: {} is not empty", path.display());
            return Err(
                Failure::local(message, "name a directory that is new or empty").in_usage(),
            );
        }
        Ok(Self::Named(path.canonicalize().map_err(fault)?))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Temporary(directory) => directory.path(),
            Self::Named(path) => path,
        }
    }

    /// Deletes the files, unless they were to be kept.
    async fn discard(self) {
        let Self::Temporary(directory) = self else {
            return;
        };
        let path = directory.keep();
        // A process that was killed a moment ago may still hold a file open, or make one.
        let deleting = || ready(std::fs::remove_dir_all(&path).map_err(|error| error.to_string()));
        // What is left behind in the end is in a directory that the system cleans up.
        let _ = until("the files of the demo deleted", DISCARD_LIMIT, deleting).await;
    }

    /// The path, and from now on the files stay.
    fn keep(self) -> PathBuf {
        match self {
            Self::Temporary(directory) => directory.keep(),
            Self::Named(path) => path,
        }
    }
}
