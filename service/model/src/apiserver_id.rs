//! The id that Kubernetes gives an API server.

use data_encoding::BASE32_NOPAD;
use sha2::{Digest, Sha256};

use crate::MemberId;

/// The id of the API server on the host of this name: `apiserver-` and the base32 of half a
/// SHA-256 over host name and component, each with its length before it. The same as in
/// Kubernetes, so that an operator finds a server under one name in both.
pub fn apiserver_id(hostname: &str) -> MemberId {
    let mut hash = Sha256::new();
    for part in [hostname, "kube-apiserver"] {
        // Kubernetes keeps the low 16 bits of a length; a host name has at most 255 bytes.
        let length = (part.len() & 0xffff) as u16;
        hash.update(length.to_be_bytes());
        hash.update(part);
    }
    let encoded = BASE32_NOPAD.encode(&hash.finalize()[..16]).to_lowercase();
    MemberId::from_base32(&encoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_host_gets_a_legal_id_of_36_characters(hostname in ".*") {
            let id = apiserver_id(&hostname);
            prop_assert_eq!(id.as_str().len(), 36);
            prop_assert_eq!(MemberId::parse(id.as_str()), Ok(id));
        }
    }
}
