//! Runs the demo from its beginning to its end, then checks it.

use std::path::Path;

use synod_terminal::exit::Exit;
use synod_terminal::failure::Failure;
use synod_terminal::signals::Signals;

use crate::args::DemoArgs;
use crate::home::Home;
use crate::run::{Run, Stuck};
use crate::screen::Screen;
use crate::stage::Stage;
use crate::{check, report, story};

/// Runs the demo, then checks its recordings.
///
/// # Errors
///
/// The demo could not go on, or the recordings cannot be read. A check that fails is no such error: it is printed, and
/// the exit code is 1.
pub async fn run(args: &DemoArgs) -> Result<Exit, Failure> {
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
        synod_terminal::output::print(&format!(
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

/// Runs the story and shows it. Every process of the story has ended when this returns.
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
