//! Commands that work, and commands that fail in each way.

use std::fs;

use tempfile::NamedTempFile;

use super::*;

/// A time that no command of these tests needs.
const LONG: Duration = Duration::from_secs(60);

/// More than a pipe holds.
const MANY: usize = 1 << 20;

/// Gives bytes to a command, and returns what it wrote to its output and to standard error.
async fn pass(
    command: &str,
    bytes: &[u8],
    silence_max: Duration,
) -> Result<(Vec<u8>, String), String> {
    let output = NamedTempFile::new().unwrap();
    let file = output.as_file().try_clone().unwrap();
    let run = async {
        let mut filter = Filter::start(command, file, silence_max)?;
        filter.write(bytes).await?;
        filter.finish().await
    };
    let errors = run.await.map_err(|failure| failure.to_string())?;
    Ok((fs::read(output.path()).unwrap(), errors))
}

#[tokio::test]
async fn a_command_gets_all_bytes_and_its_output_is_the_file() {
    let bytes: Vec<u8> = (0..MANY).map(|at| (at % 251) as u8).collect();
    for bytes in [&bytes[..], b"few"] {
        let passed = pass("cat; echo done >&2", bytes, LONG).await.unwrap();
        assert_eq!(passed, (bytes.to_vec(), "done\n".to_owned()));
    }
}

#[tokio::test]
async fn a_failure_names_the_command_its_status_and_its_words() {
    for (command, status) in [
        ("cat; echo 'no key' >&2; exit 3", "exit status: 3"),
        ("echo 'no key' >&2; kill -9 $$", "signal: 9 (SIGKILL)"),
    ] {
        for length in [1, MANY] {
            let failure = pass(command, &vec![b'x'; length], LONG).await.unwrap_err();
            let message = format!(
                "error: the command `{command}` failed with {status}; it wrote to standard error: no key\n"
            );
            assert!(failure.starts_with(&message), "{failure}");
            assert!(failure.contains("no file was written"), "{failure}");
        }
    }
    let failure = pass("no-such-program-of-synod", b"x", LONG).await;
    let failure = failure.unwrap_err();
    assert!(failure.contains("exit status: 127"), "{failure}");
    assert!(failure.contains("not found"), "{failure}");
}

#[tokio::test]
async fn a_command_that_stops_reading_fails_though_it_ends_with_success() {
    for length in [2, MANY] {
        for command in ["head -c 1", "exec true"] {
            let failure = pass(command, &vec![b'x'; length], LONG).await.unwrap_err();
            let what = "ended with success before it had read the whole backup";
            assert!(failure.contains(what), "{command}: {failure}");
        }
    }
}

#[tokio::test]
async fn of_many_errors_the_last_are_shown_and_none_stops_the_command() {
    let command =
        "head -c 1000000 /dev/zero | tr '\\0' e >&2; echo last >&2; cat >/dev/null; exit 1";
    let failure = pass(command, &vec![b'x'; MANY], LONG).await.unwrap_err();
    assert!(failure.contains("eeeelast\n"), "{failure}");
    assert!(failure.len() < 2 * ERRORS_BYTES_MAX, "{}", failure.len());
}

#[tokio::test]
async fn a_command_that_does_nothing_is_killed_with_all_that_it_has_started() {
    // A lock of the file is held until the last process that has it open has ended.
    for (command, length) in [("tail -f /dev/null", MANY), ("tail -f /dev/null | cat", 1)] {
        let output = NamedTempFile::new().unwrap();
        let file = output.reopen().unwrap();
        file.lock().unwrap();
        let mut filter = Filter::start(command, file, Duration::from_millis(200)).unwrap();
        let written = filter.write(&vec![b'x'; length]).await;
        let failure = match written {
            Ok(()) => filter.finish().await.unwrap_err(),
            Err(failure) => {
                drop(filter);
                failure
            }
        };
        let failure = failure.to_string();
        assert!(
            failure.contains("neither read on nor ended for 200ms, and was killed"),
            "{failure}"
        );
        assert!(failure.contains("--timeout"), "{failure}");
        // This waits for those that were killed.
        output.reopen().unwrap().lock().unwrap();
    }
}
