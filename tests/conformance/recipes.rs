//! Runs the recipes of `examples/` as a reader would run them, against three replicas.

mod guide;

use std::env;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use synod_client::{Client, SettingsPatch};
use tokio::process::Command;
use tokio::time::timeout;

use crate::program::{VARIABLE, built};
use crate::replicas::Replicas;

/// Each recipe, with lines that it prints when it works as `examples/README.md` says.
const RECIPES: [(&str, &[&str]); 6] = [
    (
        "agreement",
        &["not yet on v2: ", "all agree on v2 since revision "],
    ),
    (
        "controller",
        &[
            "controller-one leads",
            "web-0 UpdateInPlace",
            r#"back to {"image":"web:1","replicas":2}: web-0 Recreate"#,
            "controller-two leads now",
        ],
    ),
    (
        "gated_server",
        &[
            "before the report a write is answered with 503",
            "after it with 201",
            "discovery shows {",
            r#""storageVersionHash":""#,
            r#"stored is {"apiVersion":"gated.example.io/v2""#,
            "left",
        ],
    ),
    (
        "key_rotation",
        &[
            "three servers have written: aesgcm/key-2025 encrypts 6",
            "is aesgcm/key-2025 free? no: ",
            "so one writes with the old: aesgcm/key-2025 encrypts 6",
            "all hold it, so one writes with it: aesgcm/key-2025 encrypts 5, aesgcm/key-2026 encrypts 1",
            "two is rolled back, and not let in: ",
            "not aesgcm/key-2026, the selected key",
            "is aesgcm/key-2025 free? yes, with all rewritten: aesgcm/key-2026 encrypts 6",
            r#"two holds the new key alone, and reads "the old text""#,
            "all have left, and nothing of it is left in the cluster",
        ],
    ),
    (
        "migration_worker",
        &[
            "5 objects are stored in v1",
            "the worker ended: Some(Completed",
            "objects are stored in migrated.example.io/v2",
        ],
    ),
    ("versions_table", &["selected", "listed.example.io.widgets"]),
];

/// How long a recipe may take: one waits until a server that was killed is no member any more.
const PATIENCE: Duration = Duration::from_secs(180);

// Guarantee: C-02
#[tokio::test(flavor = "multi_thread")]
async fn every_recipe_runs_as_it_is_told_and_can_be_run_again() {
    let replicas = Replicas::start().await;
    land_soon(&replicas.endpoints()).await;
    for round in 1..=2 {
        for (name, lines) in RECIPES {
            let printed = run(name, &replicas.endpoints()).await;
            let mut rest = printed.as_str();
            for line in lines {
                let found = rest.split_once(line);
                let (_, after) = found.unwrap_or_else(|| {
                    panic!("{name}, round {round}: no \"{line}\" in its place in\n{printed}")
                });
                rest = after;
            }
        }
    }
}

/// Says that a write of a killed server lands within a second. With the settings of a new cluster a key would be free only
/// after a minute and a half.
async fn land_soon(endpoints: &[String]) {
    let client = Client::builder()
        .endpoints(endpoints.to_vec())
        .connect()
        .await;
    let client = client.expect("the replicas serve");
    let patch = SettingsPatch {
        write_grace: Some(Duration::from_secs(1)),
        ..SettingsPatch::default()
    };
    let changed = client.update_settings(patch, None).await;
    changed.expect("the settings can be changed");
}

/// Examples that are not recipes: they need more than replicas, and each has a test of its own.
const OTHERS: [&str; 2] = ["etcd-fence", "voter"];

#[test]
fn every_example_is_a_recipe() {
    let folder = synod_tests::checkout().join("examples");
    let entries = std::fs::read_dir(folder).expect("the examples can be listed");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    let mut programs: Vec<String> = paths
        .filter(|path| path.join("main.rs").is_file())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    let is_shown = |name: &str| guide::PROGRAMS.iter().any(|row| row.0 == name);
    programs.retain(|name| !OTHERS.contains(&name.as_str()) && !is_shown(name));
    programs.sort_unstable();
    assert_eq!(programs, RECIPES.map(|(name, _)| name));
}

/// The output of a recipe.
async fn run(name: &str, endpoints: &[String]) -> String {
    let mut command = Command::new(program(name));
    command
        .args(endpoints)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ended = timeout(PATIENCE, command.output()).await;
    let ended = ended.unwrap_or_else(|_| panic!("{name} does not end"));
    let ended = ended.expect("a recipe can be run");
    let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success(),
        "{name}: {}\n{printed}{told}",
        ended.status
    );
    printed
}

/// The program of a recipe. Where `synod` was built before, the recipes were too, beside this test.
fn program(name: &str) -> PathBuf {
    if env::var_os(VARIABLE).is_none() {
        return built(&["--package", "synod-client", "--example", name], name);
    }
    let this = env::current_exe().expect("this test is a file");
    // <target>/<folder of the profile>/deps/<this>
    let folder = this
        .ancestors()
        .nth(2)
        .expect("cargo puts tests into folders");
    folder.join("examples").join(name)
}
