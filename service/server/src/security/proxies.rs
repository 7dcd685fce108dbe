//! Which front proxies are believed, and by which headers.

use http::HeaderName;

/// The front proxies whose callers are who they say: their certificates are signed by the `proxy_ca` of the port for clients. They
/// are believed at the port for the Kubernetes API alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxies {
    /// The common names of their certificates; none: no certificate is one of a front proxy.
    pub allowed_names: Vec<String>,
    /// The headers of which the first that is there tells the name of the caller.
    pub user_headers: Vec<HeaderName>,
    /// The headers that tell the groups of the caller, one each.
    pub group_headers: Vec<HeaderName>,
    /// What the headers begin with that tell more of the caller, of which nothing is used.
    pub extra_prefixes: Vec<HeaderName>,
}

/// The headers that Kubernetes' API servers use.
impl Default for Proxies {
    fn default() -> Self {
        Self {
            allowed_names: Vec::new(),
            user_headers: vec![HeaderName::from_static("x-remote-user")],
            group_headers: vec![HeaderName::from_static("x-remote-group")],
            extra_prefixes: vec![HeaderName::from_static("x-remote-extra-")],
        }
    }
}
