//! Where a server serves the objects of a resource.

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::ApiServer;
use crate::fault::Fault;

/// A resource of which a server serves lists and updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its group; empty for the core group.
    pub group: String,
    /// The version in which objects are read and written.
    pub version: String,
    /// Its name, as in `widgets`.
    pub plural: String,
    /// What its objects are, as in `Widget`.
    pub kind: String,
    /// The hash of what the server encodes objects in, if it says so.
    pub storage_version_hash: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Group {
    versions: Vec<GroupVersion>,
    preferred_version: GroupVersion,
}

#[derive(Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct GroupVersion {
    version: String,
}

#[derive(Deserialize)]
struct CoreVersions {
    versions: Vec<String>,
}

#[derive(Deserialize)]
struct Resources {
    resources: Option<Vec<Shown>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    name: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
    storage_version_hash: Option<String>,
}

impl ApiServer {
    /// Where the server serves lists and updates of a resource: in the wanted version if it does so there, else in the one
    /// that it prefers, else in any. `None`: nowhere.
    ///
    /// # Errors
    ///
    /// Its discovery cannot be read.
    pub async fn find(
        &self,
        group: &str,
        plural: &str,
        wanted: Option<&str>,
    ) -> Result<Option<Resource>, Fault> {
        let mut versions = self.versions(group).await?;
        if let Some(wanted) = wanted
            && let Some(place) = versions.iter().position(|one| one == wanted)
        {
            let wanted = versions.remove(place);
            versions.insert(0, wanted);
        }
        for version in versions {
            let path = root(group, &version);
            let Some(found): Option<Resources> = self.document(&path).await? else {
                continue;
            };
            let mut shown = found.resources.unwrap_or_default().into_iter();
            let can = |shown: &Shown, verb: &str| shown.verbs.iter().any(|known| known == verb);
            let shown = shown
                .find(|shown| shown.name == plural && can(shown, "list") && can(shown, "update"));
            if let Some(shown) = shown {
                return Ok(Some(Resource {
                    group: group.to_owned(),
                    version,
                    plural: plural.to_owned(),
                    kind: shown.kind,
                    storage_version_hash: shown
                        .storage_version_hash
                        .filter(|hash| !hash.is_empty()),
                }));
            }
        }
        Ok(None)
    }

    /// The versions of a group, the preferred one first.
    async fn versions(&self, group: &str) -> Result<Vec<String>, Fault> {
        if group.is_empty() {
            let core: Option<CoreVersions> = self.document("/api").await?;
            return Ok(core.map(|core| core.versions).unwrap_or_default());
        }
        let found: Option<Group> = self.document(&format!("/apis/{group}")).await?;
        let found = found.unwrap_or_default();
        let preferred = found.preferred_version;
        let others = found.versions.into_iter().filter(|one| *one != preferred);
        let all = std::iter::once(preferred.clone())
            .chain(others)
            .map(|one| one.version);
        Ok(all.filter(|version| !version.is_empty()).collect())
    }

    /// A document; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is another one.
    pub async fn document<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, Fault> {
        let reply = self.get(path).await?;
        match reply.status {
            StatusCode::OK => {
                let read = serde_json::from_slice(&reply.body);
                let read = read.map_err(|error| Fault::Unanswered(format!("{path}: {error}")))?;
                Ok(Some(read))
            }
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(Fault::Answered(status, reply.says().message)),
        }
    }
}

impl Resource {
    /// The path of all its objects, in whatever namespaces.
    #[must_use]
    pub fn collection(&self) -> String {
        format!("{}/{}", root(&self.group, &self.version), self.plural)
    }

    /// The path of an object.
    #[must_use]
    pub fn object(&self, namespace: Option<&str>, name: &str) -> String {
        let within = namespace.map(|namespace| format!("/namespaces/{}", escaped(namespace)));
        let (root, within) = (root(&self.group, &self.version), within.unwrap_or_default());
        format!("{root}{within}/{}/{}", self.plural, escaped(name))
    }

    /// The version with its group, as in `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// An object that does not say what it is, with what it is in front.
    pub(crate) fn named(&self, object: &str) -> Bytes {
        let rest = object.trim_start().trim_start_matches('{').trim_start();
        let comma = if rest.starts_with('}') { "" } else { "," };
        let (version, kind) = (self.api_version(), &self.kind);
        Bytes::from(format!(
            r#"{{"apiVersion":"{version}","kind":"{kind}"{comma}{rest}"#
        ))
    }
}

fn root(group: &str, version: &str) -> String {
    match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    }
}

/// A text as it may stand in a path or in a query.
pub(crate) fn escaped(text: &str) -> String {
    let mut to = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                to.push(char::from(byte));
            }
            _ => to.push_str(&format!("%{byte:02X}")),
        }
    }
    to
}
