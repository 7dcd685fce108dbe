//! One step of a command: a process to run, its name, and its result.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::failures;
use crate::lanes::{self, Lane};
use crate::tools::{self, Tool};
use crate::untouched::Snapshot;

/// A process that a command runs, with a name by which it can be run alone.
pub(crate) struct Step {
    name: String,
    words: Vec<String>,
    variables: Vec<(&'static str, String)>,
    tools: Vec<Tool>,
    optional: Vec<Tool>,
    conditions: Vec<Tool>,
    gate: bool,
    on_demand: bool,
    lane: Option<Lane>,
    /// A sentence for the terminal before it runs.
    announcement: Option<&'static str>,
}

impl Step {
    /// A step that runs `line`, whose words are separated by spaces.
    pub(crate) fn new(name: impl Into<String>, line: &str) -> Self {
        Self {
            name: name.into(),
            words: line.split_whitespace().map(str::to_owned).collect(),
            variables: Vec::new(),
            tools: Vec::new(),
            optional: Vec::new(),
            conditions: Vec::new(),
            gate: false,
            on_demand: false,
            lane: None,
            announcement: None,
        }
    }

    /// Prints a sentence before the step runs.
    pub(crate) fn with_announcement(mut self, sentence: &'static str) -> Self {
        self.announcement = Some(sentence);
        self
    }

    /// Sets an environment variable for the step.
    pub(crate) fn with(mut self, variable: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    /// Makes the step install `tool` first if it is missing. A step may need several.
    pub(crate) fn needing(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Makes the step try to install `tools` that are missing. It does without those that cannot be.
    pub(crate) fn wishing(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.optional.extend(tools);
        self
    }

    /// Makes the command skip the step, and say so, where `tools` are missing and cannot be installed.
    pub(crate) fn only_with(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.conditions.extend(tools);
        self
    }

    /// Makes the step run only if it is named.
    pub(crate) fn on_demand(mut self) -> Self {
        self.on_demand = true;
        self
    }

    pub(crate) fn is_on_demand(&self) -> bool {
        self.on_demand
    }

    /// Makes the step run beside those before and after it that say so too.
    pub(crate) fn beside(mut self, lane: Lane) -> Self {
        self.lane = Some(lane);
        self
    }

    /// Where the step runs beside others.
    pub(crate) fn lane(&self) -> Option<Lane> {
        self.lane
    }

    /// Adds words to the end of the line.
    pub(crate) fn saying(mut self, words: &[String]) -> Self {
        self.words.extend_from_slice(words);
        self
    }

    /// Makes the command stop if the step fails, because the later ones depend on it.
    pub(crate) fn or_stop(mut self) -> Self {
        self.gate = true;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs the step; what it prints goes to `output` if that is given.
    pub(crate) fn timed(self, output: Option<File>) -> Ended {
        let watch = Stopwatch::start();
        let ending = self.run(output);
        Ended {
            ending,
            took: watch.elapsed(),
            used: std::fs::read_to_string(self.times())
                .ok()
                .and_then(|times| processor_seconds(&times)),
            step: self,
            failures: Vec::new(),
        }
    }

    /// The step as one that ended like this before it ran.
    pub(crate) fn unrun(self, ending: Ending) -> Ended {
        Ended {
            step: self,
            ending,
            took: Duration::ZERO,
            used: None,
            failures: Vec::new(),
        }
    }

    fn run(&self, output: Option<File>) -> Ending {
        if let Some(missing) = self.installed(&self.conditions).err() {
            return Ending::Skipped(missing);
        }
        match self.ran(output) {
            Ok(()) => Ending::Done,
            Err(reason) => Ending::Failed(reason),
        }
    }

    /// Installs `tools`, at one time for one step: installers of the system lock each other out.
    fn installed(&self, tools: &[Tool]) -> Result<(), String> {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        tools.iter().try_for_each(Tool::install)
    }

    fn ran(&self, output: Option<File>) -> Result<(), String> {
        self.installed(&self.tools)?;
        for tool in &self.optional {
            if let Err(fault) = tool.install() {
                eprintln!("    does without it: {fault}");
            }
        }
        let times = self.times();
        if let Some(folder) = times.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let prefix = self.lane.map_or(&[][..], Lane::prefix);
        let mut words = prefix
            .iter()
            .copied()
            .chain(self.words.iter().map(String::as_str));
        let program = words.next().ok_or("the step names no program")?;
        let mut command = process::Command::new("sh");
        command
            .args(["-c", WITH_TIMES, "sh"])
            .arg(times)
            .arg(program)
            .args(words)
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            .env("PATH", tools::search_path()?)
            .current_dir(synod_tests::checkout());
        for name in of_this_program(std::env::vars_os().map(|(name, _)| name)) {
            command.env_remove(name);
        }
        if let Some(output) = output {
            let errors = output.try_clone().map_err(|error| error.to_string())?;
            command
                .stdin(process::Stdio::null())
                .stdout(output)
                .stderr(errors);
        }
        let status = command
            .status()
            .map_err(|error| format!("sh does not start: {error}"))?;
        match status.code() {
            Some(0) => Ok(()),
            Some(NOT_FOUND) => Err(format!(
                "{program} does not start: there is no such program"
            )),
            _ => Err(status.to_string()),
        }
    }

    /// The file with the processor time that the step has used.
    fn times(&self) -> PathBuf {
        tools::target_folder().join(format!("steps/{}.times", self.name))
    }
}

/// Runs the words behind the first, and writes the processor time that they used into the file that the first names.
const WITH_TIMES: &str = r#"file=$1; shift; "$@"; status=$?; times >"$file"; exit $status"#;

/// The exit status of a shell that finds no program of a name.
const NOT_FOUND: i32 = 127;

/// The seconds of processor time in the second line of what `times` prints: `1m2.5s 0m3.25s`, of programs and of the system.
fn processor_seconds(times: &str) -> Option<f64> {
    let mut seconds = 0.0;
    for part in times.lines().nth(1)?.split_whitespace() {
        let (minutes, rest) = part.strip_suffix('s')?.split_once('m')?;
        seconds += minutes.parse::<f64>().ok()? * 60.0 + rest.parse::<f64>().ok()?;
    }
    Some(seconds)
}

/// What cargo says to this program about this program. Some build scripts look at it, and nearly all would be built anew
/// whenever it changes between a command of `cargo xtask` and one that is typed.
fn of_this_program(names: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    names.filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    })
}

/// The command line, as one would type it in a shell.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (variable, value) in &self.variables {
            write!(f, "{variable}='{value}' ")?;
        }
        f.write_str(&self.words.join(" "))
    }
}

/// The result of a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Done,
    Failed(String),
    /// It needs what cannot be had here.
    Skipped(String),
    /// An earlier step failed that it depends on.
    NotRun,
}

/// A step that has ended, and how.
pub(crate) struct Ended {
    pub(crate) step: Step,
    ending: Ending,
    took: Duration,
    /// The processor time in seconds, if it is known.
    used: Option<f64>,
    /// The tests that failed, a line each, where its output was read.
    failures: Vec<String>,
}

impl Ended {
    /// It, with the tests that failed as its `output` names them.
    pub(crate) fn explained(self, output: &str) -> Self {
        let failures = match self.ending {
            Ending::Failed(_) => failures::named(output),
            _ => Vec::new(),
        };
        Self { failures, ..self }
    }

    /// Whether it has not failed.
    pub(crate) fn is_well(&self) -> bool {
        matches!(self.ending, Ending::Done | Ending::Skipped(_))
    }
}

/// Runs all steps of `command`, prints a summary, and returns success if every one of them succeeded.
///
/// Unless the command `writes`, it must leave the checkout as it was.
pub(crate) fn run(command: &str, steps: Vec<Step>, writes: bool) -> ExitCode {
    let before = (!writes).then(|| Snapshot::take(synod_tests::checkout()));
    let succeeded = run_steps(command, steps);
    match before.map(untouched).unwrap_or(Ok(())) {
        Ok(()) if succeeded => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("  FAILED   {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Fails if the checkout differs from what it was before.
fn untouched(before: Result<Snapshot, String>) -> Result<(), String> {
    let touched = before?.touched_by(&Snapshot::take(synod_tests::checkout())?);
    if touched.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the run has changed the checkout (what a run writes belongs under target/): {}",
        touched.join(", ")
    ))
}

fn run_steps(command: &str, steps: Vec<Step>) -> bool {
    let mut ended: Vec<Ended> = Vec::with_capacity(steps.len());
    let mut stopped = false;
    let mut steps = steps.into_iter().peekable();
    while let Some(step) = steps.next() {
        if stopped {
            ended.push(step.unrun(Ending::NotRun));
            continue;
        }
        let mut beside = vec![step];
        while beside[0].lane.is_some()
            && let Some(next) = steps.next_if(|next| next.lane.is_some())
        {
            beside.push(next);
        }
        if beside.len() > 1 {
            ended.extend(lanes::run(beside));
            continue;
        }
        for step in beside {
            eprintln!("\n==> {}: {step}", step.name);
            if let Some(sentence) = step.announcement {
                eprintln!("    {sentence}");
            }
            let end = step.timed(None);
            stopped = end.step.gate && matches!(end.ending, Ending::Failed(_));
            ended.push(end);
        }
    }
    eprint!("{}", summary(command, &ended));
    ended.iter().all(Ended::is_well)
}

/// One line for each step: its result, its duration, and for a failed one how to run it alone; then each test that failed.
fn summary(command: &str, ended: &[Ended]) -> String {
    let width = ended
        .iter()
        .map(|ended| ended.step.name.len())
        .max()
        .unwrap_or(0);
    let mut text = format!("\ncargo xtask {command}:\n");
    for Ended {
        step,
        ending,
        took,
        used,
        ..
    } in ended
    {
        let name = &step.name;
        let used = used.map(|used| format!(", {used:.1} s of a processor"));
        let seconds = format!("{:7.1} s{}", took.as_secs_f64(), used.unwrap_or_default());
        text += &match ending {
            Ending::Done => format!("  ok       {name:width$} {seconds}\n"),
            Ending::Failed(reason) => format!(
                "  FAILED   {name:width$} {seconds}  {reason}; again with: cargo xtask {command} {name}\n"
            ),
            Ending::Skipped(why) => format!("  SKIPPED  {name:width$} {seconds}  {why}\n"),
            Ending::NotRun => format!("  not run  {name:width$}\n"),
        };
    }
    for Ended { step, failures, .. } in ended {
        text.extend(
            failures
                .iter()
                .map(|test| format!("\n{}: {test}\n", step.name)),
        );
    }
    text
}

/// Measures real time, for people: nothing here runs in the simulator.
struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "it measures this program, which is never simulated"
    )]
    fn start() -> Self {
        Self(Instant::now())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it measures this program, which is never simulated"
    )]
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_shown_as_a_shell_would_take_it() {
        let step = Step::new("doc", "cargo doc --no-deps").with("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            step.to_string(),
            "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"
        );
    }

    #[test]
    fn a_step_sees_nothing_that_cargo_says_about_this_program() {
        let script = "env | grep --quiet -E '^CARGO_(PKG|MANIFEST)_'";
        let found = Step::new("finds", "sh").saying(&["-c".to_owned(), script.to_owned()]);
        assert_eq!(found.run(None), Ending::Failed("exit status: 1".to_owned()));
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    }

    #[test]
    fn the_processor_time_of_a_step_is_read() {
        assert_eq!(
            processor_seconds("0m0.01s 0m0.02s\n1m2.5s 0m3.25s\n"),
            Some(65.75)
        );
        assert_eq!(processor_seconds("1m2.5s\n"), None);
        let step = Step::new("times-test", "true").timed(None);
        assert!(step.used.is_some_and(|used| used < 60.0));
    }

    #[test]
    fn a_step_that_exits_with_an_error_fails() {
        assert_eq!(
            Step::new("fails", "false").run(None),
            Ending::Failed("exit status: 1".to_owned())
        );
        assert_eq!(Step::new("passes", "true").run(None), Ending::Done);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let ending = Step::new("absent", "synod-no-such-program").run(None);
        assert!(
            matches!(&ending, Ending::Failed(why) if why.starts_with("synod-no-such-program does not start")),
            "{ending:?}"
        );
    }

    #[test]
    fn every_step_runs_although_one_failed_and_the_command_fails() {
        assert!(run_steps("check", vec![Step::new("a", "true")]));
        assert!(!run_steps(
            "check",
            vec![Step::new("a", "false"), Step::new("b", "true")]
        ));
    }

    #[test]
    fn the_summary_says_how_to_repeat_what_failed_and_what_was_not_run() {
        let ended = [
            ("fmt", Ending::Done, 1_200, Some(2.34)),
            ("clippy", Ending::Failed("exit status: 1".into()), 0, None),
            ("kube", Ending::Skipped("there is no Go".into()), 0, None),
            ("doc", Ending::NotRun, 0, None),
        ]
        .map(|(name, ending, took, used)| Ended {
            step: Step::new(name, "true"),
            ending,
            took: Duration::from_millis(took),
            used,
            failures: Vec::new(),
        })
        .map(|ended| ended.explained("FAILED test_a.py::test_b\n"));
        assert_eq!(
            summary("check", &ended),
            "\ncargo xtask check:\n\
             \x20 ok       fmt        1.2 s, 2.3 s of a processor\n\
             \x20 FAILED   clippy     0.0 s  exit status: 1; again with: cargo xtask check clippy\n\
             \x20 SKIPPED  kube       0.0 s  there is no Go\n\
             \x20 not run  doc   \n\
             \nclippy: FAILED test_a.py::test_b\n"
        );
    }
}
