//! The form of a kubeconfig. What is not here changes nothing about how a server is reached.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What is null is empty, as for Kubernetes' own clients: tools write `users: null` where there are none.
fn or_empty<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(from).map(Option::unwrap_or_default)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct File {
    #[serde(deserialize_with = "or_empty")]
    pub(super) current_context: String,
    #[serde(deserialize_with = "or_empty")]
    pub(super) contexts: Vec<NamedContext>,
    #[serde(deserialize_with = "or_empty")]
    pub(super) clusters: Vec<NamedCluster>,
    #[serde(deserialize_with = "or_empty")]
    pub(super) users: Vec<NamedUser>,
}

/// An entry of a list, which others name.
pub(super) trait Named {
    fn name(&self) -> &str;
}

macro_rules! named {
    ($name:ident, $field:ident: $inner:ident) => {
        #[derive(Debug, Deserialize)]
        pub(super) struct $name {
            name: String,
            pub(super) $field: $inner,
        }

        impl Named for $name {
            fn name(&self) -> &str {
                &self.name
            }
        }
    };
}

named!(NamedContext, context: Context);
named!(NamedCluster, cluster: Cluster);
named!(NamedUser, user: User);

#[derive(Debug, Deserialize)]
pub(super) struct Context {
    pub(super) cluster: String,
    #[serde(default)]
    pub(super) user: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct Cluster {
    pub(super) server: String,
    pub(super) certificate_authority: Option<String>,
    pub(super) certificate_authority_data: Option<String>,
    pub(super) insecure_skip_tls_verify: bool,
    pub(super) tls_server_name: Option<String>,
    pub(super) proxy_url: Option<String>,
    pub(super) disable_compression: bool,
    pub(super) extensions: Option<Vec<Extension>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Extension {
    pub(super) name: String,
    pub(super) extension: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct User {
    pub(super) client_certificate: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key: Option<String>,
    pub(super) client_key_data: Option<String>,
    pub(super) token: Option<String>,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Option<String>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) exec: Option<Exec>,
    pub(super) auth_provider: Option<Value>,
    #[serde(rename = "as")]
    pub(super) impersonate: Option<String>,
    #[serde(rename = "as-uid")]
    pub(super) impersonate_uid: Option<String>,
    #[serde(rename = "as-groups")]
    pub(super) impersonate_groups: Option<Vec<String>>,
    #[serde(rename = "as-user-extra")]
    pub(super) impersonate_extra: Option<BTreeMap<String, Vec<String>>>,
}

/// Shows no secret.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("User")
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exec {
    pub(super) api_version: String,
    pub(super) command: String,
    #[serde(default)]
    pub(super) args: Option<Vec<String>>,
    #[serde(default)]
    pub(super) env: Option<Vec<Variable>>,
    #[serde(default)]
    pub(super) install_hint: Option<String>,
    #[serde(default)]
    pub(super) provide_cluster_info: bool,
    #[serde(default)]
    pub(super) interactive_mode: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Variable {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}
