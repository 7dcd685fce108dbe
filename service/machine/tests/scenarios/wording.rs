//! The messages of refused changes of objects use Kubernetes' words, for programs that read those.

use synod_machine::Command;
use synod_model::{
    Attributes, DeleteObject, ErrorKind, PatchObject, Preconditions, Revision, Uid, UpdateObject,
};

use crate::cluster::{Cluster, refused};
use crate::shelf::{content, create, delete, patch, update, widget};

#[test]
fn what_is_not_there_or_there_already_is_named_by_resource_and_name() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let commands = [
        Command::PatchObject(patch(&one, "{}")),
        Command::DeleteObject(delete(&one, None)),
        Command::UpdateObject(UpdateObject {
            preconditions: Preconditions {
                uid: Some(Uid::from_bytes([9; 16])),
                resource_version: None,
            },
            ..update(&one, Attributes::default(), content("v1", "{}"))
        }),
    ];
    for command in commands {
        let refusal = refused(cluster.send(command), ErrorKind::NotFound);
        assert_eq!(refusal.message, "widgets.example.io \"one\" not found");
        assert_eq!(refusal.metadata["namespace"], "a");
    }
    cluster.stores(&one, Attributes::default());
    let again = create(&one, Attributes::default(), content("v1", "{}"));
    let refusal = refused(
        cluster.send(Command::CreateObject(again)),
        ErrorKind::AlreadyExists,
    );
    assert_eq!(refusal.message, "widgets.example.io \"one\" already exists");
}

#[test]
fn a_conflict_says_what_to_do_or_which_precondition_failed() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let first = cluster.stores(&one, Attributes::default());
    cluster.updates(&one, Attributes::default(), content("v1", "[1]"));
    let present = cluster.object(&one).metadata.resource_version;
    let old = first.metadata.resource_version;
    let late = |version: Revision| Preconditions {
        uid: None,
        resource_version: Some(version),
    };
    let another = Uid::from_bytes([9; 16]);
    let of_another = Preconditions {
        uid: Some(another),
        resource_version: None,
    };
    let message = |cluster: &mut Cluster, command| {
        let refusal = refused(cluster.send(command), ErrorKind::Conflict);
        assert_eq!(refusal.metadata["resource_version"], present.to_string());
        let begin = "Operation cannot be fulfilled on widgets.example.io \"one\": ";
        let message = refusal.message.strip_prefix(begin).map(str::to_owned);
        message.unwrap_or_else(|| panic!("{}", refusal.message))
    };
    let changes = |preconditions| {
        [
            Command::UpdateObject(UpdateObject {
                preconditions,
                ..update(&one, Attributes::default(), content("v1", "[2]"))
            }),
            Command::PatchObject(PatchObject {
                preconditions,
                ..patch(&one, r#"{"a":1}"#)
            }),
        ]
    };
    let deletes = |preconditions| {
        Command::DeleteObject(DeleteObject {
            preconditions,
            ..delete(&one, None)
        })
    };
    let modified = "the object has been modified; please apply your changes to the latest version and try again";
    for command in changes(late(old)) {
        assert_eq!(message(&mut cluster, command), modified);
    }
    let uid = first.metadata.uid;
    let replaced =
        format!("Precondition failed: UID in precondition: {another}, UID in object meta: {uid}");
    for command in changes(of_another).into_iter().chain([deletes(of_another)]) {
        assert_eq!(message(&mut cluster, command), replaced);
    }
    assert_eq!(
        message(&mut cluster, deletes(late(old))),
        format!(
            "Precondition failed: ResourceVersion in precondition: {old}, ResourceVersion in object meta: {present}"
        )
    );
}
