//! Issuers of tokens, each with one key.

use data_encoding::BASE64URL_NOPAD;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaKeyPair,
};
use serde_json::{Value, json};

use crate::Keys;

/// Signs tokens.
pub(super) struct Issuer {
    pub(super) id: &'static str,
    pair: Pair,
}

enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair, &'static str),
}

/// The example key of RFC 7515, appendix A.2, whose private part is as public: `ring` makes no RSA keys.
const RSA: [(&str, &str); 7] = [
    (
        "n",
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR\
         T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXB\
         dQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9ia\
         GNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
    ),
    (
        "d",
        "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46su\
         i395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4\
         qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB\
         4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
    ),
    (
        "p",
        "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8\
         cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
    ),
    (
        "q",
        "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t\
         62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
    ),
    (
        "dp",
        "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCj\
         n12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
    ),
    (
        "dq",
        "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnw\
         gjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
    ),
    (
        "qi",
        "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93\
         IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
    ),
];

fn number(name: &str) -> Vec<u8> {
    let (_, text) = RSA.iter().find(|(it, _)| *it == name).expect("it is there");
    BASE64URL_NOPAD
        .decode(text.as_bytes())
        .expect("it is base64url")
}

/// The set with the example key of the standard alone.
pub(super) fn keys_of_the_standard() -> Keys {
    let set = jwks(&[&Issuer::rsa("standard")]);
    Keys::parse(&set).expect("it is a set of keys")
}

/// The set of these issuers' keys.
pub(super) fn jwks(issuers: &[&Issuer]) -> String {
    let keys: Vec<Value> = issuers.iter().map(|issuer| issuer.jwk()).collect();
    json!({ "keys": keys }).to_string()
}

/// A part of a token.
pub(super) fn encoded(part: &Value) -> String {
    BASE64URL_NOPAD.encode(part.to_string().as_bytes())
}

impl Issuer {
    pub(super) fn rsa(id: &'static str) -> Self {
        let components = KeyPairComponents {
            public_key: PublicKeyComponents {
                n: number("n"),
                e: vec![1, 0, 1],
            },
            d: number("d"),
            p: number("p"),
            q: number("q"),
            dP: number("dp"),
            dQ: number("dq"),
            qInv: number("qi"),
        };
        let pair = RsaKeyPair::from_components(&components).expect("it is a key");
        Self {
            id,
            pair: Pair::Rsa(pair),
        }
    }

    pub(super) fn p256(id: &'static str) -> Self {
        Self::ec(id, "P-256")
    }

    pub(super) fn p384(id: &'static str) -> Self {
        Self::ec(id, "P-384")
    }

    fn ec(id: &'static str, curve: &'static str) -> Self {
        let by = match curve {
            "P-256" => &ECDSA_P256_SHA256_FIXED_SIGNING,
            _ => &ECDSA_P384_SHA384_FIXED_SIGNING,
        };
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(by, &random).expect("there are keys");
        let pair = EcdsaKeyPair::from_pkcs8(by, key.as_ref(), &random).expect("it is a key");
        Self {
            id,
            pair: Pair::Ec(pair, curve),
        }
    }

    /// The algorithms that the key is for.
    pub(super) fn algorithms(&self) -> &'static [&'static str] {
        match &self.pair {
            Pair::Rsa(_) => &["RS256", "RS384", "RS512"],
            Pair::Ec(_, "P-256") => &["ES256"],
            Pair::Ec(..) => &["ES384"],
        }
    }

    /// A token with these claims.
    pub(super) fn signs(&self, claims: &Value) -> String {
        self.signs_by(self.algorithms()[0], claims)
    }

    pub(super) fn signs_by(&self, algorithm: &str, claims: &Value) -> String {
        let header = json!({"alg": algorithm, "kid": self.id, "typ": "JWT"});
        self.signs_with(&header, claims)
    }

    /// A token with this header, which need not be true.
    pub(super) fn signs_with(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encoded(header), encoded(claims));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Rsa(pair) => {
                let by = match header["alg"].as_str() {
                    Some("RS384") => &RSA_PKCS1_SHA384,
                    Some("RS512") => &RSA_PKCS1_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(by, &random, message.as_bytes(), &mut signature)
                    .expect("it is signed");
                signature
            }
            Pair::Ec(pair, _) => {
                let signed = pair.sign(&random, message.as_bytes());
                signed.expect("it is signed").as_ref().to_vec()
            }
        };
        format!("{message}.{}", BASE64URL_NOPAD.encode(&signature))
    }

    /// A token whose signature has the public key for a secret.
    pub(super) fn signs_by_its_public_key(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encoded(header), encoded(claims));
        let secret = match &self.pair {
            Pair::Rsa(pair) => pair.public_key().as_ref(),
            Pair::Ec(pair, _) => pair.public_key().as_ref(),
        };
        let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
        let signature = ring::hmac::sign(&secret, message.as_bytes());
        format!("{message}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
    }

    /// The public key as a set has it.
    fn jwk(&self) -> Value {
        match &self.pair {
            Pair::Rsa(_) => json!({
                "kty": "RSA",
                "use": "sig",
                "kid": self.id,
                "n": BASE64URL_NOPAD.encode(&number("n")),
                "e": "AQAB",
            }),
            Pair::Ec(pair, curve) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(match *curve {
                    "P-256" => 32,
                    _ => 48,
                });
                json!({
                    "kty": "EC",
                    "use": "sig",
                    "kid": self.id,
                    "crv": curve,
                    "x": BASE64URL_NOPAD.encode(x),
                    "y": BASE64URL_NOPAD.encode(y),
                })
            }
        }
    }
}
