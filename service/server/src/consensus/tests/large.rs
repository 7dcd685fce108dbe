//! Tests that checkpoints hold whatever apply produces, however large.

use std::path::Path;

use synod_machine::State;
use synod_model::limits::{FINALIZERS_MAX, OBJECT_BYTES_MAX};
use synod_model::stored::put_blob;
use synod_model::{
    ApiVersion, Attributes, CollectionRules, Content, CreateCollection, CreateObject, DeleteObject,
    Fences, Finalizers, GroupResource, Kind, MediaType, Namespace, ObjectKey, ObjectName,
    Operation, OwnerReference, OwnerReferences, Preconditions, Propagation, Transact, TtlChange,
    Uid, UpdateObject,
};
use synod_store::checkpoint::Rows;

use super::one::{alone, checkpoint, leads};
use super::*;

fn key(name: &str) -> ObjectKey {
    let resource = GroupResource::new("example.io", "widgets").unwrap();
    let namespace = Namespace::parse("a").unwrap();
    ObjectKey::new(
        resource,
        Some(&namespace),
        &ObjectName::parse(name).unwrap(),
    )
}

fn content(byte: u8, bytes: usize) -> Content {
    Content {
        encoding: ApiVersion::parse("example.io/v1").unwrap(),
        media_type: MediaType::parse("application/octet-stream").unwrap(),
        data: vec![byte; bytes].into(),
    }
}

fn declare() -> Command {
    Command::CreateCollection(CreateCollection {
        resource: key("any").resource,
        kind: Kind::parse("Widget").unwrap(),
        namespaced: true,
        rules: CollectionRules {
            unconditional_update: true,
            status_subresource: false,
            ..CollectionRules::default()
        },
    })
}

fn create(name: &str, attributes: Attributes, content: Content) -> Command {
    Command::CreateObject(CreateObject {
        key: key(name),
        attributes,
        content,
        ttl: None,
        fences: Fences::default(),
    })
}

/// Executes the commands one by one, and returns the index of the last entry.
async fn executed(replica: &Running, commands: Vec<Command>) -> u64 {
    let mut last = 0;
    for command in commands {
        let done = replica.consensus.propose(entry(vec![command]), None).await;
        let done = done.unwrap();
        let outcome = &done.applied.outcomes[0];
        assert!(outcome.result.is_ok(), "{outcome:?}");
        last = done.position.index;
    }
    last
}

/// Restarts a replica from a checkpoint that holds all executed entries, and checks that its state is the same.
async fn comes_back(directory: &Path, replica: Running, index: u64) {
    checkpoint(&replica.consensus, index).await;
    let before = replica.consensus.published();
    replica.stop().await;
    let replica = alone(directory).await;
    leads(&replica.consensus).await;
    let after = replica.consensus.published();
    assert_eq!(after.state.revision(), before.state.revision());
    assert_eq!(after.state.digest(), before.state.digest());
    replica.stop().await;
}

// Guarantee: D-14
#[tokio::test]
async fn a_revision_that_changed_more_than_a_chunk_holds_is_in_the_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    replica.formed().await;
    let names = ["one", "two", "three", "four"];
    let mut commands = vec![declare()];
    commands.extend(
        names.map(|name| create(name, Attributes::default(), content(1, OBJECT_BYTES_MAX))),
    );
    let operations = names.map(|name| {
        Operation::Update(UpdateObject {
            key: key(name),
            attributes: Attributes::default(),
            content: content(2, OBJECT_BYTES_MAX),
            ttl: TtlChange::Keep,
            preconditions: Preconditions::default(),
            fences: Fences::default(),
        })
    });
    commands.push(Command::Transact(Transact {
        compares: Vec::new(),
        operations: operations.into(),
        reads: Vec::new(),
        fences: Fences::default(),
    }));
    let last = executed(&replica, commands).await;
    comes_back(directory.path(), replica, last).await;
}

// Guarantee: D-14
#[tokio::test]
async fn an_object_of_as_many_finalizers_as_there_can_be_comes_back_while_it_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    replica.formed().await;
    let finalizers = (0..FINALIZERS_MAX).map(|i| format!("x.io/f-{i}"));
    let owner = Attributes {
        finalizers: Finalizers::parse(finalizers).unwrap(),
        ..Attributes::default()
    };
    let commands = vec![declare(), create("owner", owner, content(1, 1))];
    executed(&replica, commands).await;
    let state = replica.consensus.published().state.clone();
    let owner = state.present().object(&key("owner")).unwrap();
    let dependent = Attributes {
        owners: owned_by(owner.metadata.uid),
        ..Attributes::default()
    };
    let delete = Command::DeleteObject(DeleteObject {
        key: key("owner"),
        propagation: Some(Propagation::Foreground),
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    });
    let commands = vec![create("dependent", dependent, content(1, 1)), delete];
    let last = executed(&replica, commands).await;
    comes_back(directory.path(), replica, last).await;
}

fn owned_by(uid: Uid) -> OwnerReferences {
    let owner = OwnerReference {
        api_version: ApiVersion::parse("example.io/v1").unwrap(),
        kind: Kind::parse("Widget").unwrap(),
        name: ObjectName::parse("owner").unwrap(),
        uid,
        controller: false,
        block_owner_deletion: true,
    };
    OwnerReferences::new(vec![owner]).unwrap()
}

// Guarantee: D-14
#[tokio::test]
async fn rows_are_read_wherever_their_chunks_are_cut() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    replica.formed().await;
    executed(
        &replica,
        vec![
            declare(),
            create("a", Attributes::default(), content(1, 300)),
        ],
    )
    .await;
    let state = replica.consensus.published().state.clone();
    replica.stop().await;
    let mut bytes = Vec::new();
    for row in state.rows() {
        put_blob(&mut bytes, &to_bytes(&row));
    }
    for length in [1, 2, 3, 7, 100, bytes.len()] {
        let mut rows = Rows::default();
        for chunk in bytes.chunks(length) {
            rows.read(chunk).unwrap();
        }
        assert_eq!(rows.state().unwrap().digest(), state.digest(), "{length}");
    }
    let mut cut = Rows::default();
    cut.read(&bytes[..bytes.len() - 1]).unwrap();
    assert!(cut.state().is_err(), "the end of the last row is missing");
    let mut endless = Rows::default();
    assert!(endless.read(&[0xff; 10]).is_err(), "no row is that long");
}

#[test]
fn a_row_whose_length_is_longer_than_it_has_to_be_is_refused() {
    let row = to_bytes(&State::new().rows().next().unwrap());
    let mut bytes = Vec::new();
    put_blob(&mut bytes, &row);
    Rows::default().read(&bytes).unwrap();
    let head = bytes.len() - row.len();
    // The same number, with leading zeros.
    bytes[head - 1] |= 0x80;
    bytes.insert(head, 0);
    let refused = Rows::default().read(&bytes).unwrap_err();
    assert!(refused.to_string().contains("leading zeros"), "{refused}");
    assert!(
        Rows::default().read(&bytes[..head]).is_ok(),
        "it may yet end"
    );
}
