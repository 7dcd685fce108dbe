//! The migration workers: starts, stops and kills them.

use super::cluster::deserter;
use super::processes::Process;
use super::records::Deed;
use super::run::{Run, Stuck};

/// How fast a worker works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As fast as the API servers take it.
    Quick,
    /// So slowly that the demo can act meanwhile.
    Slow,
}

/// The running workers.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    running: Vec<Process>,
}

/// The number of objects that a slow worker rewrites in a second. A step of the demo may take long on a busy machine, and the
/// migration must not end meanwhile.
const SLOW: u32 = 1;

impl Workers {
    /// Starts a worker for resources, named by their plurals.
    ///
    /// # Errors
    ///
    /// The worker cannot be started.
    pub(crate) fn start(
        &mut self,
        run: &Run,
        name: &str,
        places: &Places,
        resources: &[&str],
        pace: Pace,
    ) -> Result<(), Stuck> {
        let mut arguments = vec![
            "demo-migrator".to_owned(),
            format!("--name={name}"),
            format!("--endpoints={}", places.endpoints.join(",")),
            format!("--servers={}", places.servers.join(",")),
            format!("--resources={}", resources.join(",")),
        ];
        if pace == Pace::Slow {
            arguments.push(format!("--objects-per-second={SLOW}"));
        }
        self.running.push(run.launcher.start(name, &arguments)?);
        run.did(Deed::Started, name, "migration worker")
    }

    /// Kills a worker with SIGKILL.
    ///
    /// # Errors
    ///
    /// There is no worker of this name, or it cannot be killed.
    pub(crate) async fn kill(&mut self, run: &Run, name: &str) -> Result<(), Stuck> {
        let place = self.running.iter().position(|one| one.name() == name);
        let place = place.ok_or_else(|| Stuck::new(format!("there is no worker {name}")))?;
        self.running.remove(place).kill().await?;
        run.did(Deed::Killed, name, "migration worker")
    }

    /// Stops all workers.
    ///
    /// # Errors
    ///
    /// A worker does not end.
    pub(crate) async fn stop(&mut self, run: &Run) -> Result<(), Stuck> {
        for worker in self.running.drain(..) {
            let name = worker.name().to_owned();
            worker.stop().await?;
            run.did(Deed::Stopped, &name, "migration worker")?;
        }
        Ok(())
    }

    /// The worker that has ended by itself, if there is one.
    pub(crate) fn deserter(&mut self) -> Option<Stuck> {
        deserter(self.running.iter_mut())
    }
}

/// The addresses that a worker calls.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The client addresses of the replicas.
    pub(crate) endpoints: Vec<String>,
    /// The addresses of the API servers.
    pub(crate) servers: Vec<String>,
}
