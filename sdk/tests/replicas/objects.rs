//! Collections and their objects.

mod counting;
mod disks;
mod late;
mod pages;
mod strict;
mod typed;
mod watching;

use std::pin::Pin;
use std::time::Duration;

use synod_client::{
    ApiVersion, Attributes, Client, Codec, CodecError, CollectionRules, Content, CreateCollection,
    CreateObject, Fences, Kind, MediaType, Namespace, NamespacedName, NewObject, ObjectKey,
    ObjectName, Objects,
};

use crate::cluster::{Cluster, endpoint, legal, pass, resource, version, within};
use crate::network::Weather;

pub(crate) const WIDGETS: &str = "widgets.example.io";
pub(crate) const V1: &str = "example.io/v1";
pub(crate) const V2: &str = "example.io/v2";

/// Numbers, as `{"n":1}` in one version and as `{"number":"1"}` in the next.
#[derive(Clone, Debug)]
pub(crate) struct Numbers(pub(crate) ApiVersion);

impl Codec<u64> for Numbers {
    fn preferred(&self) -> ApiVersion {
        self.0.clone()
    }

    fn encode(
        &self,
        _: &ObjectKey,
        value: &u64,
        encoding: &ApiVersion,
    ) -> Result<Content, CodecError> {
        let text = match encoding.to_string().as_str() {
            V1 => format!(r#"{{"n":{value}}}"#),
            V2 => format!(r#"{{"number":"{value}"}}"#),
            other => return Err(format!("{other} is not known").into()),
        };
        Ok(Content {
            encoding: encoding.clone(),
            media_type: MediaType::JSON,
            data: text.into_bytes().into(),
        })
    }

    fn decode(&self, _: &ObjectKey, content: &Content) -> Result<u64, CodecError> {
        let text = std::str::from_utf8(&content.data)?;
        let (head, tail) = match content.encoding.to_string().as_str() {
            V1 => (r#"{"n":"#, "}"),
            _ => (r#"{"number":""#, r#""}"#),
        };
        let number = text
            .strip_prefix(head)
            .and_then(|rest| rest.strip_suffix(tail));
        Ok(number.ok_or("it is no number")?.parse()?)
    }
}

/// Declares the collection of widgets, in namespaces.
pub(crate) async fn declare(client: &Client, rules: CollectionRules) {
    let create = CreateCollection {
        resource: resource(WIDGETS),
        kind: legal(Kind::parse("Widget")),
        namespaced: true,
        rules,
    };
    within(client.collections().create(create)).await.unwrap();
}

/// The widgets as numbers, encoded in this version unless another one is selected.
pub(crate) fn numbers(client: &Client, preferred: &str) -> Objects<u64> {
    client.objects(resource(WIDGETS), Numbers(version(preferred)))
}

pub(crate) fn named(namespace: &str, name: &str) -> NamespacedName {
    let namespace = legal(Namespace::parse(namespace));
    NamespacedName::new(Some(&namespace), &legal(ObjectName::parse(name)))
}

fn key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey {
        resource: resource(WIDGETS),
        name: named(namespace, name),
    }
}

pub(crate) async fn create(objects: &Objects<u64>, namespace: &str, name: &str, value: u64) {
    let new = NewObject::new(named(namespace, name), value);
    within(objects.create(new)).await.unwrap();
}

/// A client of all replicas that begins with the first, and asks another one after three seconds.
async fn impatient(cluster: &Cluster) -> Client {
    let client = cluster.client_of(vec![1, 2, 3]).await;
    client.with_timeout(Duration::from_secs(9))
}

/// Sends a change by [`impatient`] while the first replica's answers are lost, so that a retry is answered after
/// `meanwhile` has run.
fn answered_late<'a, A, B>(
    cluster: &'a Cluster,
    change: impl Future<Output = A> + 'a,
    meanwhile: impl Future<Output = B> + 'a,
) -> Pin<Box<dyn Future<Output = (A, B)> + 'a>> {
    Box::pin(async move {
        cluster.network.set(&endpoint(1), Weather::Mute);
        let meanwhile = async {
            pass(Duration::from_secs(1)).await;
            meanwhile.await
        };
        within(async { tokio::join!(change, meanwhile) }).await
    })
}

/// Stores an object in the first version that no codec can decode.
pub(crate) async fn broken(client: &Client, namespace: &str, name: &str) {
    let create = CreateObject {
        key: key(namespace, name),
        attributes: Attributes::default(),
        content: Content {
            encoding: version(V1),
            media_type: MediaType::JSON,
            data: "{}".into(),
        },
        ttl: None,
        fences: Fences::default(),
    };
    within(client.raw_objects().create(create)).await.unwrap();
}
