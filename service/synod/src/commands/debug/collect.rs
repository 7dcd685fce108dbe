//! Collects the texts of a bundle. Nothing is taken from files of keys or tokens: only where they are is told.

use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use synod_client::json as form;
use synod_client::{Client, Diagnostics, Error, ReadOptions, WallTime};

use crate::commands::doctor::found::EndpointFound;
use crate::commands::doctor::{gather, judge};
use crate::settings::ClientSettings;
use crate::views;

/// The longest time for each call: a cluster that is down must not hold up the bundle.
const CALL_MAX: Duration = Duration::from_secs(5);

/// What was collected, and what was not.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// The texts by their paths.
    pub(super) files: Vec<(String, String)>,
    pub(super) missing: Vec<Missing>,
}

/// Something that could not be had.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) what: &'static str,
    pub(super) place: String,
    pub(super) why: String,
}

/// Asks everybody. It does not fail: what is not answered is missing.
pub(super) async fn collect(
    settings: &ClientSettings,
    file: Option<&Path>,
    now: WallTime,
) -> Collected {
    let settings = ClientSettings {
        timeout: settings.timeout.min(CALL_MAX),
        ..settings.clone()
    };
    let mut collected = Collected::default();
    collected.document("client.json", &configuration(&settings, file));
    let found = gather::gather(&settings).await;
    let findings = judge::judge(&found);
    collected.document("findings.json", &views::findings(&findings).value);
    let asking = found.endpoints.iter().map(|found| ask(&settings, found));
    for (found, asked) in found.endpoints.iter().zip(join_all(asking).await) {
        collected.endpoint(found, asked);
    }
    // Replicas write their log to standard error, and no call reads it.
    collected.missed(
        "log",
        "every replica",
        "read it on its host: journalctl -u synod",
    );
    collected.manifest(now);
    collected
}

/// What the replica at an endpoint answers beside its status.
struct Asked {
    diagnostics: Result<Diagnostics, Error>,
    /// The settings as this replica has them, without asking the others.
    settings: Result<Value, Error>,
}

/// `None`: it did not answer before.
async fn ask(settings: &ClientSettings, found: &EndpointFound) -> Option<Asked> {
    found.answered()?;
    let alone = ClientSettings {
        endpoints: vec![found.endpoint.clone()],
        ..settings.clone()
    };
    let client: Client = alone.connect().await.ok()?;
    let any_age = ReadOptions::max_staleness(Duration::from_secs(600));
    let (diagnostics, settings) = tokio::join!(
        client.diagnostics_of(&found.endpoint),
        client.settings(any_age)
    );
    Some(Asked {
        diagnostics,
        settings: settings.map(|view| form::of(&view)),
    })
}

/// How this client was configured. Of certificates and keys it says where they are.
fn configuration(settings: &ClientSettings, file: Option<&Path>) -> Value {
    let tls = settings.tls.as_ref().map(|tls| {
        form::JsonObject::new()
            .with("cacert", tls.trusted_ca.to_string())
            .with_some(
                "cert",
                tls.own.as_ref().map(|own| own.certificate.to_string()),
            )
            .with_some("key", tls.own.as_ref().map(|own| own.key.to_string()))
            .with_some("tlsServerName", tls.server_name.clone())
    });
    let document = form::JsonObject::new()
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("endpoints", settings.endpoints.clone())
        .with("timeout", crate::duration::text(settings.timeout))
        .with_some("config", file.map(|file| file.display().to_string()))
        .with_some("tls", tls);
    document.into()
}

impl Collected {
    fn endpoint(&mut self, found: &EndpointFound, asked: Option<Asked>) {
        let place = found.endpoint.as_str();
        let Some(answered) = found.answered() else {
            let why = match (&found.connected, &found.answer) {
                (Err(why), _) => why.clone(),
                (Ok(_), Some(Err(unanswered))) => unanswered.message.clone(),
                (Ok(_), _) => "it was not asked".to_owned(),
            };
            return self.missed("everything", place, why);
        };
        let folder = format!("replica-{}", answered.status.header.replica_id);
        self.document(
            &format!("{folder}/status.json"),
            &form::of(&answered.status),
        );
        let Some(Asked {
            diagnostics,
            settings,
        }) = asked
        else {
            return self.missed("diagnostics", place, "it could not be asked again");
        };
        match settings {
            Ok(settings) => self.document(&format!("{folder}/settings.json"), &settings),
            Err(error) => self.missed("settings", place, error.message()),
        }
        match diagnostics {
            Ok(told) => {
                let configuration = json!(told.configuration);
                self.document(&format!("{folder}/configuration.json"), &configuration);
                let filter = form::of(&told.log_filter);
                self.document(&format!("{folder}/log-filter.json"), &filter);
                self.text(&format!("{folder}/metrics.txt"), told.metrics);
                self.text(&format!("{folder}/readiness.txt"), told.readiness);
            }
            Err(error) => self.missed("diagnostics", place, error.message()),
        }
    }

    fn text(&mut self, path: &str, text: String) {
        self.files.push((path.to_owned(), text));
    }

    fn document(&mut self, path: &str, document: &Value) {
        self.text(path, format!("{document:#}\n"));
    }

    fn missed(&mut self, what: &'static str, place: &str, why: impl Into<String>) {
        self.missing.push(Missing {
            what,
            place: place.to_owned(),
            why: why.into(),
        });
    }

    /// What is in the bundle, and what is not.
    fn manifest(&mut self, now: WallTime) {
        let files: Vec<&str> = self.files.iter().map(|(path, _)| path.as_str()).collect();
        let missing = form::list(
            &self.missing,
            |missing| json!({"what": missing.what, "of": missing.place, "why": missing.why}),
        );
        let manifest = json!({
            "collectedMs": now.as_millis().to_string(),
            "files": files,
            "missing": missing,
        });
        self.document("manifest.json", &manifest);
    }
}
