//! Reads the discovery documents of one API server.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use bytes::Bytes;
use futures::{StreamExt as _, TryFutureExt as _, stream};
use synod_apiserver::ApiServer;

use super::documents::{self, Shown, group_of};

/// How many documents of one server are read at a time.
const AT_A_TIME: usize = 8;
/// How many versions of groups a server may show. Clusters with many custom resources have a few hundred.
const GROUP_VERSIONS_MAX: usize = 4_096;
/// The group with the API services, which name the groups that a server passes on.
const REGISTRATION: &str = "apiregistration.k8s.io";

/// An API server.
#[derive(Clone, Debug)]
pub(super) struct Server {
    api: ApiServer,
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
    /// The server that this client calls.
    pub(super) fn new(api: ApiServer) -> Self {
        Self { api }
    }

    /// The server's URL.
    pub(super) fn url(&self) -> String {
        self.api.url()
    }

    /// Reads all discovery documents of the server.
    pub(super) async fn look(&self) -> Look {
        let mut look = Look {
            server: self.url(),
            shown: Vec::new(),
            faults: Vec::new(),
        };
        let versions = match self.versions().await {
            Ok(versions) => versions,
            Err(why) => {
                look.faults.push(Fault { group: None, why });
                return look;
            }
        };
        let mut lists = stream::iter(versions)
            .map(|version| async move {
                let list = self.resources(&version).await;
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
    async fn versions(&self) -> Result<BTreeSet<String>, String> {
        let at = |path: &'static str| move |why| format!("{path}: {why}");
        // An aggregated server need not have a core group.
        let core = match self.document("/api").await {
            Ok(None) => Vec::new(),
            Ok(Some(body)) => documents::core_versions(&body).map_err(at("/api"))?,
            Err(why) => return Err(at("/api")(why)),
        };
        let groups = self.existing("/apis").map_err(at("/apis"));
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
        let services = self.existing(&path).await;
        let others = services.and_then(|body| documents::passed_on(&body));
        let others = others.map_err(|why| format!("{path}: {why}"))?;
        let own = all
            .into_iter()
            .filter(|one| !others.contains(group_of(one)));
        Ok(own.collect())
    }

    async fn resources(&self, version: &str) -> Result<Vec<Shown>, String> {
        let path = match group_of(version) {
            "" => format!("/api/{version}"),
            _ => format!("/apis/{version}"),
        };
        let body = self.existing(&path).await?;
        documents::resources(version, &body)
    }

    /// A document that must exist.
    async fn existing(&self, path: &str) -> Result<Bytes, String> {
        let body = self.document(path).await?;
        body.ok_or_else(|| format!("answered {}", StatusCode::NOT_FOUND))
    }

    /// A document; `None` if it does not exist.
    async fn document(&self, path: &str) -> Result<Option<Bytes>, String> {
        let reply = self
            .api
            .get(path)
            .await
            .map_err(|fault| fault.to_string())?;
        match reply.status {
            StatusCode::OK => Ok(Some(reply.body)),
            StatusCode::NOT_FOUND => Ok(None),
            other => Err(format!("answered {other}")),
        }
    }
}
