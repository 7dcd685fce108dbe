//! Front proxies, and the callers that they speak for.
//!
//! A front proxy shows a certificate of a CA of its own and tells in headers who has sent a request, as Kubernetes' API servers
//! do it for the APIs that they aggregate. Nobody else is believed these headers.

use std::sync::Arc;

use http::{HeaderMap, HeaderName};
use synod_model::{Identity, Refusal};
use synod_policy::Caller;
use synod_tls::Subject;

use super::in_use::InUse;
use super::known::{Known, Proof, Remembered};
use super::unproved::unauthenticated;
use crate::security::Proxies;

/// What stands before a name that a front proxy tells. No other name of a caller begins so.
const REMOTE: &str = "remote:";

/// What stands before the name of a group that a front proxy tells.
const REMOTE_GROUP: &str = "remote-group:";

/// How Kubernetes names who has proved nothing.
const ANONYMOUS: &str = "system:anonymous";

/// The most groups of a caller. Those beyond count as if they were not told.
const GROUPS_MAX: usize = 256;

/// Who showed a certificate that a CA of front proxies has signed.
#[derive(Debug)]
pub struct Proxy {
    /// Whom the certificate names; `None` if it cannot be read.
    subject: Option<Subject>,
}

/// The sender of a request, as a front proxy tells it.
#[derive(Debug)]
pub struct Remote {
    caller: Caller,
    /// The last second in which the certificate of the proxy is valid.
    until: i64,
    known: Remembered,
}

impl Proxy {
    pub(crate) fn new(subject: Option<Subject>) -> Self {
        Self { subject }
    }

    /// Who has sent the request with these headers, out of which they are taken that tell it.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`: the proxy is none that is believed, or its headers name nobody.
    pub(super) fn sender(
        &self,
        proxies: &Proxies,
        headers: &mut HeaderMap,
    ) -> Result<Remote, Refusal> {
        let told = proxies.taken(headers);
        let subject = self.subject.as_ref();
        let subject = subject.ok_or_else(|| unauthenticated("the certificate cannot be read"))?;
        let name = subject.common_name.as_deref().unwrap_or_default();
        if !proxies.allowed_names.iter().any(|allowed| allowed == name) {
            return Err(unauthenticated(&format!(
                "the common name \"{}\" of the certificate is none of the allowed names of front proxies",
                name.escape_debug()
            )));
        }
        let Told { user, groups } = told?;
        if user == ANONYMOUS {
            return Err(unauthenticated(
                "nobody has proved to the front proxy who calls",
            ));
        }
        let identity = Identity::parse(&format!("{REMOTE}{user}")).map_err(|violation| {
            unauthenticated(&format!(
                "the name that the front proxy tells cannot be used: {violation}"
            ))
        })?;
        let groups = groups.iter().take(GROUPS_MAX);
        Ok(Remote {
            caller: Caller {
                identity,
                pod: None,
                groups: groups
                    .map(|group| format!("{REMOTE_GROUP}{group}"))
                    .collect(),
            },
            until: subject.until,
            known: Remembered::default(),
        })
    }
}

impl Remote {
    /// What the caller may do by the policy in use.
    pub(super) fn known(&self, in_use: &InUse) -> Result<Arc<Known>, Refusal> {
        self.known.or_find(in_use, || {
            let caller = self.caller.clone();
            Ok(Known::new(caller, in_use, self.until, Proof::Proxy))
        })
    }
}

/// What headers tell of a caller.
struct Told {
    user: String,
    groups: Vec<String>,
}

impl Proxies {
    /// Whether a header tells something of a caller, if a front proxy sends it.
    pub(super) fn tell_by(&self, header: &HeaderName) -> bool {
        let named = [&self.user_headers, &self.group_headers];
        let extra = |prefix: &HeaderName| header.as_str().starts_with(prefix.as_str());
        named.into_iter().flatten().any(|name| name == header)
            || self.extra_prefixes.iter().any(extra)
            || header == UID
    }

    /// What the headers tell, which are taken out.
    fn taken(&self, headers: &mut HeaderMap) -> Result<Told, Refusal> {
        let texts = |name: &HeaderName| -> Result<Vec<String>, Refusal> {
            let values = headers.get_all(name).iter();
            let texts = values.map(|value| {
                let text = std::str::from_utf8(value.as_bytes());
                let text = text.map_err(|_| {
                    unauthenticated(&format!("the header {name} of the front proxy is no text"))
                });
                text.map(|text| text.trim().to_owned())
            });
            let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
            Ok(texts.into_iter().filter(|text| !text.is_empty()).collect())
        };
        let told = || {
            let users = self.user_headers.iter().map(&texts);
            let users: Vec<Vec<String>> = users.collect::<Result<_, _>>()?;
            let user = match users.into_iter().find(|users| !users.is_empty()).as_deref() {
                Some([user]) => user.clone(),
                Some(_) => return Err(unauthenticated("the front proxy tells several names")),
                None => return Err(unauthenticated("the front proxy tells no name")),
            };
            let groups = self.group_headers.iter().map(&texts);
            let groups: Vec<Vec<String>> = groups.collect::<Result<_, _>>()?;
            let groups = groups.into_iter().flatten().collect();
            Ok(Told { user, groups })
        };
        let told = told();
        let taken: Vec<HeaderName> = headers
            .keys()
            .filter(|name| self.tell_by(name))
            .cloned()
            .collect();
        for name in taken {
            headers.remove(name);
        }
        told
    }
}

/// What tells the uid of a caller, of which nothing is used.
static UID: HeaderName = HeaderName::from_static("x-remote-uid");

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies() -> Proxies {
        Proxies {
            allowed_names: vec!["front-proxy-client".to_owned()],
            ..Proxies::default()
        }
    }

    fn proxy(common_name: &str) -> Proxy {
        Proxy::new(Some(Subject {
            spiffe: None,
            common_name: Some(common_name.to_owned()),
            until: 0,
        }))
    }

    fn sender(proxy: &Proxy, told: &[(&'static str, &str)]) -> Result<Caller, String> {
        let mut headers = HeaderMap::new();
        headers.insert("accept", "x".parse().unwrap());
        for (name, value) in told {
            headers.append(*name, value.parse().unwrap());
        }
        let sender = proxy.sender(&proxies(), &mut headers);
        assert_eq!(headers.len(), 1, "nothing behind this can tell of them");
        let sender = sender.map(|sender| sender.caller);
        sender.map_err(|refusal| refusal.message)
    }

    #[test]
    fn a_proxy_tells_one_name_and_any_groups() {
        let told = [
            ("x-remote-user", "alice"),
            ("x-remote-group", "dev"),
            ("x-remote-group", "system:authenticated"),
            ("x-remote-extra-scopes", "a"),
            ("x-remote-uid", "7"),
        ];
        let caller = sender(&proxy("front-proxy-client"), &told).unwrap();
        assert_eq!(caller.identity.as_str(), "remote:alice");
        let groups = ["remote-group:dev", "remote-group:system:authenticated"];
        assert_eq!(caller.groups, groups);
    }

    // Guarantee: TM-16
    #[test]
    fn who_is_no_allowed_proxy_or_names_nobody_proves_nothing() {
        let long = "x".repeat(600);
        let user = [("x-remote-user", "alice")];
        let two = [("x-remote-user", "alice"), ("x-remote-user", "admin")];
        for (name, told, why) in [
            ("another", &user[..], "none of the allowed names"),
            ("", &user, "none of the allowed names"),
            ("front-proxy-client", &[], "no name"),
            ("front-proxy-client", &[("x-remote-user", " ")], "no name"),
            ("front-proxy-client", &[("x-remote-group", "g")], "no name"),
            ("front-proxy-client", &two, "several names"),
            (
                "front-proxy-client",
                &[("x-remote-user", "system:anonymous")],
                "nobody has proved",
            ),
            (
                "front-proxy-client",
                &[("x-remote-user", &long)],
                "cannot be used",
            ),
        ] {
            let refused = sender(&proxy(name), told).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
        let nobody = Proxy::new(None);
        assert!(sender(&nobody, &user).is_err());
        // Without a list of names nobody is believed.
        let mut headers = HeaderMap::new();
        headers.insert("x-remote-user", "alice".parse().unwrap());
        let refused = proxy("").sender(&Proxies::default(), &mut headers);
        assert!(refused.is_err() && headers.is_empty());
    }
}
