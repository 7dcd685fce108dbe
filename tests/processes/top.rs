//! `synod top` on a terminal, which it leaves as it was.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::process::Command;

use crate::cluster::Cluster;
use crate::program::synod;
use crate::waiting::{eventually, within};

/// What leaves the other screen.
const LEAVES: &str = "\u{1b}[?1049l";

/// Ctrl-C, as a terminal sends it that interprets no keys.
const INTERRUPT: &[u8] = &[3];

/// A terminal: the end of the person at it, and that of the program.
struct Terminal {
    person: File,
    program: OwnedFd,
}

impl Terminal {
    fn open() -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let person = openpt(flags).expect("there are terminals");
        grantpt(&person).expect("it is ours");
        unlockpt(&person).expect("it is ours");
        let name = ptsname(&person, Vec::new()).expect("it has a name");
        let program = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
        let program = program.expect("it can be opened");
        let size = Winsize {
            ws_row: 40,
            ws_col: 160,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&program, size).expect("it has a size");
        Self {
            person: person.into(),
            program,
        }
    }

    fn end(&self) -> Stdio {
        self.program
            .try_clone()
            .expect("it can be used twice")
            .into()
    }

    fn modes(&self) -> LocalModes {
        let modes = tcgetattr(&self.program);
        modes.expect("a terminal has modes").local_modes
    }

    /// What is drawn on it, for as long as the program runs.
    fn drawn(&self) -> Arc<Mutex<String>> {
        let drawn = Arc::new(Mutex::new(String::new()));
        let (mut person, read) = (self.person.try_clone(), Arc::clone(&drawn));
        // It ends with the terminal.
        std::thread::spawn(move || {
            let person = person.as_mut().expect("it can be used twice");
            let mut bytes = [0; 4_096];
            while let Ok(count @ 1..) = person.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]);
                read.lock().expect("nobody panics with it").push_str(&text);
            }
        });
        drawn
    }
}

// Guarantee: F-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn top_draws_until_q_or_ctrl_c_is_typed_and_leaves_the_terminal_as_it_was() {
    let cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    let endpoint = cluster.endpoint(leader);
    for key in [&b"q"[..], INTERRUPT] {
        let mut terminal = Terminal::open();
        let before = terminal.modes();
        let drawn = terminal.drawn();
        let mut top = Command::new(synod())
            .args(["top", "--endpoints", &endpoint])
            .stdin(terminal.end())
            .stdout(terminal.end())
            .stderr(terminal.end())
            .kill_on_drop(true)
            .spawn()
            .expect("the program can be started");
        let shown = || drawn.lock().expect("nobody panics with it").clone();
        // Rates are known from the second round on.
        eventually("two rounds of top", async || {
            let shown = shown();
            let rounds = shown.matches("REVISIONS/S").count();
            let all = ["leader", "follower", "q quits"].map(|word| shown.contains(word));
            (rounds > 1 && all == [true; 3]).then_some(()).ok_or(shown)
        })
        .await;
        assert_ne!(terminal.modes(), before, "keys are read one by one");
        terminal.person.write_all(key).expect("it takes keys");
        let ended = within("the end of top", top.wait()).await;
        assert!(ended.expect("it is a child").success());
        assert_eq!(terminal.modes(), before);
        eventually("the screen of before", async || {
            let shown = shown();
            shown.contains(LEAVES).then_some(()).ok_or(shown)
        })
        .await;
    }
    cluster.finish().await;
}
