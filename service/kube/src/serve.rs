//! Connections and requests.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures::StreamExt;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, Method};
use http_body_util::BodyExt;
use hyper::body::Incoming as RequestBody;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use sha2::{Digest, Sha256};
use synod_server::seams::{Connection, ConnectionInfo, Incoming};
use synod_server::{Front, OPEN_METRICS, Probe};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::transport::server::Connected;

use crate::answer::{self, Response, Shape};
use crate::bodies::Bodies;
use crate::body::Asks;
use crate::compression::{Places, compressed, takes_gzip};
use crate::discovery::{self, kind_at};
use crate::kinds::{Kind, Source, Verb};
use crate::negotiate::{Form, Media, accepted, form, media, names_json};
use crate::openapi;
use crate::parts::Part;
use crate::request::{Place, Probed, Query, ResourcePlace, Review};
use crate::sources::{Calls, Scope};
use crate::status::{About, Fault};
use crate::table::Include;
use crate::{delete, negotiate, protobuf, protocols, read, reviews, watch, write};

/// The longest time for a request; for a watch or a long list, for each of its reads.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The beginnings of headers that ask in the name of somebody else: `kubectl --as`, and front proxies. What a proxy tells that is
/// believed is gone from the headers when they are looked at.
const OTHERS: [&str; 2] = ["impersonate-", "x-remote-"];

static TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

static OPENAPI_V2: HeaderValue =
    HeaderValue::from_static("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");

/// Serves the Kubernetes API to these connections until the replica shuts down, and then the requests in progress.
pub async fn serve(front: Front, mut incoming: Incoming) {
    let parts = Arc::new(Parts {
        front,
        bodies: Bodies::new(),
        places: Places::new(),
    });
    // The door bounds how many there are.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = parts.front.stopped() => break,
            Some(_) = connections.join_next() => {}
            accepted = incoming.next() => match accepted {
                Some(Ok(connection)) => {
                    connections.spawn(served(Arc::clone(&parts), connection));
                }
                Some(Err(error)) => tracing::debug!(%error, "a connection could not be accepted"),
                None => break,
            },
        }
    }
    while connections.join_next().await.is_some() {}
}

struct Parts {
    front: Front,
    bodies: Bodies,
    places: Places,
}

/// Serves one connection.
async fn served(parts: Arc<Parts>, connection: Connection) {
    let info = connection.connect_info();
    let of_requests = Arc::clone(&parts);
    let service = service_fn(move |request| {
        let (parts, info) = (Arc::clone(&of_requests), info.clone());
        async move { Ok::<_, Infallible>(answered(&parts, &info, request).await) }
    });
    let builder = protocols::builder();
    let serving = builder.serve_connection(TokioIo::new(connection), service);
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        biased;
        ended = serving.as_mut() => ended,
        () = parts.front.stopped() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn answered(
    parts: &Parts,
    info: &ConnectionInfo,
    mut request: http::Request<RequestBody>,
) -> Response {
    let origin = parts.front.origin(info, request.headers_mut());
    let progress = origin.begin();
    let calls = Calls {
        front: parts.front.clone(),
        origin: origin.clone(),
        deadline: Instant::now() + PATIENCE,
    };
    let media = media(request.headers());
    let takes_gzip = takes_gzip(request.method(), request.headers());
    let done = done(parts, &calls, request).await;
    let mut response = done.unwrap_or_else(|fault| answer::fault(&origin, media, &fault));
    if takes_gzip {
        response = compressed(&origin, &parts.places, response);
    }
    if let Ok(trace) = HeaderValue::from_str(&origin.trace) {
        response.headers_mut().insert("audit-id", trace);
    }
    // The connection is not idle until the whole answer was taken.
    response.map(|body| {
        let body = body.map_frame(move |frame| {
            let _ = &progress;
            frame
        });
        body.boxed_unsync()
    })
}

/// A request apart from its body.
struct Head {
    method: Method,
    headers: HeaderMap,
    query: Query,
}

async fn done(
    parts: &Parts,
    calls: &Calls,
    request: http::Request<RequestBody>,
) -> Result<Response, Fault> {
    let (head, body) = request.into_parts();
    for_itself(&head.headers, |name| calls.front.tells_who_calls(name))?;
    let place = Place::of(head.uri.path()).ok_or_else(Fault::no_such_path)?;
    let is_read = head.method == Method::GET || head.method == Method::HEAD;
    match place {
        Place::Probe(probe) if is_read => return probed(calls, &probe, head.uri.query()),
        Place::Metrics if is_read => return metrics(calls),
        _ => {}
    }
    let query = Query::of(head.uri.query());
    let head = Head {
        method: head.method,
        headers: head.headers,
        query,
    };
    if let Place::Resource(place) = place {
        return resource(parts, calls, place, head, body).await;
    }
    if let Place::Review(review) = place {
        return reviewed(parts, calls, review, &head, body).await;
    }
    if !is_read {
        return Err(Fault::no_such_method());
    }
    told(calls, place, &head.query, &head.headers).await
}

/// Refuses who asks in the name of somebody else: it would be answered with its own rights, and take them for the other's.
fn for_itself(headers: &HeaderMap, tells: impl Fn(&HeaderName) -> bool) -> Result<(), Fault> {
    let begins = |name: &HeaderName| {
        OTHERS
            .iter()
            .any(|begins| name.as_str().starts_with(begins))
    };
    match headers.keys().find(|name| begins(name) || tells(name)) {
        Some(header) => Err(Fault::no_others(header.as_str())),
        None => Ok(()),
    }
}

/// The answer of a probe, which everybody may read, as it is at the port for metrics.
fn probed(calls: &Calls, probe: &Probed, query: Option<&str>) -> Result<Response, Fault> {
    let probe = match probe {
        Probed::Live => Probe::Live,
        Probed::Ready(check) => Probe::Ready(check.as_deref()),
    };
    let found = calls.front.probe(probe, query);
    let (status, text) = found.ok_or_else(Fault::no_such_path)?;
    Ok(answer::whole(&calls.origin, status, &TEXT, text.into()))
}

/// The metrics of the replica, as they are at their own port.
fn metrics(calls: &Calls) -> Result<Response, Fault> {
    let metrics = calls.front.metrics(&calls.origin);
    let metrics = metrics.map_err(|refusal| Fault::of_any(refusal.kind, &refusal.message))?;
    let media = HeaderValue::from_static(OPEN_METRICS);
    Ok(answer::whole(&calls.origin, 200, &media, metrics.into()))
}

/// How long a document is kept whose address has its hash: for a year.
static FOREVER: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

/// What is told of what is served. Everybody may know it who is known.
async fn told(
    calls: &Calls,
    place: Place,
    query: &Query,
    headers: &HeaderMap,
) -> Result<Response, Fault> {
    let user = calls.front.identity(&calls.origin);
    user.map_err(|refusal| Fault::of_any(refusal.kind, &refusal.message))?;
    let form = form(headers, |form| match form {
        Form::Document => true,
        Form::Discovery(_) => matches!(place, Place::CoreVersions | Place::Groups),
        Form::Table(_) | Form::Metadata => false,
    });
    if place == Place::OpenApiV2 && !names_json(headers) {
        let empty = Bytes::from_static(openapi::EMPTY_V2);
        return Ok(answer::whole(&calls.origin, 200, &OPENAPI_V2, empty));
    }
    let form = form.ok_or_else(Fault::not_acceptable)?;
    let document = match &place {
        Place::Version => discovery::version(),
        Place::OpenApiV2 => openapi::empty_v2(),
        Place::CoreVersions => discovery::core(form),
        // kubectl asks for it where an object is not found, and would tell of a missing namespace in its place.
        Place::Namespace(name) => discovery::namespace(name.as_str()),
        _ => of_groups(calls, &place, form).await?,
    };
    let mut response = tagged(calls, headers, form, &document);
    let hash = query.get("hash").map(|hash| format!("\"{hash}\""));
    let has_tag = |tag: &HeaderValue| hash.is_some_and(|hash| tag.as_bytes() == hash.as_bytes());
    // Under another hash it is another document.
    if matches!(place, Place::OpenApiDocument(..))
        && response.headers().get(ETAG).is_some_and(has_tag)
    {
        response
            .headers_mut()
            .insert(CACHE_CONTROL, FOREVER.clone());
    }
    Ok(response)
}

/// What follows from the table of kinds.
async fn of_groups(calls: &Calls, place: &Place, form: Form) -> Result<Value, Fault> {
    let groups = discovery::groups(calls).await;
    let groups = groups.map_err(|refusal| Fault::of_any(refusal.kind, &refusal.message))?;
    let named = |name: &str| {
        groups
            .iter()
            .find(|group| group.name == name)
            .ok_or_else(Fault::no_such_path)
    };
    let kinds = |group: &str, version: &str| {
        let found = named(group)?
            .versions
            .iter()
            .find(|(name, _)| name == version);
        found
            .map(|(_, kinds)| kinds)
            .ok_or_else(Fault::no_such_path)
    };
    Ok(match place {
        Place::Groups => discovery::list(form, groups),
        Place::Group(name) => discovery::group(named(name)?),
        Place::GroupVersion(group, version) => {
            discovery::resources(group, version, kinds(group, version)?)
        }
        Place::OpenApiV3 => openapi::index(&groups),
        Place::OpenApiDocument(group, version) => openapi::document(kinds(group, version)?),
        Place::Version
        | Place::CoreVersions
        | Place::Namespace(_)
        | Place::OpenApiV2
        | Place::Probe(_)
        | Place::Metrics
        | Place::Review(_)
        | Place::Resource(_) => return Err(Fault::no_such_path()),
    })
}

/// An answer that a client may keep: if it names the tag of what it has, it is told that this is the same.
fn tagged(calls: &Calls, headers: &HeaderMap, form: Form, document: &Value) -> Response {
    let text = document.to_string();
    let tag = format!("\"{}\"", HEXLOWER.encode(&Sha256::digest(text.as_bytes())));
    let has_it = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|has| has.as_bytes() == tag.as_bytes());
    let mut response = if has_it {
        answer::whole(
            &calls.origin,
            304,
            &HeaderValue::from_static("application/json"),
            Bytes::new(),
        )
    } else {
        answer::document(&calls.origin, Media::Json, 200, document)
    };
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    headers.insert(http::header::VARY, HeaderValue::from_static("Accept"));
    if let Form::Discovery(version) = form {
        // Without these parameters kubectl finds nothing in it.
        let media =
            format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
        if let Ok(media) = HeaderValue::from_str(&media) {
            headers.insert(CONTENT_TYPE, media);
        }
    }
    response
}

/// What a caller asks about itself.
async fn reviewed(
    parts: &Parts,
    calls: &Calls,
    review: Review,
    head: &Head,
    body: RequestBody,
) -> Result<Response, Fault> {
    if head.method != Method::POST {
        return Err(Fault::no_such_method());
    }
    let user = calls.front.identity(&calls.origin);
    let user = user.map_err(|refusal| Fault::of_any(refusal.kind, &refusal.message))?;
    let groups = calls.front.told_groups(&calls.origin);
    let groups = groups.map_err(|refusal| Fault::of_any(refusal.kind, &refusal.message))?;
    let accepted = accepted(&head.headers, |form, _| form == Form::Document);
    let (_, media) = accepted.ok_or_else(Fault::not_acceptable)?;
    let body = parts.bodies.whole(body).await?;
    let _turn = parts.bodies.turn(calls.deadline).await?;
    let user = user.as_deref();
    reviews::review(
        calls,
        review,
        media,
        &head.headers,
        &body.bytes,
        user,
        groups,
    )
    .await
}

/// A request for objects.
async fn resource(
    parts: &Parts,
    calls: &Calls,
    place: ResourcePlace,
    head: Head,
    body: RequestBody,
) -> Result<Response, Fault> {
    let user = calls.front.identity(&calls.origin);
    let user = user.map_err(|refusal| Fault::of_any(refusal.kind, &refusal.message))?;
    let is_of_whole = head.method == Method::GET && place.subresource.is_none();
    let seen = head.query.seen().filter(|_| is_of_whole);
    let kind = kind_at(calls, &place.group, &place.version, &place.plural, seen).await;
    let kind = kind.map_err(|refusal| Fault::of_any(refusal.kind, &refusal.message))?;
    let kind = kind.ok_or_else(Fault::no_such_path)?;
    let part = kind.part(place.subresource.as_deref());
    let part = part.ok_or_else(Fault::no_such_path)?;
    if place.namespace.is_some() && !kind.namespaced {
        return Err(Fault::no_such_path());
    }
    let verb = verb(&head, &place, &kind, part)?;
    let about = About {
        kind: &kind,
        verb,
        namespace: place.namespace.as_deref(),
        name: place.name.as_deref().unwrap_or_default(),
        part,
        user: user.as_deref().unwrap_or("system:anonymous"),
    };
    let shape = shape(calls, &kind, &head)?;
    let scope = || -> Result<Scope, Fault> {
        Ok(Scope {
            kind: kind.clone(),
            namespace: place.namespace.clone(),
            selection: head.query.selection(kind.source == Source::Events)?,
        })
    };
    match verb {
        Verb::Get => return read::get(calls, &shape, &about, &head.query).await,
        Verb::List => return read::list(calls, scope()?, shape, &about, &head.query).await,
        Verb::Watch => return watch::watch(calls, scope()?, shape, &about, &head.query).await,
        _ => {}
    }
    let body = parts.bodies.whole(body).await?;
    let _turn = parts.bodies.turn(calls.deadline).await?;
    let asks = Asks {
        query: &head.query,
        headers: &head.headers,
        body: &body.bytes,
    };
    match verb {
        Verb::Create => write::create(calls, &shape, &about, &asks).await,
        Verb::Update => write::update(calls, &shape, &about, &asks).await,
        Verb::Patch => write::patch(calls, &shape, &about, &asks).await,
        Verb::Delete => delete::delete(calls, &shape, &about, &asks).await,
        Verb::DeleteCollection => {
            delete::collection(calls, shape.media, &scope()?, &about, &asks).await
        }
        Verb::Get | Verb::List | Verb::Watch => Err(Fault::no_such_method()),
    }
}

/// In which form objects are told.
fn shape(calls: &Calls, kind: &Kind, head: &Head) -> Result<Shape, Fault> {
    let has_message = protobuf::of(&kind.api_version(), &kind.kind).is_some();
    let accepted = accepted(&head.headers, |form, media| match (form, media) {
        (Form::Discovery(_), _) => false,
        (Form::Document, Media::Protobuf) => has_message,
        _ => true,
    });
    let (form, media) = accepted.ok_or_else(Fault::not_acceptable)?;
    Ok(Shape {
        kind: kind.clone(),
        form,
        media,
        or_json: negotiate::form(&head.headers, |other| other == form).is_some(),
        include: match head.query.get("includeObject") {
            None | Some("Metadata") => Include::Metadata,
            Some("Object") => Include::Object,
            Some("None") => Include::None,
            Some(other) => {
                return Err(Fault::bad_request(format!(
                    "unrecognized includeObject value: \"{other}\""
                )));
            }
        },
        now_ms: calls.now_ms(),
    })
}

/// What is asked of a kind at a place.
fn verb(head: &Head, place: &ResourcePlace, kind: &Kind, part: Part) -> Result<Verb, Fault> {
    let watches = || head.query.is("watch");
    let verb = match (head.method.as_str(), place.name.is_some()) {
        ("GET" | "HEAD", true) => Verb::Get,
        ("GET" | "HEAD", false) if watches()? => Verb::Watch,
        ("GET" | "HEAD", false) => Verb::List,
        ("POST", false) => Verb::Create,
        ("PUT", true) => Verb::Update,
        ("PATCH", true) => Verb::Patch,
        ("DELETE", true) => Verb::Delete,
        ("DELETE", false) => Verb::DeleteCollection,
        _ => return Err(Fault::no_such_method()),
    };
    let is_one_namespace = place.namespace.is_some() || !kind.namespaced;
    match verb {
        Verb::List | Verb::Watch => {}
        // Of all namespaces there are only lists.
        Verb::Create | Verb::DeleteCollection if !is_one_namespace => {
            return Err(Fault::no_such_method());
        }
        _ if !is_one_namespace => return Err(Fault::no_such_path()),
        _ => {}
    }
    match kind.verbs_of(part).contains(&verb) {
        true => Ok(verb),
        false => Err(Fault::no_such_method()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Guarantee: TM-16
    #[test]
    fn nobody_asks_in_the_name_of_others() {
        let tells = |name: &HeaderName| name == "x-of-a-proxy";
        for name in [
            "Impersonate-User",
            "impersonate-extra-x",
            "X-Remote-Group",
            "X-Of-A-Proxy",
        ] {
            let mut headers = HeaderMap::new();
            assert!(for_itself(&headers, tells).is_ok());
            let value = HeaderValue::from_static("admin");
            headers.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
            let refused = for_itself(&headers, tells).unwrap_err();
            assert_eq!(refused.code, 403, "{name}");
        }
    }
}
