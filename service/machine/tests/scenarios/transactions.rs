//! Transactions: all operations on several objects are carried out, or none.

use synod_machine::{Answer, Command, WrittenHow};
use synod_model::{
    Annotations, ApiVersion, Attributes, Compare, ErrorKind, Fences, Operation, Revision, Transact,
};

use crate::cluster::{Cluster, accepted, refused};
use crate::entry::{of, resource};
use crate::shelf::{WIDGETS, content, create, delete, finalized, owned_by, patch, update, widget};

fn transact(compares: Vec<Compare>, operations: Vec<Operation>) -> Command {
    Command::Transact(Transact {
        compares,
        operations,
        reads: Vec::new(),
        fences: Fences::default(),
    })
}

fn creates(name: &str) -> Operation {
    let content = content("v1", "{}");
    Operation::Create(create(&widget(name), Attributes::default(), content))
}

fn updates(name: &str, version: &str, data: &str) -> Operation {
    let content = content(version, data);
    Operation::Update(update(&widget(name), Attributes::default(), content))
}

fn deletes(name: &str) -> Operation {
    Operation::Delete(delete(&widget(name), None))
}

fn decided(cluster: &mut Cluster, command: Command) -> (bool, Vec<WrittenHow>) {
    match accepted(cluster.send(command)) {
        Answer::Transacted { succeeded, written } => (
            succeeded,
            written.iter().map(|written| written.how).collect(),
        ),
        other => panic!("a transaction answers what became of it, not {other:?}"),
    }
}

#[test]
fn a_transaction_changes_several_objects_at_one_revision() {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/old"), Attributes::default());
    cluster.stores(&widget("a/kept"), Attributes::default());
    cluster.stores(&widget("a/slow"), finalized(&["x.io/wait"]));
    let before = cluster.revision();
    let operations = vec![
        creates("a/new"),
        updates("a/created", "v2", "{}"),
        Operation::Patch(patch(&widget("a/kept"), r#"{"a":1}"#)),
        deletes("a/old"),
        deletes("a/slow"),
        updates("a/other", "v3", "{}"),
    ];
    let (succeeded, written) = decided(&mut cluster, transact(Vec::new(), operations));
    assert!(succeeded);
    use WrittenHow::{Created, Deleted, Deleting, Updated};
    assert_eq!(
        written,
        [Created, Created, Updated, Deleted, Deleting, Created]
    );
    assert_eq!(cluster.revision(), before.next());
    assert_eq!(cluster.persisted(WIDGETS), ["v1", "v2", "v3"]);
    let events = cluster.state.history().next_after(before);
    let events = events.expect("it is kept").expect("there is one");
    // Six objects, and what is persisted once, not once for each version.
    assert_eq!(events.changes.len(), 7);
}

// Guarantee: W-16
#[test]
fn one_refused_operation_undoes_the_others() {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/there"), Attributes::default());
    let before = cluster.state.digest();
    let operations = vec![
        updates("a/there", "v2", "[1]"),
        creates("a/new"),
        deletes("a/absent"),
    ];
    let refusal = refused(
        cluster.send(transact(Vec::new(), operations)),
        ErrorKind::NotFound,
    );
    assert_eq!(refusal.metadata["operation"], "2");
    assert!(refusal.message.starts_with("operations[2]: "), "{refusal}");
    assert_eq!(cluster.state.digest(), before);
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
}

// Guarantee: W-16
#[test]
fn operations_are_carried_out_only_if_every_comparison_holds() {
    let mut cluster = Cluster::with_widgets();
    cluster.starts("a", &[of(WIDGETS).decodes("v1 v2").prefers("v1")]);
    let there = cluster.stores(&widget("a/there"), Attributes::default());
    let version = there.metadata.resource_version;
    let (here, absent) = (|| widget("a/there"), || widget("a/absent"));
    let selected = |version: Option<&str>| {
        let version = version.map(|version| ApiVersion::parse(version).expect("legal"));
        Compare::Selected(resource(WIDGETS), version)
    };
    let hold = [
        Compare::ResourceVersion(here(), version),
        Compare::Exists(here()),
        Compare::Absent(absent()),
        selected(Some("v1")),
        Compare::Selected(resource("example.io.gadgets"), None),
    ];
    let fail = [
        Compare::ResourceVersion(here(), Revision::new(version.get() + 1)),
        Compare::ResourceVersion(absent(), version),
        Compare::Exists(absent()),
        Compare::Absent(here()),
        selected(Some("v2")),
        selected(None),
    ];
    for failing in fail {
        let mut compares = hold.to_vec();
        compares.push(failing);
        let before = cluster.revision();
        let decided = decided(&mut cluster, transact(compares, vec![creates("a/new")]));
        assert_eq!((decided, cluster.revision()), ((false, Vec::new()), before));
    }
    let (succeeded, _) = decided(
        &mut cluster,
        transact(hold.to_vec(), vec![creates("a/new")]),
    );
    assert!(succeeded && cluster.has(&widget("a/new")));
}

#[test]
fn a_comparison_is_with_the_last_change_of_an_object_and_not_with_its_creation() {
    let mut cluster = Cluster::with_widgets();
    let key = widget("a/there");
    cluster.stores(&key, Attributes::default());
    let changed = content("v1", "[1]");
    cluster.updates(&key, Attributes::default(), changed);
    let there = cluster.object(&key);
    let (created, changed) = (
        there.metadata.create_revision,
        there.metadata.resource_version,
    );
    assert!(created < changed && changed == cluster.revision());
    let creates_if = |version| {
        let compare = Compare::ResourceVersion(widget("a/there"), version);
        transact(vec![compare], vec![creates("a/new")])
    };
    let (succeeded, _) = decided(&mut cluster, creates_if(created));
    assert!(!succeeded && !cluster.has(&widget("a/new")));
    let (succeeded, _) = decided(&mut cluster, creates_if(changed));
    assert!(succeeded && cluster.has(&widget("a/new")));
}

#[test]
fn a_key_that_stands_twice_is_refused_in_apply_too() {
    let mut cluster = Cluster::with_widgets();
    let twice = vec![creates("a/new"), deletes("a/new")];
    let refusal = refused(
        cluster.send(transact(Vec::new(), twice)),
        ErrorKind::InvalidArgument,
    );
    assert_eq!(refusal.violations[0].field, "operations[1].key");
}

#[test]
fn later_operations_see_what_earlier_ones_did() {
    let mut cluster = Cluster::with_widgets();
    let owner = cluster.stores(&widget("a/owner"), Attributes::default());
    let dependent = create(
        &widget("a/dependent"),
        owned_by(&[&owner]),
        content("v1", "{}"),
    );
    let too_late = vec![deletes("a/owner"), Operation::Create(dependent.clone())];
    refused(
        cluster.send(transact(Vec::new(), too_late)),
        ErrorKind::InvalidArgument,
    );
    let in_time = vec![Operation::Create(dependent), deletes("a/owner")];
    let (succeeded, _) = decided(&mut cluster, transact(Vec::new(), in_time));
    assert!(succeeded);
    // It was created and deleted in one revision, with its owner.
    assert!(!cluster.has(&widget("a/dependent")) && !cluster.has(&widget("a/owner")));
    assert!(!cluster.state.has_garbage());
}

#[test]
fn a_transaction_is_fenced_and_bounded_in_the_bytes_that_it_touches() {
    let mut cluster = Cluster::with_widgets();
    let server = cluster.joins("api");
    let newer = cluster.restarts(&server);
    let mut fenced = Transact {
        compares: Vec::new(),
        operations: vec![creates("a/new")],
        reads: Vec::new(),
        fences: Fences {
            if_member: Some((server.id.clone(), server.epoch)),
            ..Fences::default()
        },
    };
    refused(
        cluster.send(Command::Transact(fenced.clone())),
        ErrorKind::StaleEpoch,
    );
    fenced.fences.if_member = Some((newer.id.clone(), newer.epoch));
    accepted(cluster.send(Command::Transact(fenced)));
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    let names: Vec<String> = (0..9).map(|i| format!("a/large-{i}")).collect();
    for name in &names {
        cluster.updates(&widget(name), Attributes::default(), content("v1", &large));
    }
    let of = |names: &[String]| names.iter().map(|name| deletes(name)).collect();
    refused(
        cluster.send(transact(Vec::new(), of(&names))),
        ErrorKind::TooLarge,
    );
    let (succeeded, _) = decided(&mut cluster, transact(Vec::new(), of(&names[..7])));
    assert!(succeeded);
}

#[test]
fn annotations_count_among_the_bytes_that_a_transaction_touches() {
    let mut cluster = Cluster::with_widgets();
    let noted = Attributes {
        annotations: Annotations::parse([(
            "note",
            "x".repeat(256 << 10).get(4..).unwrap_or_default(),
        )])
        .expect("legal annotations"),
        ..Attributes::default()
    };
    let names: Vec<String> = (0..33).map(|i| format!("a/noted-{i}")).collect();
    for name in &names {
        cluster.updates(&widget(name), noted.clone(), content("v1", "{}"));
    }
    let of = |names: &[String]| names.iter().map(|name| deletes(name)).collect();
    refused(
        cluster.send(transact(Vec::new(), of(&names))),
        ErrorKind::TooLarge,
    );
    let (succeeded, _) = decided(&mut cluster, transact(Vec::new(), of(&names[..31])));
    assert!(succeeded);
}
