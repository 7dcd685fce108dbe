//! Programs that say who calls, as `client.authentication.k8s.io` has it.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Value, json};
use synod_tls::{KeyPair, Pem};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::process::Command;
use tokio::time::timeout;

/// How long a plugin may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much of what a plugin complains of is repeated.
const COMPLAINT_BYTES_MAX: usize = 512;

/// A program that says who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecPlugin {
    /// The program: looked up in `PATH` if it is a mere name, else beside the kubeconfig.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What is added to its environment.
    pub environment: Vec<(String, String)>,
    /// The version of the protocol that it speaks: `client.authentication.k8s.io/v1` or `/v1beta1`.
    pub api_version: String,
    /// What it is told of the cluster, if it asks for that.
    pub cluster: Option<Value>,
    /// How to install it.
    pub install_hint: Option<String>,
    /// The folder of the kubeconfig.
    pub folder: PathBuf,
}

/// What a plugin has said.
pub(super) struct Credential {
    pub(super) token: Option<String>,
    pub(super) own: Option<KeyPair>,
    expires: Option<OffsetDateTime>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    api_version: String,
    kind: String,
    status: Option<SaidStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SaidStatus {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl ExecPlugin {
    /// Runs the program, without a person: it reads nothing.
    pub(super) async fn run(&self) -> Result<Credential, String> {
        let name = &self.command;
        let output = timeout(PATIENCE, self.prepared().output()).await;
        let output = output.map_err(|_| format!("{name} does not end within {PATIENCE:?}"))?;
        let output = output.map_err(|error| {
            let hint = self.install_hint.as_deref().map(str::trim);
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{name} cannot be run: {error}{hint}")
        })?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let kept: String = complaint.trim().chars().take(COMPLAINT_BYTES_MAX).collect();
            return Err(format!("{name} ended with {}: {kept}", output.status));
        }
        self.credential(&output.stdout)
            .map_err(|why| format!("{name} says no credential: {why}"))
    }

    fn prepared(&self) -> Command {
        let is_path = self.command.contains(std::path::MAIN_SEPARATOR);
        let mut command = match is_path {
            true => Command::new(self.folder.join(&self.command)),
            false => Command::new(&self.command),
        };
        let mut spec = json!({"interactive": false});
        if let Some(cluster) = &self.cluster {
            spec["cluster"] = cluster.clone();
        }
        let info = json!({"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec});
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("KUBERNETES_EXEC_INFO", info.to_string())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// What it has said. Faults repeat nothing of it.
    fn credential(&self, said: &[u8]) -> Result<Credential, String> {
        // Kubernetes' own client reads YAML here, too, of which JSON is a part.
        let said: Said = serde_yaml_ng::from_slice(said).map_err(|_| "it is no ExecCredential")?;
        if said.kind != "ExecCredential" || said.api_version != self.api_version {
            let (version, kind) = (said.api_version, said.kind);
            return Err(format!(
                "it is {kind} of {version}, and not ExecCredential of {}",
                self.api_version
            ));
        }
        let status = said.status.ok_or("it has no status")?;
        let expires = status.expiration_timestamp.as_deref();
        let expires = expires.map(|text| OffsetDateTime::parse(text, &Rfc3339));
        let own = match (status.client_certificate_data, status.client_key_data) {
            (Some(certificate), Some(key)) => Some(KeyPair {
                certificate: Pem::Bytes(Arc::from(certificate.into_bytes())),
                key: Pem::Bytes(Arc::from(key.into_bytes())),
            }),
            (None, None) => None,
            _ => return Err("it has a certificate or a key, but not both".to_owned()),
        };
        let token = status.token.filter(|token| !token.is_empty());
        if token.is_none() && own.is_none() {
            return Err("it has neither a token nor a certificate".to_owned());
        }
        Ok(Credential {
            token,
            own,
            expires: expires
                .transpose()
                .map_err(|error| format!("its expiration: {error}"))?,
        })
    }
}

impl Credential {
    /// Whether it has expired. Without an expiration it never does, but may be refused.
    pub(super) fn is_expired(&self) -> bool {
        #[expect(
            clippy::disallowed_methods,
            reason = "an expiration is a wall time, which a plugin has from elsewhere"
        )]
        let now = OffsetDateTime::from(SystemTime::now());
        self.expires.is_some_and(|expires| expires <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "client.authentication.k8s.io/v1";

    /// A plugin that is a shell script.
    fn plugin(script: &str) -> ExecPlugin {
        ExecPlugin {
            command: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: vec![("WHO".to_owned(), "me".to_owned())],
            api_version: V1.to_owned(),
            cluster: None,
            install_hint: Some("install it".to_owned()),
            folder: PathBuf::new(),
        }
    }

    fn says(status: &str) -> String {
        format!(
            "echo '{{\"apiVersion\":\"{V1}\",\"kind\":\"ExecCredential\",\"status\":{status}}}'"
        )
    }

    #[tokio::test]
    async fn a_plugin_is_told_that_nobody_sits_there_and_says_a_token() {
        let script = format!(
            "test \"$WHO\" = me && echo \"$KUBERNETES_EXEC_INFO\" | grep -q '\"interactive\":false' && {}",
            says(r#"{"token":"t","expirationTimestamp":"2999-01-01T00:00:00Z"}"#)
        );
        let credential = plugin(&script).run().await.unwrap();
        assert_eq!(credential.token.as_deref(), Some("t"));
        assert!(!credential.is_expired());
    }

    #[tokio::test]
    async fn a_credential_expires_when_it_says_so() {
        let script = says(r#"{"token":"t","expirationTimestamp":"2001-01-01T00:00:00+01:00"}"#);
        assert!(plugin(&script).run().await.unwrap().is_expired());
    }

    #[tokio::test]
    async fn a_plugin_that_fails_or_babbles_is_named_with_the_reason_and_without_a_secret() {
        for (script, part) in [
            ("echo not logged in >&2; exit 3".to_owned(), "not logged in"),
            ("echo hunter2".to_owned(), "no ExecCredential"),
            (says("{}"), "neither a token"),
            (says(r#"{"clientCertificateData":"x"}"#), "not both"),
            (
                says(r#"{"token":"hunter2","expirationTimestamp":"soon"}"#),
                "expiration",
            ),
            (
                says(r#"{"token":"hunter2"}"#).replace("/v1", "/v1beta1"),
                "v1beta1",
            ),
        ] {
            let why = plugin(&script).run().await.err().unwrap();
            assert!(
                why.contains(part) && !why.contains("hunter2"),
                "{script}: {why}"
            );
        }
        let missing = ExecPlugin {
            command: "no-such-program-anywhere".to_owned(),
            ..plugin("")
        };
        let why = missing.run().await.err().unwrap();
        assert!(why.contains("install it"), "{why}");
    }
}
