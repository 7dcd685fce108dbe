//! An issuer of tokens of service accounts, as an API server of Kubernetes is one.

use data_encoding::BASE64URL_NOPAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::certificates::since_1970;

/// Who makes the tokens, and whom they are for.
const NAME: &str = "https://kubernetes.default.svc";
const AUDIENCE: &str = "synod";

/// The table of a policy that takes the tokens of issuers whose keys are in `jwks.json` beside it.
pub(crate) const TABLE: &str = "[tokens]\nissuer = \"https://kubernetes.default.svc\"\naudiences = [\"synod\"]\n\
                                jwks_file = \"jwks.json\"\n";

/// An issuer with one key.
pub(crate) struct Issuer {
    id: &'static str,
    key: EcdsaKeyPair,
}

/// A token to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) audience: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// The pod that it is bound to.
    pub(crate) pod: Option<&'a str>,
    /// For how many seconds from now on it is valid.
    pub(crate) seconds: i64,
}

impl<'a> Wanted<'a> {
    /// A token of a service account that is valid for an hour.
    pub(crate) fn of(namespace: &'a str, name: &'a str) -> Self {
        Self {
            audience: AUDIENCE,
            namespace,
            name,
            pod: None,
            seconds: 3_600,
        }
    }

    pub(crate) fn bound_to(self, pod: &'a str) -> Self {
        Self {
            pod: Some(pod),
            ..self
        }
    }
}

/// The keys of issuers, as the file `jwks.json` has them.
pub(crate) fn jwks(issuers: &[&Issuer]) -> String {
    let keys: Vec<Value> = issuers.iter().map(|issuer| issuer.jwk()).collect();
    json!({ "keys": keys }).to_string()
}

impl Issuer {
    pub(crate) fn new(id: &'static str) -> Self {
        let (by, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(by, &random).expect("there are keys");
        let key = EcdsaKeyPair::from_pkcs8(by, key.as_ref(), &random).expect("it is a key");
        Self { id, key }
    }

    /// Makes a token.
    pub(crate) fn token(&self, wanted: Wanted<'_>) -> String {
        let Wanted {
            audience,
            namespace,
            name,
            pod,
            seconds,
        } = wanted;
        let now = i64::try_from(since_1970(0).as_secs()).expect("it is not that late");
        let mut bound =
            json!({"namespace": namespace, "serviceaccount": {"name": name, "uid": "1"}});
        if let Some(pod) = pod {
            bound["pod"] = json!({"name": pod, "uid": "2"});
        }
        let claims = json!({
            "aud": [audience],
            "exp": now + seconds,
            "iat": now.min(now + seconds),
            "iss": NAME,
            "kubernetes.io": bound,
            "sub": format!("system:serviceaccount:{namespace}:{name}"),
        });
        let header = json!({"alg": "ES256", "kid": self.id});
        let message =
            [header, claims].map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes()));
        let message = message.join(".");
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes());
        let signature = signature.expect("it is signed");
        format!("{message}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
    }

    fn jwk(&self) -> Value {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        json!({
            "kty": "EC",
            "use": "sig",
            "kid": self.id,
            "crv": "P-256",
            "x": BASE64URL_NOPAD.encode(x),
            "y": BASE64URL_NOPAD.encode(y),
        })
    }
}
