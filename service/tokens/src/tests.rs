//! Tokens that are made here, good ones and bad ones, and what becomes of them.

mod issuer;

use serde_json::{Value, json};

use super::*;
use issuer::{Issuer, encoded};

const NOW: i64 = 1_800_000_000;

/// The claims of a token that is bound to a pod, as Kubernetes makes it.
fn claims() -> Value {
    json!({
        "aud": ["synod"],
        "exp": NOW + 3_607,
        "iat": NOW,
        "iss": "https://kubernetes.default.svc",
        "jti": "3d0e3ab4-1e0f-4b4b-9d3c-0d8f6c3f6a11",
        "kubernetes.io": {
            "namespace": "prod",
            "node": {"name": "worker-1", "uid": "ce4c0d2e-6f2b-4a5e-9c93-d1f2c4a8a5f1"},
            "pod": {"name": "api-0", "uid": "a1d3f1f0-2a3b-4c1d-8e4f-5a6b7c8d9e0f"},
            "serviceaccount": {"name": "api", "uid": "6d9f0b1a-3c4d-4e5f-8a9b-0c1d2e3f4a5b"},
            "warnafter": NOW + 3_000
        },
        "nbf": NOW,
        "sub": "system:serviceaccount:prod:api"
    })
}

/// The claims with another value in one place.
fn with(pointer: &str, value: Value) -> Value {
    let mut claims = claims();
    *claims.pointer_mut(pointer).expect("there is such a claim") = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().expect("it is one").remove(name);
    claims
}

fn verifier(issuers: &[&Issuer]) -> Verifier {
    Verifier {
        issuer: "https://kubernetes.default.svc".to_owned(),
        audiences: vec!["synod".to_owned(), "https://synod.example".to_owned()],
        keys: Keys::parse(&issuer::jwks(issuers)).expect("it is a set of keys"),
    }
}

fn every_kind() -> [Issuer; 3] {
    [
        Issuer::rsa("rsa"),
        Issuer::p256("p256"),
        Issuer::p384("p384"),
    ]
}

#[test]
fn a_token_of_every_kind_of_key_names_its_service_account_and_its_pod() {
    for issuer in every_kind() {
        let verifier = verifier(&[&issuer]);
        for algorithm in issuer.algorithms() {
            let token = issuer.signs_by(algorithm, &claims());
            let found = verifier.verify(&token, NOW).expect("it is taken");
            assert_eq!(found.identity(), "system:serviceaccount:prod:api");
            assert_eq!(found.pod.as_deref(), Some("api-0"));
            assert_eq!(found.until, NOW + 3_606);
        }
    }
}

#[test]
fn a_signature_of_the_standard_is_found_to_be_one() {
    // RFC 7515, appendix A.2.
    let key = issuer::keys_of_the_standard();
    let message = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let signature = data_encoding::BASE64URL_NOPAD
        .decode(signature.as_bytes())
        .unwrap();
    let key = key.get("standard").expect("it is there");
    assert!(key.has_signed(keys::Algorithm::Rs256, message.as_bytes(), &signature));
    assert!(!key.has_signed(keys::Algorithm::Rs384, message.as_bytes(), &signature));
    assert!(!key.has_signed(keys::Algorithm::Rs256, b"another", &signature));
}

/// Why a token is refused that has these values in one place.
fn refused_with(why: Refused, pointer: &str, values: &[Value]) {
    let issuer = Issuer::p256("one");
    let verifier = verifier(&[&issuer]);
    for value in values {
        let token = issuer.signs(&with(pointer, value.clone()));
        let refused = verifier.verify(&token, NOW);
        assert_eq!(refused.unwrap_err(), why, "{pointer}: {value}");
    }
}

// Guarantee: A-05
#[test]
fn a_token_that_claims_something_else_is_refused() {
    let late = NOW + LEEWAY_SECONDS + 1;
    let of_another = "https://kubernetes.default.svc/";
    refused_with(Refused::Issuer, "/iss", &[json!("x"), json!(of_another)]);
    let others = [json!(["https://x"]), json!("Synod"), json!([]), json!("")];
    refused_with(Refused::Audience, "/aud", &others);
    let over = [json!(NOW), json!(NOW - 1), json!(-1e300)];
    refused_with(Refused::Expired, "/exp", &over);
    refused_with(Refused::NotYetValid, "/nbf", &[json!(late), json!(1e300)]);
    refused_with(Refused::NotYetValid, "/iat", &[json!(late)]);
    let nobody = [
        "system:admin",
        "spiffe://synod/admin",
        "system:serviceaccount:prod",
        "system:serviceaccount:prod:",
        "system:serviceaccount::api",
        "system:serviceaccount:prod:api:x",
        "system:serviceaccount:prod:a/b",
        "system:serviceaccount:prod:other",
    ];
    refused_with(Refused::Subject, "/sub", &nobody.map(|it| json!(it)));
    let bound = "/kubernetes.io";
    refused_with(
        Refused::Subject,
        &format!("{bound}/namespace"),
        &[json!("x")],
    );
    refused_with(
        Refused::Subject,
        &format!("{bound}/pod/name"),
        &[json!("A/0")],
    );
}

#[test]
fn claims_that_are_missing_or_of_another_kind_are_refused() {
    for name in ["/iss", "/aud", "/exp", "/sub", "/nbf", "/kubernetes.io/pod"] {
        let odd = [json!({"x": 1}), json!([[7]]), json!(true)];
        refused_with(Refused::Malformed, name, &odd);
    }
    refused_with(
        Refused::Malformed,
        "/exp",
        &[json!("tomorrow"), json!(null)],
    );
    let issuer = Issuer::p256("one");
    for name in ["iss", "aud", "exp", "sub"] {
        let refused = verifier(&[&issuer]).verify(&issuer.signs(&without(name)), NOW);
        assert_eq!(refused.unwrap_err(), Refused::Malformed, "{name}");
    }
}

#[test]
fn a_token_is_taken_from_its_begin_until_right_before_its_end() {
    let issuer = Issuer::p256("one");
    let within = [
        with("/nbf", json!(NOW + LEEWAY_SECONDS)),
        with("/iat", json!(NOW - 7_200)),
        with("/exp", json!(NOW + 1)),
        with("/exp", json!(NOW as f64 + 0.5)),
        with("/exp", json!(1e300)),
        with("/aud", json!("https://synod.example")),
        with("/aud", json!(["elsewhere", "synod"])),
        without("nbf"),
    ];
    for claims in within {
        let taken = verifier(&[&issuer]).verify(&issuer.signs(&claims), NOW);
        assert!(taken.is_ok(), "{claims}: {taken:?}");
    }
}

#[test]
fn a_token_without_a_pod_names_none() {
    let issuer = Issuer::p256("one");
    let mut alone = claims();
    alone["kubernetes.io"]
        .as_object_mut()
        .unwrap()
        .remove("pod");
    for claims in [alone, without("kubernetes.io")] {
        let found = verifier(&[&issuer]).verify(&issuer.signs(&claims), NOW);
        assert_eq!(found.expect("it is taken").pod, None);
    }
}

// Guarantee: A-05
#[test]
fn what_no_key_of_the_issuer_has_signed_is_refused() {
    let [rsa, p256, p384] = every_kind();
    let verifier = verifier(&[&rsa, &p256, &p384]);
    let other = Issuer::p256("p256");
    let token = other.signs(&claims());
    assert_eq!(
        verifier.verify(&token, NOW).unwrap_err(),
        Refused::Signature
    );
    let unknown = Issuer::p256("unknown").signs(&claims());
    assert_eq!(
        verifier.verify(&unknown, NOW).unwrap_err(),
        Refused::UnknownKey
    );
    let nameless = p256.signs_with(&json!({"alg": "ES256"}), &claims());
    assert_eq!(
        verifier.verify(&nameless, NOW).unwrap_err(),
        Refused::UnknownKey
    );
    // The key is that of another algorithm, whoever has signed.
    for (issuer, algorithm) in [
        (&p256, "RS256"),
        (&p256, "ES384"),
        (&rsa, "ES256"),
        (&p384, "ES256"),
    ] {
        let header = json!({"alg": algorithm, "kid": issuer.id});
        let refused = verifier.verify(&issuer.signs_with(&header, &claims()), NOW);
        assert_eq!(refused.unwrap_err(), Refused::Signature, "{algorithm}");
    }
}

// Guarantee: A-05, TM-15
#[test]
fn what_carries_no_signature_or_one_by_a_shared_secret_is_refused() {
    let issuer = Issuer::rsa("rsa");
    let verifier = verifier(&[&issuer]);
    let claims = claims();
    for algorithm in [
        "none", "None", "NONE", "", "HS256", "HS384", "HS512", "PS256", "EdDSA", "rs256",
    ] {
        let header = json!({"alg": algorithm, "kid": "rsa"});
        // As the one who takes the public key for the secret would sign.
        let signed = issuer.signs_by_its_public_key(&header, &claims);
        let bare = format!("{}.{}.", encoded(&header), encoded(&claims));
        for token in [signed, bare] {
            let refused = verifier.verify(&token, NOW);
            assert_eq!(refused.unwrap_err(), Refused::Algorithm, "{algorithm}");
        }
    }
    let unsigned = format!(
        "{}.{}.",
        encoded(&json!({"alg": "RS256", "kid": "rsa"})),
        encoded(&claims)
    );
    assert_eq!(
        verifier.verify(&unsigned, NOW).unwrap_err(),
        Refused::Signature
    );
}

// Guarantee: A-05, TM-15
#[test]
fn a_token_that_was_changed_anywhere_is_refused() {
    let issuer = Issuer::p256("one");
    let verifier = verifier(&[&issuer]);
    let token = issuer.signs(&claims());
    assert!(verifier.verify(&token, NOW).is_ok());
    for at in 0..token.len() {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        assert!(verifier.verify(&changed, NOW).is_err(), "the byte {at}");
        assert!(
            verifier.verify(&token[..at], NOW).is_err(),
            "the first {at} bytes"
        );
    }
    let forged = encoded(&with("/sub", json!("system:serviceaccount:prod:admin")));
    let mut parts: Vec<&str> = token.split('.').collect();
    parts[1] = &forged;
    assert_eq!(
        verifier.verify(&parts.join("."), NOW).unwrap_err(),
        Refused::Signature
    );
}

#[test]
fn what_is_no_token_is_refused_without_a_word_of_it() {
    let issuer = Issuer::p256("one");
    let verifier = verifier(&[&issuer]);
    let header = encoded(&json!({"alg": "ES256", "kid": "one", "crit": ["exp"]}));
    let critical = format!("{header}.{}.AAAA", encoded(&claims()));
    for text in [
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        "secret",
        "e30.e30.e30",
        "eyJ.eyJ.",
        &critical,
        "💥.💥.💥",
    ] {
        let refused = verifier.verify(text, NOW).unwrap_err();
        assert_eq!(refused, Refused::Malformed, "{text}");
        assert!(!refused.to_string().contains("secret"));
    }
    let long = "x".repeat(TOKEN_BYTES_MAX + 1);
    assert_eq!(verifier.verify(&long, NOW).unwrap_err(), Refused::TooLong);
}

// Guarantee: A-06
#[test]
fn a_token_counts_as_long_as_its_key_its_issuer_and_its_audience_do() {
    let (old, new) = (Issuer::p256("old"), Issuer::p256("new"));
    let both = verifier(&[&old, &new]);
    let account = both
        .verify(&old.signs(&claims()), NOW)
        .expect("it is taken");
    assert!(both.takes(&account));
    assert!(verifier(&[&old]).takes(&account));
    assert!(!verifier(&[&new]).takes(&account));
    // Another key of the same id.
    assert!(!verifier(&[&Issuer::p256("old")]).takes(&account));
    let elsewhere = Verifier {
        issuer: "https://elsewhere".to_owned(),
        ..both.clone()
    };
    assert!(!elsewhere.takes(&account));
    let others = Verifier {
        audiences: vec!["others".to_owned()],
        ..both
    };
    assert!(!others.takes(&account));
}

#[test]
fn a_set_of_keys_leaves_out_what_signs_no_tokens() {
    let issuer = Issuer::rsa("rsa");
    let mut set: Value = serde_json::from_str(&issuer::jwks(&[&issuer])).unwrap();
    let rsa = set["keys"][0].clone();
    let other = |changes: &[(&str, &str)]| {
        let mut key = rsa.clone();
        for (name, value) in changes {
            key[name] = json!(value);
        }
        key
    };
    set["keys"] = json!([
        rsa,
        // Once more, as who lists a file of keys twice has it.
        rsa,
        other(&[("kid", "encrypts"), ("use", "enc")]),
        other(&[("kid", "wraps"), ("alg", "RSA-OAEP")]),
        {"kty": "oct", "kid": "secret", "k": "AAAA", "alg": "HS256"},
        {"kty": "OKP", "kid": "edwards", "crv": "Ed25519", "x": "AAAA"},
        {"kty": "EC", "kid": "large", "crv": "P-521", "x": "AAAA", "y": "AAAA"},
    ]);
    let keys = Keys::parse(&set.to_string()).expect("it has one that can be used");
    assert_eq!(format!("{keys:?}"), "{\"rsa\"}");
}

#[test]
fn a_set_of_keys_with_a_fault_is_refused_with_its_place() {
    let rsa: Value = serde_json::from_str(&issuer::jwks(&[&Issuer::rsa("rsa")])).unwrap();
    let p256: Value = serde_json::from_str(&issuer::jwks(&[&Issuer::p256("rsa")])).unwrap();
    let (rsa, p256) = (rsa["keys"][0].clone(), p256["keys"][0].clone());
    let changed = |of: &Value, name: &str, value: Value| {
        let mut key = of.clone();
        key[name] = value;
        json!({"keys": [of, key]}).to_string()
    };
    let cases = [
        ("", "line 1"),
        ("{}", "line 1"),
        ("{\"keys\": 7}", "line 1"),
        ("{\"keys\": []}", "no key"),
        (
            &changed(&rsa, "d", json!("AAAA")),
            "key 2: it has its private part",
        ),
        (&changed(&rsa, "n", json!("AQAB")), "2,048"),
        (&changed(&rsa, "e", json!("=")), "base64url"),
        (&changed(&p256, "x", json!("AAAA")), "its curve"),
        (&changed(&rsa, "alg", json!("ES256")), "its `alg`"),
        (&changed(&rsa, "alg", json!("RS384")), "same `kid`"),
        (&json!({"keys": [rsa, p256]}).to_string(), "same `kid`"),
        (
            &json!({"keys": vec![json!({"kty": "oct"}); 65]}).to_string(),
            "more than 64",
        ),
    ];
    for (text, rule) in cases {
        let fault = Keys::parse(text).unwrap_err().to_string();
        assert!(fault.contains(rule), "{fault}: {rule}");
    }
}

#[test]
fn a_key_that_is_for_one_algorithm_signs_by_no_other() {
    let issuer = Issuer::rsa("rsa");
    let mut set: Value = serde_json::from_str(&issuer::jwks(&[&issuer])).unwrap();
    set["keys"][0]["alg"] = json!("RS256");
    let keys = Keys::parse(&set.to_string()).unwrap();
    let verifier = Verifier {
        keys,
        ..verifier(&[&issuer])
    };
    assert!(
        verifier
            .verify(&issuer.signs_by("RS256", &claims()), NOW)
            .is_ok()
    );
    let other = verifier.verify(&issuer.signs_by("RS512", &claims()), NOW);
    assert_eq!(other.unwrap_err(), Refused::Signature);
}

// Guarantee: A-07
#[test]
fn nothing_of_a_token_is_shown() {
    let issuer = Issuer::p256("one");
    let verifier = verifier(&[&issuer]);
    let token = issuer.signs(&claims());
    let account = verifier.verify(&token, NOW).expect("it is taken");
    let shown = format!("{account:?} {verifier:?} {:?}", Print::of(&token));
    for part in token.split('.') {
        assert!(!shown.contains(part));
    }
    assert_ne!(Print::of(&token), Print::of(&token[1..]));
}
