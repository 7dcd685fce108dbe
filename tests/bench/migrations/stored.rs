//! The collections that are migrated or written to, and their objects.

use bytes::Bytes;
use synod_client::{
    ApiVersion, Attributes, Codec, CodecError, CollectionRules, Content, CreateCollection,
    CreateObject, GroupResource, Kind, MediaType, Namespace, ObjectKey, ObjectName, Operation,
    Transact,
};
use tokio::task::JoinSet;

use crate::replicas::Replicas;

pub(crate) const LEGAL: &str = "every name is legal";

/// How many objects are stored by one transaction.
const AT_ONCE: usize = 100;

pub(crate) fn version(text: &str) -> ApiVersion {
    ApiVersion::parse(text).expect(LEGAL)
}

pub(crate) fn resource(name: &str) -> GroupResource {
    GroupResource::parse_qualified(name).expect(LEGAL)
}

pub(crate) fn key(of: &str, at: usize) -> ObjectKey {
    let name = ObjectName::parse(&format!("object-{at:06}")).expect(LEGAL);
    let namespace = Namespace::parse("default").expect(LEGAL);
    ObjectKey::new(resource(of), Some(&namespace), &name)
}

/// The content of an object before the migration.
pub(crate) fn content(number: u64, bytes: usize) -> Content {
    let filled = "x".repeat(bytes);
    Content {
        encoding: version("example.io/v1"),
        media_type: MediaType::JSON,
        data: Bytes::from(format!(r#"{{"number":{number},"filled":"{filled}"}}"#)),
    }
}

/// A codec without a cost: both versions are the same bytes. The figure is of migrations alone.
pub(crate) struct Same;

impl Codec<Content> for Same {
    fn preferred(&self) -> ApiVersion {
        version("example.io/v2")
    }

    fn decode(&self, _: &ObjectKey, content: &Content) -> Result<Content, CodecError> {
        Ok(content.clone())
    }

    fn encode(
        &self,
        _: &ObjectKey,
        value: &Content,
        version: &ApiVersion,
    ) -> Result<Content, CodecError> {
        Ok(Content {
            encoding: version.clone(),
            ..value.clone()
        })
    }
}

/// The kind of a resource, named after it.
pub(crate) fn kind(of: &str) -> Kind {
    let name = resource(of);
    let singular = name.resource().trim_end_matches('s');
    let (first, others) = singular.split_at(1);
    Kind::parse(&format!("{}{others}", first.to_uppercase())).expect(LEGAL)
}

/// Declares a collection and stores this many objects in it.
pub(crate) async fn fill(replicas: &Replicas, name: &'static str, count: usize) {
    let client = replicas.client().await;
    let create = CreateCollection {
        resource: resource(name),
        kind: kind(name),
        namespaced: true,
        rules: CollectionRules {
            unconditional_update: true,
            create_on_update: true,
            ..CollectionRules::default()
        },
    };
    let declared = client.collections().create(create).await;
    declared.expect("a collection can be declared");
    let mut under_way = JoinSet::new();
    for from in (0..count).step_by(AT_ONCE) {
        let create = |at: usize| {
            Operation::Create(CreateObject {
                key: key(name, at),
                attributes: Attributes::default(),
                content: content(at as u64, crate::BYTES),
                ttl: None,
                fences: Default::default(),
            })
        };
        let transact = Transact {
            compares: Vec::new(),
            operations: (from..count.min(from + AT_ONCE)).map(create).collect(),
            reads: Vec::new(),
            fences: Default::default(),
        };
        let client = client.clone();
        under_way.spawn(async move {
            let stored = client.raw_objects().transact(transact).await;
            stored.expect("the objects are stored");
        });
        if under_way.len() == 8 {
            under_way.join_next().await;
        }
    }
    under_way.join_all().await;
}
