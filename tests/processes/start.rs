//! Every command of `docs/start.md`, in its order, in one shell beside a cluster of its own, with what it prints.
//!
//! A block of `sh` is given to the shell as a whole, and must succeed. In a block of `console` a line that begins with `$ ` is a
//! command, and the lines below it are what it prints. There `...` stands for any text of a line, and on a line of its own for
//! any lines; runs of spaces are alike. A command of `LOOKS` is repeated until it prints what is written.

mod page;
mod session;

use page::{Step, matches, steps};
use session::Session;

use crate::waiting::{eventually, within};

const PAGE: &str = "docs/start.md";

/// The block whose work the test has done before: the program and the voter are built, and on the path.
const PREPARED: &str = "cargo build ";

/// Commands that change nothing, and may come too early.
const LOOKS: [&str; 8] = [
    "cat ",
    "grep ",
    "synod check-drop ",
    "synod get ",
    "synod members",
    "synod migrations list",
    "synod status",
    "synod storage-versions ",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_the_first_quarter_of_an_hour_prints_what_is_written() {
    let text = std::fs::read_to_string(synod_tests::checkout().join(PAGE));
    let steps = steps(&text.expect("there is a page"));
    assert!(steps.len() > 20, "{PAGE} has lost its commands: {steps:#?}");
    let mut session = Session::start();
    for step in &steps {
        if !step.command.starts_with(PREPARED) {
            take(&mut session, step).await;
        }
    }
    let unused = LOOKS.iter().filter(|look| {
        let is_used = |step: &Step| step.command.starts_with(**look);
        !steps.iter().any(is_used)
    });
    assert_eq!(unused.count(), 0, "a row of LOOKS is about no command");
}

/// Gives the command of a step, and fails unless it prints what is written.
async fn take(session: &mut Session, step: &Step) {
    let Step { line, command, .. } = step;
    let what = format!("{PAGE}:{line}: what is written below `{command}`");
    if step.is_compared && LOOKS.iter().any(|look| command.starts_with(look)) {
        return eventually(&what, async || {
            let printed = session.give(command).await;
            let is_so = matches(&step.expected, &printed.lines);
            is_so.then_some(()).ok_or_else(|| printed.lines.join("\n"))
        })
        .await;
    }
    let printed = within(&what, session.give(command)).await;
    let lines = printed.lines.join("\n");
    if step.is_compared {
        assert!(
            matches(&step.expected, &printed.lines),
            "{what}; it printed:\n{lines}"
        );
    } else {
        assert_eq!(
            printed.code, 0,
            "{PAGE}:{line}: `{command}` printed:\n{lines}"
        );
    }
}
