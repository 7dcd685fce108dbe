//! Runs the commands for collections and objects against a cluster.

use std::path::{Path, PathBuf};

use serde_json::Value;
use synod_client::{
    ApiVersion, Attributes, Content, CreateObject, Fences, GroupResource, MediaType, Namespace,
    NamespacedName, ObjectKey, ObjectName,
};

use crate::cluster::Cluster;
use crate::program::{Printed, finish, synod};

/// A cluster with a collection of widgets, and a folder for files.
struct Place {
    cluster: Cluster,
    folder: tempfile::TempDir,
}

impl Place {
    async fn start() -> Self {
        let place = Self {
            cluster: Cluster::start().await,
            folder: tempfile::tempdir().unwrap(),
        };
        let words = [
            "collections",
            "create",
            "widgets.example.io",
            "--kind",
            "Widget",
        ];
        place.well(&[&words[..], &["--namespaced"]].concat()).await;
        place
    }

    async fn ask(&self, words: &[&str]) -> Printed {
        self.cluster.ask(words).await
    }

    async fn well(&self, words: &[&str]) -> String {
        let printed = self.ask(words).await;
        assert_eq!((printed.code, printed.err.as_str()), (0, ""), "{words:?}");
        printed.out
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A widget as a document.
    async fn widget(&self, name: &str) -> Value {
        let words = ["get", "widgets.example.io", name, "-n", "a", "-o", "json"];
        serde_json::from_str(&self.well(&words).await).unwrap()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

const WIDGET: &str = "\
apiVersion: example.io/v1
kind: Widget
metadata: {name: w, namespace: a, labels: {app: web}}
spec: {size: 3, shape: round}
";

#[tokio::test]
async fn an_object_lives_from_its_file_to_its_end() {
    let place = Place::start().await;
    let file = place.file("w.yaml", WIDGET);
    let tried = place
        .well(&["create", "-f", text(&file), "--dry-run"])
        .await;
    assert!(tried.contains("created"), "{tried}");
    let none = place
        .well(&["get", "widgets.example.io", "-o", "name"])
        .await;
    assert_eq!(none, "");

    place.well(&["create", "-f", text(&file)]).await;
    let again = place.ask(&["create", "-f", text(&file)]).await;
    assert_eq!(again.code, 4, "{}", again.err);
    assert!(
        again.err.starts_with("error: ALREADY_EXISTS: "),
        "{}",
        again.err
    );
    let selected = [
        "get",
        "widgets.example.io",
        "-l",
        "app in (web)",
        "-o",
        "name",
    ];
    assert_eq!(place.well(&selected).await, "widgets.example.io/a/w\n");
    let document = place.widget("w").await;
    assert_eq!(document["spec"]["size"], 3);
    let revision = document["metadata"]["resourceVersion"].as_str().unwrap();

    // A printed document can be edited and put back, once.
    let mut larger = document.clone();
    larger["spec"]["size"] = 4.into();
    let larger = place.file("larger.json", &larger.to_string());
    place.well(&["replace", "-f", text(&larger)]).await;
    let late = place.ask(&["replace", "-f", text(&larger)]).await;
    assert_eq!(late.code, 4, "{}", late.err);
    assert!(late.err.starts_with("error: CONFLICT: "), "{}", late.err);

    is_patched(&place, revision).await;
    is_deleted(&place).await;
}

/// The widget is patched in its data, its metadata and its TTL, but not with an old revision.
async fn is_patched(place: &Place, revision: &str) {
    let patch = |words: &[&str]| {
        let fixed = ["patch", "widgets.example.io", "w", "-n", "a"];
        [&fixed[..], words]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let words = patch(&["-p", "{spec: {shape: null}}"]);
    place
        .well(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    assert_eq!(
        place.widget("w").await["spec"],
        serde_json::json!({"size": 4})
    );
    let words = patch(&["-p", "{spec: {size: 5}}", "--if-revision", revision]);
    let lost = place
        .ask(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    assert_eq!(lost.code, 4, "{}", lost.err);

    let words = patch(&[
        "--metadata",
        "{labels: {tier: front, app: null}}",
        "--ttl",
        "2h",
    ]);
    place
        .well(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    let labels = place.widget("w").await["metadata"]["labels"].clone();
    assert_eq!(labels, serde_json::json!({"tier": "front"}));
    let words = patch(&["--ttl", "none"]);
    let kept = place
        .well(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    assert!(kept.contains("unchanged"), "{kept}");
    let nothing = place.ask(&["patch", "widgets.example.io", "w"]).await;
    assert_eq!(nothing.code, 2, "{}", nothing.err);
}

/// A dry run does not delete the widget, a delete does; then its collection can be deleted.
async fn is_deleted(place: &Place) {
    let delete = ["delete", "widgets.example.io", "w", "-n", "a"];
    place.well(&[&delete[..], &["--dry-run"]].concat()).await;
    place.widget("w").await;
    let held = place
        .ask(&["collections", "delete", "widgets.example.io"])
        .await;
    assert_ne!(held.code, 0);
    place.well(&delete).await;
    let gone = place.ask(&delete).await;
    assert_eq!(gone.code, 3, "{}", gone.err);
    place
        .well(&["collections", "delete", "widgets.example.io"])
        .await;
}

#[tokio::test]
async fn the_kind_of_a_collection_is_corrected_while_it_holds_no_object() {
    let place = Place::start().await;
    let correct = |kind| {
        [
            "collections",
            "update",
            "widgets.example.io",
            "--kind",
            kind,
        ]
    };
    place.well(&correct("Wigdet")).await;
    let wrong = place.ask(&correct("not a kind")).await;
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("--kind"), "{}", wrong.err);
    place.well(&correct("Widget")).await;
    let file = place.file("w.yaml", WIDGET);
    place.well(&["create", "-f", text(&file)]).await;
    let held = place.ask(&correct("Wigdet")).await;
    assert_eq!(held.code, 4, "{}", held.err);
    assert!(held.err.contains("delete them first"), "{}", held.err);
}

#[tokio::test]
async fn what_is_applied_keeps_what_others_have_set() {
    let place = Place::start().await;
    let file = place.file("w.yaml", WIDGET);
    place.well(&["apply", "-f", text(&file)]).await;
    let again = place.well(&["apply", "-f", text(&file)]).await;
    assert!(again.contains("unchanged"), "{again}");
    let foreign = [
        "patch",
        "widgets.example.io",
        "w",
        "-n",
        "a",
        "-p",
        "{status: {ready: true}}",
    ];
    place.well(&foreign).await;
    let changed = WIDGET.replace("size: 3, shape: round", "size: 9");
    let file = place.file("w.yaml", &changed);
    place.well(&["apply", "-f", text(&file)]).await;
    let document = place.widget("w").await;
    assert_eq!(document["spec"], serde_json::json!({"size": 9}));
    assert_eq!(document["status"]["ready"], true);
    let stale = ["apply", "-f", text(&file), "--if-revision", "1"];
    assert_eq!(place.ask(&stale).await.code, 4);
}

// Guarantee: O-17
#[tokio::test]
async fn a_document_that_says_for_which_object_it_was_made_is_applied_to_no_other() {
    let place = Place::start().await;
    let file = place.file("w.yaml", WIDGET);
    place.well(&["apply", "-f", text(&file)]).await;
    let mut seen = place.widget("w").await;
    seen["spec"]["size"] = 4.into();
    let seen_file = place.file("seen.json", &seen.to_string());
    place.well(&["apply", "-f", text(&seen_file)]).await;
    // The object has changed by this: the same document is outdated now.
    seen["spec"]["size"] = 5.into();
    let late = place.file("late.json", &seen.to_string());
    let late = place.ask(&["apply", "-f", text(&late)]).await;
    assert_eq!(late.code, 4, "{}", late.err);
    assert!(late.err.starts_with("error: CONFLICT: "), "{}", late.err);
    assert_eq!(place.widget("w").await["spec"]["size"], 4);

    // The document neither creates the object nor is applied to another object of its name.
    let metadata = seen["metadata"].as_object_mut().unwrap();
    metadata.shift_remove("resourceVersion");
    let other = place.file("other.json", &seen.to_string());
    place
        .well(&["delete", "widgets.example.io", "w", "-n", "a"])
        .await;
    let gone = place.ask(&["apply", "-f", text(&other)]).await;
    assert_eq!(gone.code, 3, "{}", gone.err);
    place.well(&["apply", "-f", text(&file)]).await;
    let another = place.ask(&["apply", "-f", text(&other)]).await;
    assert_eq!(another.code, 4, "{}", another.err);
    assert_eq!(place.widget("w").await["spec"]["size"], 3);
}

// Guarantee: O-16
#[tokio::test]
async fn what_others_have_stored_goes_through_every_command_unharmed() {
    let place = Place::start().await;
    let file = place.file("w.yaml", WIDGET);
    place.well(&["apply", "-f", text(&file)]).await;
    let patch = ["patch", "widgets.example.io", "w", "-n", "a"];
    let status = r#"{"metadata":{"name":"inner"},"status":{"n":12345678901234567890123,"x":[0.12345678901234567890]}}"#;
    place.well(&[&patch[..], &["-p", status]].concat()).await;
    // Numbers are compared by every digit.
    let tests = r#"[{"op":"test","path":"/status","value":{"n":12345678901234567890123,"x":[0.12345678901234567890]}},{"op":"test","path":"/metadata","value":{"name":"inner"}}]"#;
    let is_unharmed = [&patch[..], &["--type", "json", "-p", tests]].concat();
    place.well(&is_unharmed).await;

    let changed = place.file("w.yaml", &WIDGET.replace("size: 3", "size: 9"));
    place.well(&["apply", "-f", text(&changed)]).await;
    place.well(&is_unharmed).await;
    let mut command = synod(&["edit", "widgets.example.io", "w", "-n", "a"]);
    command
        .env("SYNOD_ENDPOINTS", place.cluster.endpoints())
        .env("SYNOD_EDITOR", "sed -i s/round/square/");
    let edited = finish(command).await;
    assert_eq!((edited.code, edited.err.as_str()), (0, ""));
    place.well(&is_unharmed).await;
    let mut whole = place.widget("w").await;
    whole["spec"]["size"] = 4.into();
    let whole = place.file("whole.json", &whole.to_string());
    place.well(&["replace", "-f", text(&whole)]).await;
    place.well(&is_unharmed).await;
    let spec = &place.widget("w").await["spec"];
    assert_eq!(*spec, serde_json::json!({"size": 4, "shape": "square"}));
}

#[tokio::test]
async fn an_object_is_edited_and_what_was_typed_is_kept_if_it_cannot_be_stored() {
    let place = Place::start().await;
    let file = place.file("w.yaml", WIDGET);
    place.well(&["create", "-f", text(&file)]).await;
    let edit = async |editor: &str, more: &[&str]| {
        let words = ["edit", "widgets.example.io", "w", "-n", "a"];
        let mut command = synod(&[&words[..], more].concat());
        command
            .env("SYNOD_ENDPOINTS", place.cluster.endpoints())
            .env("SYNOD_EDITOR", editor);
        finish(command).await
    };
    let done = edit("sed -i s/round/square/", &[]).await;
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert_eq!(place.widget("w").await["spec"]["shape"], "square");
    let untouched = edit("true", &["--format", "json"]).await;
    assert_eq!((untouched.code, untouched.out.as_str()), (0, ""));

    let lost = edit("sed -i s/square/flat/", &["--if-revision", "1"]).await;
    assert_eq!(lost.code, 4, "{}", lost.err);
    let kept = lost.err.split("your edit is saved in ").nth(1).unwrap();
    let kept = Path::new(kept.split(": compare").next().unwrap());
    assert!(std::fs::read_to_string(kept).unwrap().contains("flat"));
    std::fs::remove_file(kept).unwrap();
    let failed = edit("false", &[]).await;
    assert_eq!(failed.code, 1, "{}", failed.err);
}

#[tokio::test]
async fn what_is_typed_or_written_wrong_is_told_by_its_place() {
    let place = Place::start().await;
    let bad = place.file(
        "bad.yaml",
        "apiVersion: v1\nkind: Widget\nmetadata: {name: A}\n",
    );
    let refused = place.ask(&["create", "-f", text(&bad)]).await;
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("document[0].metadata.name: "),
        "{}",
        refused.err
    );
    // A text in place of a list removes no finalizer.
    let bad = WIDGET.replace("labels: {app: web}", "finalizers: example.io/x");
    let bad = place.file("bad.yaml", &bad);
    for command in ["create", "replace", "apply"] {
        let refused = place.ask(&[command, "-f", text(&bad)]).await;
        assert_eq!(refused.code, 2, "{}", refused.err);
        let place = "document[0].metadata.finalizers: ";
        assert!(refused.err.contains(place), "{}", refused.err);
    }
    let unknown = place.file(
        "unknown.yaml",
        "apiVersion: example.io/v1\nkind: Gadget\nmetadata: {name: a}\n",
    );
    let unknown = place.ask(&["create", "-f", text(&unknown)]).await;
    assert_eq!(unknown.code, 3, "{}", unknown.err);
    let selector = place
        .ask(&["get", "widgets.example.io", "-l", "a in ("])
        .await;
    assert_eq!(selector.code, 2, "{}", selector.err);
    assert!(selector.err.contains("--selector: "), "{}", selector.err);
    let resource = place.ask(&["get", "Widgets"]).await;
    assert_eq!(resource.code, 2, "{}", resource.err);
}

// Guarantee: O-18
#[tokio::test]
async fn what_others_stored_does_nothing_to_a_terminal_and_is_read_back() {
    let place = Place::start().await;
    let shape = "\u{1b}[2J\u{7f}\u{9b}\u{202e}dnuor\u{2028}\u{200f}";
    let widget = serde_json::json!({
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "a", "annotations": {"note": shape}},
        "spec": {"shape": shape},
    });
    let ascii = |letter: char| match letter {
        ' '..='~' => letter.to_string(),
        _ => format!("\\u{:04x}", u32::from(letter)),
    };
    let widget: String = widget.to_string().chars().map(ascii).collect();
    let file = place.file("w.json", &widget);
    place.well(&["create", "-f", text(&file)]).await;
    let harmless = |text: &str| {
        let misleads = |letter: char| letter != '\n' && synod_model::misleads(letter);
        assert!(!text.chars().any(misleads), "{text:?}");
    };
    for format in ["table", "wide", "json", "yaml", "name"] {
        let words = ["get", "widgets.example.io", "w", "-n", "a", "-o", format];
        harmless(&place.well(&words).await);
    }
    assert_eq!(place.widget("w").await["spec"]["shape"], shape);
    let words = ["get", "widgets.example.io", "w", "-n", "a", "-o", "yaml"];
    let yaml: Value = synod_yaml::from_str(&place.well(&words).await).unwrap();
    assert_eq!(yaml["spec"]["shape"], shape);
    // A refusal that quotes the text is harmless, too; as a holder's name the text is refused.
    let holder = "a\u{202e}b";
    let words = ["lease", "acquire", "backup", "--holder", holder];
    let refused = place.ask(&words).await;
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains(r"a\u{202e}b"), "{}", refused.err);
    assert!(
        refused.err.contains("bidirectional marks"),
        "{}",
        refused.err
    );
    harmless(&refused.err);
}

#[tokio::test]
async fn bytes_that_are_no_json_are_not_replaced_by_the_document_that_shows_them() {
    let place = Place::start().await;
    let client = place.cluster.client().await;
    client
        .raw_objects()
        .create(CreateObject {
            key: ObjectKey {
                resource: GroupResource::new("example.io", "widgets").unwrap(),
                name: NamespacedName::new(
                    Some(&Namespace::parse("a").unwrap()),
                    &ObjectName::parse("w").unwrap(),
                ),
            },
            attributes: Attributes::default(),
            content: Content {
                encoding: ApiVersion::parse("example.io/v1").unwrap(),
                media_type: MediaType::parse("application/octet-stream").unwrap(),
                data: vec![0, 255, 7].into(),
            },
            ttl: None,
            fences: Fences::default(),
        })
        .await
        .unwrap();
    let shown = place.widget("w").await;
    assert_eq!(shown["rawData"]["base64"], "AP8H");
    let file = place.file("w.json", &shown.to_string());
    for command in ["replace", "apply"] {
        let refused = place.ask(&[command, "-f", text(&file)]).await;
        assert_eq!(refused.code, 2, "{command}: {}", refused.err);
        assert!(refused.err.contains("only JSON"), "{}", refused.err);
    }
    assert_eq!(place.widget("w").await, shown);
}
