//! What failed in a step, as its output says it: the end of a run of many tests names each of them, and says how a
//! program of tests ended that named none.

/// Longer messages are cut: the whole stands in the output of the step.
const LENGTH_MAX: usize = 400;

/// More failures of one step are not named: its summary stays a page.
const FAILURES_MAX: usize = 20;

/// One line for each test that the `output` of a failed step says has failed, with the first words of why.
pub(crate) fn named(output: &str) -> Vec<String> {
    let mut failures: Vec<String> = Vec::new();
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(test) = of_rust(line) {
            let mut words = vec![format!("{test}:")];
            while let Some(line) = lines.next_if(|line| !ends_one_of_rust(line)) {
                words.push(line.trim().to_owned());
            }
            failures.push(words.join(" "));
        } else if is_of_python(line) || is_of_javascript(line) {
            failures.push(line.trim().to_owned());
        }
    }
    if failures.is_empty() {
        return last_words(output).into_iter().collect();
    }
    failures.truncate(FAILURES_MAX);
    failures.into_iter().map(shortened).collect()
}

/// The end of an output that names no test: of a program that was killed, or never built.
fn last_words(output: &str) -> Option<String> {
    let words: Vec<&str> = output.split_whitespace().collect();
    let text: Vec<char> = words.join(" ").chars().collect();
    let end = &text[text.len().saturating_sub(LENGTH_MAX)..];
    (!end.is_empty()).then(|| format!("names no test, and ends: {}", String::from_iter(end)))
}

/// The name of the test whose output begins with `line`.
fn of_rust(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// Whether `line` is what libtest prints after the output of a test that has failed.
fn ends_one_of_rust(line: &str) -> bool {
    line.starts_with("note: run with `RUST_BACKTRACE=")
        || line == "failures:"
        || of_rust(line).is_some()
}

/// Whether `line` is a row of pytest's summary, and not a line of a log, whose level stands in a column.
fn is_of_python(line: &str) -> bool {
    line.starts_with("FAILED ") || line.starts_with("ERROR ") && !line.starts_with("ERROR  ")
}

/// Whether `line` names a test of JavaScript that has failed, as TAP has it or as people are shown it.
fn is_of_javascript(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("not ok ") || line.starts_with("✖ ") && line != "✖ failing tests:"
}

/// The first words of `failure` from where it panicked, if it says that: a test prints what it likes before.
fn shortened(failure: String) -> String {
    let (test, said) = failure.split_once(' ').unwrap_or((&failure, ""));
    let said = said.rfind("panicked at ").map_or(said, |at| &said[at..]);
    let shown: String = format!("{test} {said}").chars().take(LENGTH_MAX).collect();
    shown.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_RUST: &str = "\
running 3 tests
test a::holds ... ok
test a::breaks ... FAILED

failures:

---- a::breaks stdout ----
a replica says something

thread 'a::breaks' (77) panicked at service/a.rs:7:5:
assertion `left == right` failed: too late
  left: 1
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- a::is_wrong stdout ----
Error: \"no port\"


failures:
    a::breaks
    a::is_wrong

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn a_test_of_rust_is_named_with_its_panic_or_its_error() {
        assert_eq!(
            named(OF_RUST),
            [
                "a::breaks: panicked at service/a.rs:7:5: assertion `left == right` failed: too late left: 1 right: 2",
                "a::is_wrong: Error: \"no port\"",
            ]
        );
    }

    #[test]
    fn tests_of_python_and_javascript_are_named() {
        let output = "\
ERROR    synod:client.py:7 nobody answers
FAILED test/test_a.py::test_b - assert 1 == 2
ok 1 - a
not ok 2 - b
✖ failing tests:
✖ c (2.5ms)
";
        assert_eq!(
            named(output),
            [
                "FAILED test/test_a.py::test_b - assert 1 == 2",
                "not ok 2 - b",
                "✖ c (2.5ms)"
            ]
        );
    }

    #[test]
    fn a_program_that_was_killed_is_quoted() {
        let output = "\
running 2 tests
error: test failed, to rerun pass `--test sim`

Caused by:
  process didn't exit successfully: `sim` (signal: 6, SIGABRT: process abort signal)
";
        assert_eq!(
            named(output),
            [
                "names no test, and ends: running 2 tests error: test failed, to rerun pass `--test sim` Caused by: \
              process didn't exit successfully: `sim` (signal: 6, SIGABRT: process abort signal)"
            ]
        );
        assert!(named("\n").is_empty());
        let ends = named(&"é".repeat(2 * LENGTH_MAX)).remove(0);
        assert_eq!(ends.matches('é').count(), LENGTH_MAX);
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = format!("FAILED a - {}\n", "é".repeat(2 * LENGTH_MAX));
        assert_eq!(named(&long)[0].chars().count(), LENGTH_MAX);
        assert_eq!(named(&long.repeat(2 * FAILURES_MAX)).len(), FAILURES_MAX);
    }
}
