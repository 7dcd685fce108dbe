//! Records what a watch of each replica sees, with `synod watch`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cluster::{Cluster, REPLICAS, deserter};
use super::patience::until;
use super::processes::Process;
use super::records::files;
use super::run::{LIMIT, Run, Stuck};

/// The recorders: one process for each replica. Each knows only its replica, and its output goes to a file unchanged.
#[derive(Debug)]
pub(crate) struct Recorders {
    recorders: Vec<(Process, PathBuf)>,
}

impl Recorders {
    /// Records everything from the first revision on.
    ///
    /// # Errors
    ///
    /// A process cannot be started.
    pub(crate) fn start(run: &Run, cluster: &Cluster) -> Result<Self, Stuck> {
        let recorders = REPLICAS.into_iter().map(|id| {
            let arguments = [
                "watch".to_owned(),
                format!("--endpoints={}", cluster.endpoint(id)),
                "--from=1".to_owned(),
                "--bookmarks".to_owned(),
            ];
            let path = run.path(files::watch(id));
            let process = run
                .launcher
                .start_into(&format!("watch-{id}"), &arguments, &path)?;
            Ok((process, path))
        });
        Ok(Self {
            recorders: recorders.collect::<Result<_, Stuck>>()?,
        })
    }

    /// Waits until all recordings have reached a revision.
    ///
    /// # Errors
    ///
    /// A recording has not reached it in time.
    pub(crate) async fn reached(&mut self, revision: u64) -> Result<(), Stuck> {
        for (process, path) in &self.recorders {
            let what = format!("{} at revision {revision}", process.name());
            let asking = || async {
                let recorded = last_revision(path);
                let recorded = recorded.ok_or_else(|| "nothing is recorded yet".to_owned())?;
                (recorded >= revision)
                    .then_some(())
                    .ok_or_else(|| format!("revision {recorded} is recorded"))
            };
            let waited = until(what, LIMIT, asking).await;
            waited
                .map_err(|late| Stuck::new(format!("{late}; see {}", process.log().display())))?;
        }
        Ok(())
    }

    /// The recorder that has ended by itself, if there is one.
    pub(crate) fn deserter(&mut self) -> Option<Stuck> {
        deserter(self.recorders.iter_mut().map(|(process, _)| process))
    }

    /// Ends the recordings.
    ///
    /// # Errors
    ///
    /// A recorder cannot be ended.
    pub(crate) async fn end(self) -> Result<(), Stuck> {
        for (process, _) in self.recorders {
            process.kill().await?;
        }
        Ok(())
    }
}

/// The revision of the last whole line of a recording.
fn last_revision(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let whole = &text[..text.rfind('\n')?];
    let line: Value = serde_json::from_str(whole.lines().next_back()?).ok()?;
    let revision = line.as_object()?.values().next()?.get("revision")?;
    revision.as_str()?.parse().ok()
}
