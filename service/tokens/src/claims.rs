//! What a token of Kubernetes claims.

use serde::Deserialize;

use crate::LEEWAY_SECONDS;
use crate::fault::Refused;

/// What the subject of a service account begins with.
const SUBJECT: &str = "system:serviceaccount:";

/// The claims of a token, as far as they count.
#[derive(Deserialize)]
pub(crate) struct Claims {
    iss: String,
    sub: String,
    aud: Audiences,
    /// Times are numbers of seconds, which may have a fraction (RFC 7519, section 2).
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    #[serde(rename = "kubernetes.io")]
    bound: Option<Bound>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audiences {
    One(String),
    Many(Vec<String>),
}

/// What the token is bound to.
#[derive(Deserialize)]
struct Bound {
    namespace: String,
    serviceaccount: Named,
    pod: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Whom the claims name.
pub(crate) struct Subject {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) pod: Option<String>,
}

impl Claims {
    pub(crate) fn is_of(&self, issuer: &str) -> bool {
        self.iss == issuer
    }

    /// Those whom the token is for.
    pub(crate) fn audiences(&self) -> &[String] {
        match &self.aud {
            Audiences::One(one) => std::slice::from_ref(one),
            Audiences::Many(many) => many,
        }
    }

    /// The last second in which the token counts. Fails outside of its time.
    pub(crate) fn until(&self, now: i64) -> Result<i64, Refused> {
        // It counts before its `exp`, not in it. What is no number of this size ends at once, or never.
        let until = (self.exp.ceil() as i64).saturating_sub(1);
        if until < now {
            return Err(Refused::Expired);
        }
        let begins = [self.nbf, self.iat].into_iter().flatten();
        match begins
            .into_iter()
            .any(|begin| begin.floor() as i64 > now + LEEWAY_SECONDS)
        {
            true => Err(Refused::NotYetValid),
            false => Ok(until),
        }
    }

    /// The service account that the subject names. What the token is bound to must name the same one.
    pub(crate) fn subject(self) -> Result<Subject, Refused> {
        let named = self
            .sub
            .strip_prefix(SUBJECT)
            .and_then(|it| it.split_once(':'));
        let (namespace, name) = named.ok_or(Refused::Subject)?;
        if !is_name(namespace) || !is_name(name) {
            return Err(Refused::Subject);
        }
        let pod = match self.bound {
            None => None,
            Some(bound) if bound.namespace != namespace || bound.serviceaccount.name != name => {
                return Err(Refused::Subject);
            }
            Some(bound) => bound.pod.map(|pod| pod.name),
        };
        if pod.as_deref().is_some_and(|pod| !is_name(pod)) {
            return Err(Refused::Subject);
        }
        Ok(Subject {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            pod,
        })
    }
}

/// Whether a text has only what names in Kubernetes have: no other one could be told apart by its colons.
fn is_name(text: &str) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}
