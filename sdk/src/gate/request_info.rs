//! Parses requests to a Kubernetes-like API: verb, resource and object.

use http::{Method, Uri};

/// The verb, resource and object of a request to a Kubernetes-like API, parsed from its method and path by the rules of
/// Kubernetes' `RequestInfoFactory`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestInfo {
    /// Whether the request is about a resource; if not, as for `/healthz`, only `verb` is set.
    pub is_resource_request: bool,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or `proxy`.
    pub verb: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version in the path.
    pub version: String,
    /// The namespace; empty if there is none.
    pub namespace: String,
    /// The resource, in the plural.
    pub resource: String,
    /// The subresource; empty if there is none.
    pub subresource: String,
    /// The object; empty if there is none.
    pub name: String,
}

/// The path segments that may follow a namespace's name without being a resource within it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

impl RequestInfo {
    /// Parses a request; `None` if its path begins like that of a resource and does not continue like one.
    ///
    /// It differs from Kubernetes in one thing: the prefix `/watch/` turns only reading requests into a watch, so that
    /// no write can pass a gate by this prefix.
    #[must_use]
    pub fn parse(method: &Method, uri: &Uri) -> Option<Self> {
        let path = decoded(uri.path())?;
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let Some((group, version, mut rest)) = resource_path(&parts) else {
            return Some(Self {
                verb: method.as_str().to_ascii_lowercase(),
                ..Self::default()
            });
        };
        let mut info = Self {
            is_resource_request: true,
            verb: verb(method).to_owned(),
            group: group.to_owned(),
            version: version.to_owned(),
            ..Self::default()
        };
        if let [prefix @ ("proxy" | "watch"), below @ ..] = rest {
            // The path ends after the verb.
            below.first()?;
            if *prefix == "proxy" || info.verb == "get" {
                info.verb = (*prefix).to_owned();
            }
            rest = below;
        }
        info.read_object(rest);
        info.refine_verb(uri.query().unwrap_or_default());
        Some(info)
    }

    /// As [`RequestInfo::parse`], from method and target as texts; `None` also if they are not valid HTTP.
    #[must_use]
    pub fn parse_texts(method: &str, target: &str) -> Option<Self> {
        Self::parse(&method.parse().ok()?, &target.parse().ok()?)
    }

    fn read_object(&mut self, mut rest: &[&str]) {
        if let ["namespaces", namespace, below @ ..] = rest {
            self.namespace = (*namespace).to_owned();
            // The path continues within the namespace, unless the request is about the namespace itself.
            if below
                .first()
                .is_some_and(|next| !NAMESPACE_SUBRESOURCES.contains(next))
            {
                rest = below;
            }
        }
        let part = |place: usize| rest.get(place).copied().unwrap_or_default().to_owned();
        self.resource = part(0);
        self.name = part(1);
        // The rest of a proxied path belongs to another server.
        if self.verb != "proxy" {
            self.subresource = part(2);
        }
    }

    /// Tells reading many objects from reading one, and deleting many from deleting one.
    fn refine_verb(&mut self, query: &str) {
        if !self.name.is_empty() {
            return;
        }
        let verb = match self.verb.as_str() {
            "get" if is_watch(query) => "watch",
            "get" => "list",
            "delete" => "deletecollection",
            _ => return,
        };
        verb.clone_into(&mut self.verb);
    }
}

/// Group, version and the rest of the path, if the path is that of a resource.
fn resource_path<'a>(parts: &'a [&'a str]) -> Option<(&'a str, &'a str, &'a [&'a str])> {
    match parts {
        ["api", version, rest @ ..] if !rest.is_empty() => Some(("", version, rest)),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => Some((group, version, rest)),
        _ => None,
    }
}

fn verb(method: &Method) -> &'static str {
    match method.as_str() {
        "POST" => "create",
        "GET" | "HEAD" => "get",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "",
    }
}

/// Whether the query asks to watch, by Kubernetes' reading of booleans: `watch` is there, and not `false` or `0`.
fn is_watch(query: &str) -> bool {
    let watch = query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == "watch").then_some(value)
    });
    watch.is_some_and(|value| !value.eq_ignore_ascii_case("false") && value != "0")
}

/// A path without percent-encoding, as handlers see it; `None` if it cannot be decoded.
///
/// A gate that read the encoded path could be passed by percent-encoding one letter of `api`.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
