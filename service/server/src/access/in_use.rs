//! What counts now: the policy, and the keys by which tokens are checked.

use synod_policy::{Policy, Tokens};
use synod_tokens::{Keys, ServiceAccount, Verifier};

use super::source::{PolicyFault, Read};

/// The policy and the keys that count now.
pub(super) struct InUse {
    /// Greater than that of everything that counted before.
    pub(super) generation: u64,
    /// The policy as it is written.
    text: String,
    pub(super) policy: Policy,
    /// Checks tokens; `None`: none is taken.
    pub(super) tokens: Option<Verifier>,
}

impl InUse {
    /// What counts first.
    ///
    /// # Errors
    ///
    /// The keys that the policy names cannot be used.
    pub(super) fn first(read: Read) -> Result<Self, PolicyFault> {
        let Read { text, policy, keys } = read;
        let keys = keys.transpose()?;
        Ok(Self {
            generation: 0,
            text,
            tokens: verifier(policy.tokens.as_ref(), keys),
            policy,
        })
    }

    /// What counts once this was read. `None`: the same as now. Keys that cannot be used leave those in place that were read
    /// from the same file before; what names another file does not count without its keys.
    pub(super) fn after(&self, read: Read) -> Option<Self> {
        let Read { text, policy, keys } = read;
        let keys = match keys {
            Some(Ok(keys)) => Some(keys),
            None => None,
            Some(Err(_)) => {
                let file = |policy: &Policy| Some(policy.tokens.as_ref()?.jwks_file.clone());
                if file(&policy) != file(&self.policy) {
                    return None;
                }
                self.tokens.as_ref().map(|tokens| tokens.keys.clone())
            }
        };
        let tokens = verifier(policy.tokens.as_ref(), keys);
        let is_same = text == self.text && tokens == self.tokens;
        (!is_same).then(|| Self {
            generation: self.generation + 1,
            text,
            policy,
            tokens,
        })
    }

    /// Whether the token that this was read from would be taken now, if it has not expired.
    pub(super) fn takes(&self, account: &ServiceAccount) -> bool {
        let tokens = self.tokens.as_ref();
        tokens.is_some_and(|tokens| tokens.takes(account))
    }
}

fn verifier(tokens: Option<&Tokens>, keys: Option<Keys>) -> Option<Verifier> {
    let (tokens, keys) = tokens.zip(keys)?;
    Some(Verifier {
        issuer: tokens.issuer.clone(),
        audiences: tokens.audiences.clone(),
        keys,
    })
}

#[cfg(test)]
mod tests {
    use super::super::source::PolicyPart;
    use super::*;

    /// The key of RFC 7515, appendix A.3.
    const KEYS: &str = r#"{"keys": [{"kty": "EC", "crv": "P-256", "kid": "one",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;

    fn keys() -> Keys {
        Keys::parse(KEYS).unwrap()
    }

    fn read(file: &str, more: &str, keys: Result<Keys, PolicyFault>) -> Read {
        let text = format!(
            "[tokens]\nissuer = \"https://issuer\"\naudiences = [\"synod\"]\njwks_file = \"{file}\"\n{more}"
        );
        Read {
            policy: Policy::parse(&text).unwrap(),
            text,
            keys: Some(keys),
        }
    }

    fn faulty() -> Result<Keys, PolicyFault> {
        Err(PolicyFault {
            part: PolicyPart::Keys,
            place: "keys".to_owned(),
            rule: "cannot be read".to_owned(),
        })
    }

    #[test]
    fn keys_that_cannot_be_used_hold_up_no_policy() {
        let first = InUse::first(read("keys", "", Ok(keys()))).unwrap();
        assert!(first.after(read("keys", "", Ok(keys()))).is_none());
        assert!(first.after(read("keys", "", faulty())).is_none());
        let grant = "[[grant]]\nwho = \"cn:a\"\nrole = \"reader\"\n";
        let next = first.after(read("keys", grant, faulty())).unwrap();
        assert_eq!((next.generation, next.policy.grants.len()), (1, 1));
        assert_eq!(next.tokens, first.tokens);
        assert!(next.after(read("others", "", faulty())).is_none());
        let without = Read {
            text: String::new(),
            policy: Policy::parse("").unwrap(),
            keys: None,
        };
        assert_eq!(next.after(without).unwrap().tokens, None);
        assert!(InUse::first(read("keys", "", faulty())).is_err());
    }
}
