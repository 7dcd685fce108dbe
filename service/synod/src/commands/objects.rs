//! The commands for objects, one file each: read the arguments, call the cluster, print the answer.

pub(crate) mod apply;
pub(crate) mod create;
pub(crate) mod delete;
mod each_document;
pub(crate) mod edit;
pub(crate) mod get;
mod overtaken;
pub(crate) mod patch;
pub(crate) mod replace;

use std::io::Read as _;
use std::path::Path;

use synod_client::{
    Client, Collection, FencingToken, GroupResource, LeaseKey, LeaseToken, ListCollections,
    Namespace, NamespacedName, ObjectKey, ObjectName, ObjectWritten, Preconditions, RawObjects,
    ReadOptions, ResourceSpelling, Revision, StoredObject, Ttl, TtlChange, Violation, Violations,
};

use super::show;
use crate::args::{FenceArgs, NewTtl, WriteArgs};
use crate::documents::{self, Document};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{Resolver, spelling};
use crate::views;

/// The writes that were made, in their order.
type Writes = Vec<(ObjectKey, ObjectWritten)>;

/// Prints the writes that were made, also if a later one has failed.
fn show_writes(
    writes: &Writes,
    failed: Result<(), Failure>,
    write: &crate::args::QueryArgs,
) -> Result<Exit, Failure> {
    if !writes.is_empty() {
        show(&views::written(writes), write.output)?;
    }
    failed.map(|()| Exit::Ok)
}

/// The client for objects, for real writes or a dry run, fenced by the lease if one was named.
fn objects(client: &Client, dry_run: bool, fence: Option<LeaseToken>) -> RawObjects {
    let mut objects = client.raw_objects();
    if let Some(lease) = fence {
        objects = objects.under_lease(lease);
    }
    if dry_run { objects.dry_run() } else { objects }
}

/// The lease and its fencing token from `--if-lease`.
fn fence(args: &FenceArgs) -> Result<Option<LeaseToken>, Failure> {
    let Some(text) = &args.if_lease else {
        return Ok(None);
    };
    let invalid = |fault: Violation| {
        Failure::invalid(
            "--if-lease does not name a lease and its fencing token",
            fault.at("--if-lease").into(),
        )
    };
    let parts = text.split_once('=');
    let parts = parts.and_then(|(lease, token)| Some((lease, token.parse().ok()?)));
    let (lease, token) = parts.ok_or_else(|| {
        let rule = "must be <namespace>/<name>=<fencing token>";
        invalid(Violation::invalid(text, rule))
    })?;
    Ok(Some(LeaseToken {
        lease: LeaseKey::parse(lease).map_err(invalid)?,
        token: FencingToken::new(Revision::new(token)),
        cluster: None,
    }))
}

/// The change of the TTL from `--ttl`.
fn ttl_change(ttl: Option<NewTtl>) -> Result<TtlChange, Failure> {
    match ttl {
        None => Ok(TtlChange::Keep),
        Some(NewTtl::None) => Ok(TtlChange::Remove),
        Some(NewTtl::Lasting(time)) => {
            let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            let ttl = Ttl::from_millis(millis)
                .map_err(|fault| Failure::invalid("this is no TTL", fault.at("--ttl").into()))?;
            Ok(TtlChange::Set(ttl))
        }
    }
}

/// The object that the arguments name, of a collection that is not looked up yet.
struct TypedKey {
    resource: ResourceSpelling,
    namespace: Option<Namespace>,
    name: ObjectName,
}

impl TypedKey {
    /// Looks the collection up.
    async fn resolve(self, client: &Client) -> Result<ObjectKey, Failure> {
        let resource = resource(client, &self.resource).await?;
        Ok(ObjectKey::new(
            resource,
            self.namespace.as_ref(),
            &self.name,
        ))
    }
}

fn key(resource: &str, namespace: Option<&str>, name: &str) -> Result<TypedKey, Failure> {
    let mut found = Violations::new();
    let resource = found.parsed("", spelling(resource, RESOURCE));
    let namespace = namespace.map(Namespace::parse).transpose();
    let namespace = found.parsed("--namespace", namespace);
    let name = found.parsed("NAME", ObjectName::parse(name));
    match (resource, namespace, name) {
        (Some(resource), Some(namespace), Some(name)) => Ok(TypedKey {
            resource,
            namespace,
            name,
        }),
        _ => Err(Failure::invalid("this names no object", found)),
    }
}

/// The place of a collection's name in a message.
const RESOURCE: &str = "RESOURCE";

/// The resource of the collection with this name.
async fn resource(client: &Client, spelling: &ResourceSpelling) -> Result<GroupResource, Failure> {
    let resolver = Resolver::load_collections(client).await?;
    resolver.resolve_one(RESOURCE, spelling)
}

/// The documents of a file, each with its namespace.
fn read(filename: &Path, namespace: Option<&str>) -> Result<Vec<Document>, Failure> {
    let mut documents = documents::read(&text(filename)?)?;
    let Some(namespace) = namespace else {
        return Ok(documents);
    };
    let namespace = Namespace::parse(namespace).map_err(|fault| {
        Failure::invalid("this is no namespace", fault.at("--namespace").into())
    })?;
    for document in &mut documents {
        match &document.namespace {
            None => document.namespace = Some(namespace.clone()),
            Some(other) if *other == namespace => {}
            Some(other) => {
                let rule = format_args!("{} names another one: {other}", document.name);
                let fault = Violation::invalid(namespace.as_str(), rule);
                let place = fault.at("--namespace").into();
                return Err(Failure::invalid("the namespaces differ", place));
            }
        }
    }
    Ok(documents)
}

pub(super) fn text(filename: &Path) -> Result<String, Failure> {
    let read = if filename == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(filename)
    };
    read.map_err(|error| {
        let message = format!("{} cannot be read: {error}", filename.display());
        Failure::local(message, "check the name of the file")
    })
}

/// All collections, to find the one of a document by its kind.
struct Kinds(Vec<Collection>);

impl Kinds {
    async fn of(client: &Client) -> Result<Self, Failure> {
        let page = client
            .collections()
            .list(&ListCollections::new())
            .all()
            .await?;
        let items = page.items.into_iter();
        Ok(Self(items.map(|item| item.collection).collect()))
    }

    /// The key of a document's object.
    fn key(&self, document: &Document) -> Result<ObjectKey, Failure> {
        let group = document.version.group();
        let found = self.0.iter().find(|collection| {
            collection.resource.group() == group && collection.kind == document.kind
        });
        let collection = found.ok_or_else(|| {
            let message = format!(
                "no collection holds objects of the kind {} of {}",
                document.kind, document.version
            );
            Failure::of(synod_client::ErrorKind::NotFound, message)
                .with_advice("declare it first: synod collections create")
        })?;
        Ok(ObjectKey {
            resource: collection.resource.clone(),
            name: document.key(),
        })
    }
}

/// The preconditions of a write: those in the document, with the revision of `--if-revision` in place of its own.
fn preconditions(document: &Document, write: &WriteArgs) -> Preconditions {
    let typed = write.if_revision.map(Revision::new);
    Preconditions {
        uid: document.preconditions.uid,
        resource_version: typed.or(document.preconditions.resource_version),
    }
}

/// `--if-revision` is about one object, so it is refused with several documents.
fn check_one(documents: &[Document], write: &WriteArgs) -> Result<(), Failure> {
    if write.if_revision.is_some() && documents.len() > 1 {
        let count = documents.len().to_string();
        let fault = Violation::invalid(&count, "--if-revision is for one document");
        let place = fault.at("--filename").into();
        return Err(Failure::invalid("there are several documents", place));
    }
    Ok(())
}

/// The collection of an object. Its kind is needed to show the object.
async fn collection_of(client: &Client, resource: &GroupResource) -> Result<Collection, Failure> {
    let view = client
        .collections()
        .get(resource, ReadOptions::linearizable())
        .await?;
    Ok(view.item.collection)
}

/// Refuses an object whose data is no JSON object: `verb` is what cannot be done with it.
fn check_json(object: &StoredObject, verb: &str) -> Result<(), Failure> {
    if documents::fields(object).is_some() {
        return Ok(());
    }
    let fault = Violation::invalid(object.content.media_type.as_str(), "is no JSON object");
    let place = fault.at(&named(&object.key.name)).into();
    Err(Failure::invalid(format!("only JSON can be {verb}"), place))
}

/// The name of an object in a message.
fn named(name: &NamespacedName) -> String {
    format!("\"{name}\"")
}
