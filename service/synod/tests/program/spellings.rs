//! Names of resources on the command line: one spelling, the other one resolved where one resource fits, and what nothing knows refused.

use synod_client::{Client, DeleteRoster, ResourceScope, RosterRule, SetRoster};

use crate::cluster::{Cluster, Server};
use crate::program::Printed;

const WIDGETS: &str = "widgets.example.io";

/// The sentence on standard error after a name that was resolved.
const TAKEN: &str = " is taken for widgets.example.io, the one resource that fits";

fn well(printed: Printed) -> String {
    assert_eq!(printed.code, 0, "{}{}", printed.out, printed.err);
    printed.out
}

/// A cluster whose member reports widgets and pods.
async fn cluster_with_widgets() -> (Cluster, Client) {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes(WIDGETS, "example.io/v2").await;
    server.encodes("pods", "v1").await;
    (cluster, client)
}

/// The roster of a scope as it is on the wire.
async fn set_roster(client: &Client, scope: &str) {
    let set = SetRoster {
        scope: ResourceScope::parse(scope).unwrap(),
        rule: RosterRule {
            least: 1,
            ..RosterRule::default()
        },
        if_revision: None,
    };
    client.rosters().set(set).await.unwrap();
}

#[tokio::test]
async fn a_resource_is_found_by_either_form_and_said_to_be() {
    let (cluster, _client) = cluster_with_widgets().await;
    for words in [
        &["storage-versions", "get"][..],
        &["storage-versions", "history"],
        &["storage-versions", "check", "--assume-complete"],
    ] {
        let print = async |name| cluster.ask(&[words, &[name, "-o", "name"]].concat()).await;
        let written = print(WIDGETS).await;
        assert_eq!((written.code, &*written.err), (0, ""), "{words:?}");
        let upstream = print("example.io.widgets").await;
        let said = format!("example.io.widgets{TAKEN}");
        assert!(upstream.err.starts_with(&said), "{}", upstream.err);
        assert_eq!((upstream.code, upstream.out), (0, written.out), "{words:?}");
    }
    // The core group has no name of its own.
    let pods = well(cluster.ask(&["sv", "get", "pods", "-o", "name"]).await);
    assert_eq!(pods, "pods\n");
    assert_eq!(
        well(cluster.ask(&["sv", "get", "core.pods", "-o", "name"]).await),
        pods
    );
    let listed = well(cluster.ask(&["sv", "list", "-o", "name"]).await);
    assert_eq!(listed, format!("pods\n{WIDGETS}\n"));
}

#[tokio::test]
async fn a_drop_is_checked_by_either_form_and_never_of_what_nothing_knows() {
    let (cluster, _client) = cluster_with_widgets().await;
    let check = async |name| cluster.ask(&["check-drop", name, "example.io/v1"]).await;
    let written = check(WIDGETS).await;
    assert_eq!((written.code, &*written.err), (8, ""));
    assert!(written.out.contains(WIDGETS), "{}", written.out);
    let upstream = check("example.io.widgets").await;
    assert!(upstream.err.contains(TAKEN), "{}", upstream.err);
    assert_eq!((upstream.code, upstream.out), (8, written.out));
    for mistyped in [
        "widgets.exampel.io",
        "exampel.io.widgets",
        "encoding/widget.example.io",
    ] {
        let refused = check(mistyped).await;
        assert_eq!((refused.code, &*refused.out), (3, ""), "{}", refused.err);
        let nearest = format!(
            "RESOURCE: Not found: \"{mistyped}\": the nearest name that is known is {WIDGETS}"
        );
        assert!(refused.err.contains(&nearest), "{}", refused.err);
    }
}

#[tokio::test]
async fn a_roster_over_what_nothing_knows_is_refused_unless_it_is_new() {
    let (cluster, client) = cluster_with_widgets().await;
    let set = async |scope, more: &[&str]| {
        let words = ["rosters", "set", scope, "--least", "1"];
        cluster.ask(&[&words[..], more].concat()).await
    };
    let refused = set("widgets.exampel.io", &[]).await;
    assert_eq!(refused.code, 3, "{}", refused.err);
    for part in ["SCOPE: Not found", &format!("is {WIDGETS}\n"), "--new"] {
        assert!(refused.err.contains(part), "{part} in {}", refused.err);
    }
    assert_eq!(well(cluster.ask(&["rosters", "-o", "name"]).await), "");

    // On the wire a scope stays as it is.
    assert!(set("example.io.widgets", &[]).await.err.contains(TAKEN));
    let set_again = well(set(WIDGETS, &[]).await);
    assert!(set_again.contains("no"), "{set_again}");
    let shown = well(
        cluster
            .ask(&["rosters", "get", WIDGETS, "-o", "json"])
            .await,
    );
    assert!(
        shown.contains("\"scope\": \"example.io.widgets\""),
        "{shown}"
    );
    assert_eq!(
        well(cluster.ask(&["rosters", "-o", "name"]).await),
        format!("{WIDGETS}\n")
    );
    let delete = DeleteRoster {
        scope: ResourceScope::parse("example.io.widgets").unwrap(),
        if_revision: None,
    };
    client.rosters().delete(delete).await.unwrap();

    let new = set("certificates.acme.org", &["--new"]).await;
    assert_eq!((new.code, &*new.err), (0, ""));
    well(
        cluster
            .ask(&["rosters", "delete", "certificates.acme.org"])
            .await,
    );
    // A group may come to be known later, so the roster is set all the same.
    let group = set("exampel.io.*", &[]).await;
    assert_eq!(group.code, 0, "{}", group.err);
    assert!(
        group.err.contains("over nothing that is known yet"),
        "{}",
        group.err
    );
    assert_eq!(set("example.io.*", &[]).await.err, "");
}

#[tokio::test]
async fn a_name_that_fits_two_known_resources_is_refused() {
    let (cluster, client) = cluster_with_widgets().await;
    // What the wrong spelling once left: the resource `io` of the group `widgets.example`.
    set_roster(&client, "widgets.example.io").await;
    let get = async |name| cluster.ask(&["sv", "get", name, "-o", "name"]).await;
    let refused = get(WIDGETS).await;
    assert_eq!((refused.code, &*refused.out), (2, ""), "{}", refused.err);
    for part in [
        "is widgets of the group example.io, and io of the group widgets.example if it is read as <group>.<resource>",
        "write encoding/widgets.example.io or encoding/io.widgets.example",
    ] {
        assert!(refused.err.contains(part), "{part} in {}", refused.err);
    }
    let topic = get("encoding/widgets.example.io").await;
    assert_eq!((topic.code, &*topic.out), (0, "widgets.example.io\n"));
    // The bare name of the core group has one reading.
    set_roster(&client, "pods.core").await;
    assert_eq!(get("pods").await.code, 0);
    assert_eq!(get("core.pods").await.code, 2);
    well(
        cluster
            .ask(&["rosters", "delete", "io.widgets.example"])
            .await,
    );
    assert_eq!(well(get(WIDGETS).await), "widgets.example.io\n");
}

#[tokio::test]
async fn a_manifest_marks_a_resource_that_its_binary_brings_as_new() {
    let (cluster, _client) = cluster_with_widgets().await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("binary.yaml");
    let check = async |name: &str, mark: &str| {
        let decodes = format!("{{resource: {name}, decodableVersions: [acme.org/v1]{mark}}}");
        let text = format!("{{resources: [{decodes}], leftToOthers: ['*']}}");
        std::fs::write(&file, text).unwrap();
        let words = ["check-binary", "--assume-complete", "-f"];
        let words = [&words[..], &[file.to_str().unwrap()]].concat();
        cluster.ask(&words).await
    };
    let unmarked = check("certificates.acme.org", "").await;
    assert_eq!(unmarked.code, 3, "{}", unmarked.err);
    assert!(unmarked.err.contains("`new: true`"), "{}", unmarked.err);
    let unmarked = check("certificates.acme.org", ", new: false").await;
    assert_eq!(unmarked.code, 3, "{}", unmarked.err);
    let marked = check("certificates.acme.org", ", new: true").await;
    assert_eq!((marked.code, &*marked.err), (0, ""), "{}", marked.out);
    // What is known is judged as any other.
    let known = check(WIDGETS, ", new: true").await;
    assert_eq!(known.code, 8, "{}", known.err);
    assert!(known.out.contains("example.io/v2"), "{}", known.out);
}

#[tokio::test]
async fn a_manifest_and_a_setting_name_resources_by_the_same_rule() {
    let (cluster, _client) = cluster_with_widgets().await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("binary.yaml");
    let check = async |names: [&str; 2], more: &[&str]| {
        let [widgets, others] = names;
        let decodes =
            format!("{{resource: {widgets}, decodableVersions: [example.io/v1, example.io/v2]}}");
        let text = format!("{{resources: [{decodes}], leftToOthers: [{others}]}}");
        std::fs::write(&file, text).unwrap();
        let words = ["check-binary", "-f", file.to_str().unwrap()];
        cluster.ask(&[&words[..], more].concat()).await
    };
    let written = check([WIDGETS, "pods"], &[]).await;
    assert_eq!((written.code, &*written.err), (8, ""), "{}", written.out);
    let upstream = check(["example.io.widgets", "core.pods"], &[]).await;
    assert_eq!(upstream.err.lines().count(), 2, "{}", upstream.err);
    assert_eq!((upstream.code, upstream.out), (8, written.out));
    let refused = check(["widgets.exampel.io", "pod"], &[]).await;
    assert_eq!(refused.code, 3, "{}", refused.err);
    for place in [
        "resources[0].resource: Not found",
        "leftToOthers[0]: Not found",
    ] {
        assert!(refused.err.contains(place), "{place} in {}", refused.err);
    }
    let new = check(["certificates.acme.org", "'*'"], &["--new"]).await;
    assert_eq!((new.code, &*new.err), (8, ""), "{}", new.out);

    let assign = async |names: &str, more: &[&str]| {
        let assignment = format!("enforce_persisted={names}");
        let words = ["settings", "set", &assignment];
        cluster.ask(&[&words[..], more].concat()).await
    };
    assert_eq!(assign("pods,widgets.exampel.io", &[]).await.code, 3);
    let resolved = assign("pods,example.io.widgets", &[]).await;
    assert!(resolved.err.contains(TAKEN), "{}", resolved.err);
    let shown = well(cluster.ask(&["settings"]).await);
    assert!(shown.contains("pods,widgets.example.io"), "{shown}");
    well(assign("certificates.acme.org", &["--new"]).await);
}

#[tokio::test]
async fn a_collection_is_found_by_either_form_and_declared_as_it_is_written() {
    let (cluster, _client) = cluster_with_widgets().await;
    let create = [
        "collections",
        "create",
        "gadgets.acme.org",
        "--kind",
        "Gadget",
    ];
    let created = cluster.ask(&create).await;
    assert_eq!((created.code, &*created.err), (0, ""), "{}", created.out);
    let get = async |name| {
        cluster
            .ask(&["collections", "get", name, "-o", "name"])
            .await
    };
    assert_eq!(well(get("gadgets.acme.org").await), "gadgets.acme.org\n");
    assert_eq!(well(get("acme.org.gadgets").await), "gadgets.acme.org\n");
    assert_eq!(get("gadget.acme.org").await.code, 3);
    let objects = cluster
        .ask(&["get", "acme.org.gadgets", "-o", "name"])
        .await;
    assert_eq!((objects.code, &*objects.out), (0, ""));
    assert!(
        objects
            .err
            .contains("acme.org.gadgets is taken for gadgets.acme.org"),
        "{}",
        objects.err
    );
    // The name of a known resource in the other form declares that one.
    let create = [
        "collections",
        "create",
        "example.io.widgets",
        "--kind",
        "Widget",
    ];
    assert!(cluster.ask(&create).await.err.contains(TAKEN));
    assert_eq!(well(get(WIDGETS).await), "widgets.example.io\n");
}

#[tokio::test]
async fn a_name_of_neither_form_is_refused_before_a_replica_is_asked() {
    for words in [
        &["check-drop", "Pods", "v1"][..],
        &["storage-versions", "check", "pods", "Pods"],
        &["migrations", "start", "key/secrets"],
        &["watch", "--resources", "pods."],
    ] {
        let printed = crate::program::run(words).await;
        assert_eq!(printed.code, 2, "{words:?}: {}", printed.err);
        assert!(
            printed.err.contains("Invalid value"),
            "{words:?}: {}",
            printed.err
        );
    }
}
