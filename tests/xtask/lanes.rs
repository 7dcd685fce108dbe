//! Steps that run beside each other: those that wait leave most of a machine to those that compute.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::step::{Ended, Ending, Step};
use crate::tools;

/// How a step takes it that others run beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// It waits, for replicas that elect or for time that passes, and fails if something comes too late.
    Prompt,
    /// It waits, and for as long as it has to.
    Patient,
    /// It computes.
    Computes,
}

impl Lane {
    /// All of them are open at once, for one step each.
    const ALL: [Self; 3] = [Self::Prompt, Self::Patient, Self::Computes];

    /// The words before the command line of a step: each lane gets what those before it leave of the processors.
    pub(crate) const fn prefix(self) -> &'static [&'static str] {
        match self {
            Self::Prompt => &[],
            Self::Patient => &["nice", "-n", "10"],
            Self::Computes => &["nice", "-n", "19"],
        }
    }
}

/// Runs all `steps`, in the order of their endings. The output of each is printed when it ends.
pub(crate) fn run(steps: Vec<Step>) -> Vec<Ended> {
    let (ended, printing) = (Mutex::new(Vec::new()), Mutex::new(()));
    let queue = Mutex::new(VecDeque::from(steps));
    let next = |lane| {
        let mut queue = locked(&queue);
        let at = queue.iter().position(|step| step.lane() == Some(lane))?;
        queue.remove(at)
    };
    thread::scope(|scope| {
        for lane in Lane::ALL {
            let (next, ended, printing) = (&next, &ended, &printing);
            scope.spawn(move || {
                while let Some(step) = next(lane) {
                    let end = beside_others(step, printing);
                    locked(ended).push(end);
                }
            });
        }
    });
    ended.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `step` with its output in a file, and then prints that.
fn beside_others(step: Step, printing: &Mutex<()>) -> Ended {
    let path = tools::target_folder().join(format!("steps/{}.log", step.name()));
    eprintln!("==> {} has begun: {}", step.name(), path.display());
    let ended = match created(&path) {
        Ok(output) => step.timed(Some(output)),
        Err(error) => step.unrun(Ending::Failed(format!("{}: {error}", path.display()))),
    };
    let _one = locked(printing);
    eprintln!("\n==> {}: {}", ended.step.name(), ended.step);
    match print(&path) {
        Ok(output) => ended.explained(&output),
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ended
        }
    }
}

fn created(path: &PathBuf) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path)
}

/// Prints what is in the file of `path`, and returns it.
fn print(path: &PathBuf) -> io::Result<String> {
    let output = fs::read(path)?;
    let mut shown = io::stderr().lock();
    shown.write_all(&output)?;
    shown.flush()?;
    Ok(String::from_utf8_lossy(&output).into_owned())
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_all_lanes_run_beside_each_other_and_all_of_them_end() {
        // Each waits for a file that another one makes. If they do not run at once that takes five minutes, and no time else: a
        // busy machine may let the last of them begin late.
        let folder = std::env::temp_dir().join(format!("synod-lanes-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let line = |mine: &str, other: &str| {
            let script = "touch $0/$1; for _ in $(seq 3000); do [ -e $0/$2 ] && exit 0; sleep 0.1; done; exit 1";
            let words = ["-c", script, &folder.display().to_string(), mine, other]
                .map(str::to_owned)
                .to_vec();
            Step::new(format!("lane-test-{mine}"), "sh").saying(&words)
        };
        let steps = vec![
            line("a", "b").beside(Lane::Prompt),
            line("b", "c").beside(Lane::Patient),
            line("c", "a").beside(Lane::Computes),
            Step::new("lane-test-fails", "false").beside(Lane::Computes),
        ];
        let ended = run(steps);
        fs::remove_dir_all(&folder).unwrap();
        let failed: Vec<&str> = ended
            .iter()
            .filter(|ended| !ended.is_well())
            .map(|ended| ended.step.name())
            .collect();
        assert_eq!((ended.len(), failed), (4, vec!["lane-test-fails"]));
    }
}
