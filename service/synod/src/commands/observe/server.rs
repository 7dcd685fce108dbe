//! Reads the discovery documents of one API server.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, StatusCode, Uri};
use futures::{StreamExt as _, TryFutureExt as _, stream};

use super::documents::{self, Shown, group_of};
use crate::http::Http;

/// How many documents of one server are read at a time.
const AT_A_TIME: usize = 8;
/// How many versions of groups a server may show. Clusters with many custom resources have a few hundred.
const GROUP_VERSIONS_MAX: usize = 4_096;
/// The group with the API services, which name the groups that a server passes on.
const REGISTRATION: &str = "apiregistration.k8s.io";

/// The address of an API server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Server {
    address: String,
    /// The path before `/apis`, without a slash at its end.
    prefix: String,
}

/// What could be read of a server, and what could not.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// The server's URL.
    pub(crate) server: String,
    pub(crate) shown: Vec<Shown>,
    pub(crate) faults: Vec<Fault>,
}

/// A document that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The group that is hidden; `None`: any group may be.
    pub(crate) group: Option<String>,
    pub(crate) why: String,
}

impl Server {
    /// Parses the URL of a server.
    ///
    /// # Errors
    ///
    /// The text says what the URL should look like.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let parsed: Uri = url
            .parse()
            .map_err(|_| "must be a URL, as in http://10.0.0.1:8080".to_owned())?;
        match parsed.scheme_str() {
            Some("http") => {}
            Some("https") => {
                let advice =
                    "there is no TLS yet: reach the server over http, as through `kubectl proxy`";
                return Err(advice.to_owned());
            }
            _ => return Err("must begin with http://".to_owned()),
        }
        let host = parsed.host().filter(|host| !host.is_empty());
        let authority = parsed.authority().map(|authority| authority.as_str());
        let (Some(host), Some(authority)) = (host, authority) else {
            return Err("must name a host, as in http://10.0.0.1:8080".to_owned());
        };
        if authority.contains('@') || parsed.query().is_some() {
            return Err("must have neither a user nor a query: nothing of it is sent".to_owned());
        }
        Ok(Self {
            address: format!("{host}:{}", parsed.port_u16().unwrap_or(80)),
            prefix: parsed.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The server's URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.prefix)
    }

    /// Reads all discovery documents of the server; each one within `limit`.
    pub(super) async fn look(&self, http: &Http, limit: Duration) -> Look {
        let mut look = Look {
            server: self.url(),
            shown: Vec::new(),
            faults: Vec::new(),
        };
        let versions = match self.versions(http, limit).await {
            Ok(versions) => versions,
            Err(why) => {
                look.faults.push(Fault { group: None, why });
                return look;
            }
        };
        let mut lists = stream::iter(versions)
            .map(|version| async move {
                let list = self.resources(http, &version, limit).await;
                (version, list)
            })
            .buffer_unordered(AT_A_TIME);
        while let Some((version, list)) = lists.next().await {
            match list {
                Ok(shown) => look.shown.extend(shown),
                Err(why) => look.faults.push(Fault {
                    group: Some(group_of(&version).to_owned()),
                    why: format!("{version}: {why}"),
                }),
            }
        }
        look.faults.sort_by(|one, other| one.why.cmp(&other.why));
        look
    }

    /// The versions of the groups that the server serves itself.
    async fn versions(&self, http: &Http, limit: Duration) -> Result<BTreeSet<String>, String> {
        let at = |path: &'static str| move |why| format!("{path}: {why}");
        // An aggregated server need not have a core group.
        let core = match self.document(http, "/api", limit).await {
            Ok(None) => Vec::new(),
            Ok(Some(body)) => documents::core_versions(&body).map_err(at("/api"))?,
            Err(why) => return Err(at("/api")(why)),
        };
        let groups = self.existing(http, "/apis", limit).map_err(at("/apis"));
        let groups = documents::group_versions(&groups.await?).map_err(at("/apis"))?;
        let all: BTreeSet<String> = core.into_iter().chain(groups).collect();
        if all.len() > GROUP_VERSIONS_MAX {
            let count = all.len();
            return Err(format!(
                "it shows {count} versions of groups, more than {GROUP_VERSIONS_MAX}"
            ));
        }
        let Some(registration) = all.iter().find(|one| group_of(one) == REGISTRATION) else {
            return Ok(all);
        };
        // Several instances of another server may serve a passed-on group: this look would show one of them.
        let path = format!("/apis/{registration}/apiservices");
        let services = self.existing(http, &path, limit).await;
        let others = services.and_then(|body| documents::passed_on(&body));
        let others = others.map_err(|why| format!("{path}: {why}"))?;
        let own = all
            .into_iter()
            .filter(|one| !others.contains(group_of(one)));
        Ok(own.collect())
    }

    async fn resources(
        &self,
        http: &Http,
        version: &str,
        limit: Duration,
    ) -> Result<Vec<Shown>, String> {
        let path = match group_of(version) {
            "" => format!("/api/{version}"),
            _ => format!("/apis/{version}"),
        };
        let body = self.existing(http, &path, limit).await?;
        documents::resources(version, &body)
    }

    /// A document that must exist.
    async fn existing(&self, http: &Http, path: &str, limit: Duration) -> Result<Bytes, String> {
        let body = self.document(http, path, limit).await?;
        body.ok_or_else(|| format!("answered {}", StatusCode::NOT_FOUND))
    }

    /// A document; `None` if it does not exist.
    async fn document(
        &self,
        http: &Http,
        path: &str,
        limit: Duration,
    ) -> Result<Option<Bytes>, String> {
        let path = format!("{}{path}", self.prefix);
        let asked = http.ask(Method::GET, &self.address, &path, None, limit);
        let reply = asked.await.map_err(|error| error.to_string())?;
        match reply.status {
            StatusCode::OK => Ok(Some(reply.body)),
            StatusCode::NOT_FOUND => Ok(None),
            other => Err(format!("answered {other}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_server_that_is_reached_over_http() {
        let url = |text: &str| Server::parse(text).map(|server| server.url());
        assert_eq!(url("http://a:8080/").unwrap(), "http://a:8080");
        assert_eq!(url("http://a/k8s/one/").unwrap(), "http://a:80/k8s/one");
        assert_eq!(url("http://[::1]:1").unwrap(), "http://[::1]:1");
        for (text, part) in [
            ("https://a:6443", "there is no TLS yet"),
            ("a:8080", "http://"),
            ("ftp://a", "http://"),
            ("http://me@a:1", "neither a user"),
            ("http://a:1/?b=c", "neither a user"),
            ("http:// a", "must be a URL"),
        ] {
            let fault = url(text).unwrap_err();
            assert!(fault.contains(part), "{text}: {fault}");
        }
    }
}
