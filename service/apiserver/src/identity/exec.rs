//! Programs that say who calls, as `client.authentication.k8s.io` has it.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::{Value, json};
use synod_tls::{KeyPair, Pem};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a plugin may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most bytes that a plugin may say, and complain of.
const SAID_BYTES_MAX: u64 = 1 << 20;

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
        let child = self.prepared().spawn().map_err(|error| {
            let hint = self.install_hint.as_deref().map(str::trim);
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{name} cannot be run: {error}{hint}")
        })?;
        let ended = timeout(PATIENCE, Running::new(child).ended()).await;
        let ended = ended.map_err(|_| format!("{name} does not end within {PATIENCE:?}"))?;
        let Ended {
            status,
            said,
            complaint,
        } = ended.map_err(|why| format!("{name}: {why}"))?;
        if !status.success() {
            let complaint = String::from_utf8_lossy(&complaint);
            let kept: String = complaint.trim().chars().take(COMPLAINT_BYTES_MAX).collect();
            return Err(format!("{name} ended with {status}: {kept}"));
        }
        self.credential(&said)
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
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    /// What it has said. Faults repeat nothing of it.
    fn credential(&self, said: &[u8]) -> Result<Credential, String> {
        // Kubernetes' own client reads YAML here, too, of which JSON is a part.
        let said: Said = synod_yaml::from_slice(said).map_err(|_| "it is no ExecCredential")?;
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

/// A plugin that runs, in a process group of its own. Dropping it ends the whole group: a shell's children, too.
struct Running {
    child: Child,
    /// `None` once the plugin has ended, whose id may be another's from then on.
    group: Option<Pid>,
}

/// A plugin that has ended.
struct Ended {
    status: ExitStatus,
    said: Vec<u8>,
    complaint: Vec<u8>,
}

impl Running {
    fn new(child: Child) -> Self {
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            child,
            group: group.and_then(Pid::from_raw),
        }
    }

    async fn ended(mut self) -> Result<Ended, String> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        // It is waited for in the end, so that its id, which is that of the group, stays its own until then.
        let (said, complaint) = tokio::try_join!(whole(stdout), whole(stderr))?;
        let status = self.child.wait().await;
        self.group = None;
        Ok(Ended {
            status: status.map_err(|error| error.to_string())?,
            said,
            complaint,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Everything that is said, up to the limit.
async fn whole(from: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, String> {
    let mut said = Vec::new();
    if let Some(from) = from {
        let read = from.take(SAID_BYTES_MAX + 1).read_to_end(&mut said).await;
        read.map_err(|error| error.to_string())?;
    }
    match said.len() as u64 > SAID_BYTES_MAX {
        true => Err(format!("it says more than {SAID_BYTES_MAX} bytes")),
        false => Ok(said),
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
    async fn a_plugin_that_says_too_much_is_ended_with_all_that_it_has_begun() {
        let folder = tempfile::tempdir().unwrap();
        let held = folder.path().join("held");
        let made = std::process::Command::new("mkfifo").arg(&held).status();
        assert!(made.unwrap().success());
        let script = format!(
            "exec 9> {}; sleep 60 & head -c 2000000 /dev/zero; wait",
            held.display()
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "no simulator runs here, and the file ends when nobody holds its other end any more"
        )]
        let read = tokio::task::spawn_blocking(move || std::fs::read(held));
        let why = plugin(&script).run().await.err().unwrap();
        assert!(why.contains("more than"), "{why}");
        let read = timeout(Duration::from_secs(30), read).await.unwrap();
        assert_eq!(read.unwrap().unwrap(), b"");
    }

    #[tokio::test(start_paused = true)]
    async fn a_plugin_that_hangs_is_ended_and_the_error_says_so() {
        let why = plugin("sleep 600").run().await.err().unwrap();
        assert_eq!(why, "sh does not end within 60s");
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
