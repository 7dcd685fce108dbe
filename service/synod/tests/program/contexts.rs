//! `synod config`: the contexts of the settings file.

use crate::program::{Printed, finish, synod};

#[tokio::test]
async fn contexts_are_made_chosen_and_used() {
    let home = tempfile::tempdir().unwrap();
    let run = async |words: &[&str]| -> Printed {
        let mut command = synod(words);
        command.env("HOME", home.path()).current_dir(home.path());
        finish(command).await
    };
    let made = run(&[
        "config",
        "set-context",
        "prod",
        "--endpoints",
        "127.0.0.1:1",
        "--timeout",
        "1s",
    ])
    .await;
    assert_eq!(made.code, 0, "{made:?}");
    let made = run(&[
        "config",
        "set-context",
        "test",
        "--endpoints",
        "127.0.0.1:2",
    ])
    .await;
    assert_eq!(made.code, 0, "{made:?}");
    let shown = run(&["config", "get-contexts"]).await;
    let rows: Vec<Vec<&str>> = shown
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows,
        [
            vec!["CURRENT", "NAME", "ENDPOINTS"],
            vec!["*", "prod", "127.0.0.1:1"],
            vec!["test", "127.0.0.1:2"],
        ]
    );

    // Nobody serves there, which ends the one try at once: what cannot be reached says which context was used.
    let refused = run(&["status", "--timeout", "30s"]).await;
    assert!(
        refused.code == 5 && refused.err.contains("127.0.0.1:1"),
        "{refused:?}"
    );
    let refused = run(&["--context", "test", "status", "--timeout", "30s"]).await;
    assert!(
        refused.code == 5 && refused.err.contains("127.0.0.1:2"),
        "{refused:?}"
    );

    let used = run(&["config", "use-context", "test"]).await;
    assert_eq!(
        (used.code, used.out.as_str()),
        (0, "test is used from now on\n")
    );
    let shown = run(&["config", "view"]).await;
    assert!(
        shown.out.starts_with("current_context = \"test\"\n"),
        "{shown:?}"
    );
    let unknown = run(&["config", "use-context", "prd"]).await;
    assert_eq!(unknown.code, 2, "{unknown:?}");
    let wrong = run(&["config", "set-context", "test", "--timeout", "soon"]).await;
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert_eq!(run(&["config", "view"]).await.out, shown.out);
}

#[tokio::test]
async fn contexts_are_printed_in_the_form_that_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let run = async |line: &str| -> Printed {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = synod(&words);
        command.env("HOME", home.path()).current_dir(home.path());
        finish(command).await
    };
    let none = run("config current-context").await;
    assert_eq!(none.code, 3, "{none:?}");
    let made = run("config set-context prod --endpoints 127.0.0.1:1 --timeout 1s").await;
    assert_eq!(made.code, 0, "{made:?}");
    let current = run("config current-context").await;
    assert_eq!((current.code, current.out.as_str()), (0, "prod\n"));
    let listed = run("config get-contexts -o json").await;
    let listed: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(listed["items"][0]["current"], true);
    assert_eq!(listed["items"][0]["endpoints"][0], "127.0.0.1:1");
    let whole = run("config view -o json").await;
    let whole: serde_json::Value = serde_json::from_str(&whole.out).unwrap();
    assert_eq!(whole["contexts"]["prod"]["timeout"], "1s");
}

#[tokio::test]
async fn a_context_has_a_token_and_is_taken_out_of_the_file() {
    let home = tempfile::tempdir().unwrap();
    let run = async |line: &str| -> Printed {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = synod(&words);
        command.env("HOME", home.path()).current_dir(home.path());
        finish(command).await
    };
    let made = run("config set-context prod --endpoints https://127.0.0.1:1 --cacert ca.pem --token-file token").await;
    assert_eq!(made.code, 0, "{made:?}");
    let made = run("config set-context test --endpoints 127.0.0.1:2").await;
    assert_eq!(made.code, 0, "{made:?}");
    let whole = run("config view").await;
    assert!(whole.out.contains("token_file = \"token\"\n"), "{whole:?}");
    // It is read before anybody is called.
    let refused = run("status --timeout 1s").await;
    assert!(
        refused.code == 2 && refused.err.contains("ca.pem"),
        "{refused:?}"
    );

    let unknown = run("config delete-context prd").await;
    assert_eq!(unknown.code, 2, "{unknown:?}");
    let deleted = run("config delete-context prod").await;
    assert_eq!(deleted.code, 0, "{deleted:?}");
    assert_eq!(run("config current-context").await.code, 3);
    let left = run("config get-contexts -o name").await;
    assert_eq!(left.out, "test\n");
}
