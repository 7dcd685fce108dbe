//! As whom a caller acts.

use http::{HeaderName, HeaderValue};

use crate::fault::Misconfigured;

/// As whom a caller acts, if not as itself; what it says is sent with every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// The user.
    pub user: Option<String>,
    /// The UID of the user.
    pub uid: Option<String>,
    /// Groups of the user.
    pub groups: Vec<String>,
}

impl Impersonation {
    /// What is sent with every request.
    pub(crate) fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Misconfigured> {
        let users = self.user.iter().map(|user| ("impersonate-user", user));
        let uids = self.uid.iter().map(|uid| ("impersonate-uid", uid));
        let groups = self.groups.iter().map(|group| ("impersonate-group", group));
        let headers = users.chain(uids).chain(groups).map(|(name, text)| {
            let value = HeaderValue::from_str(text);
            let value =
                value.map_err(|error| Misconfigured(format!("{name} {text:?}: {error}")))?;
            Ok((HeaderName::from_static(name), value))
        });
        headers.collect()
    }
}
