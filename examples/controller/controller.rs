//! The controller: the state that it wants, the workers that it manages, and what it does when they differ.

use std::collections::BTreeMap;
use std::error::Error;

use bytes::Bytes;
use synod_client::{
    ApiVersion, Client, ControllerHistory, ControllerRevision, Equality, History, InUse, Kind,
    Labels, Mark, MarkTie, Marker, MediaType, Namespace, ObjectName, OwnerReference, ReadOptions,
    Reconcile, RevisionData, Uid, Violations, Wanted, reconcile,
};

/// A worker that the controller manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worker {
    /// The ControllerRevision that it was made from; `None` if it is older than the history.
    pub(crate) revision: Option<ObjectName>,
    /// The data that it runs.
    pub(crate) runs: String,
    /// How often it was created.
    pub(crate) made: u32,
}

/// The controller: its workers, and the collision count that its status would hold.
pub(crate) struct Controller {
    history: History,
    collision_count: u32,
    pub(crate) workers: BTreeMap<String, Worker>,
}

impl Controller {
    /// The controller of an owner called `web`.
    pub(crate) fn new(client: &Client) -> Result<Self, Violations> {
        let history = ControllerHistory {
            namespace: Namespace::parse("default")?,
            owner: OwnerReference {
                api_version: ApiVersion::parse("example.io/v1")?,
                kind: Kind::parse("WorkerSet")?,
                name: ObjectName::parse("web")?,
                uid: Uid::parse("3c83e878-eeb1-8b29-b351-e7ab275f5371")?,
                controller: true,
                block_owner_deletion: true,
            },
            selector: Labels::parse([("app", "web")])?,
        };
        Ok(Self {
            history: client.history(history),
            collision_count: 0,
            workers: BTreeMap::new(),
        })
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Brings all workers to `target`, and returns what was done to each.
    pub(crate) async fn want(
        &mut self,
        target: &str,
    ) -> Result<Vec<(String, Reconcile)>, Box<dyn Error + Send + Sync>> {
        let data = Bytes::copy_from_slice(target.as_bytes());
        let wanted = Wanted::new(RevisionData::new(MediaType::JSON, data)?)
            .with_collision_count(self.collision_count)
            // The same command marks what is being rolled out, so that it is never unmarked in the history.
            .marking_update(MarkTie::default())
            .with_history_limit(3);
        let answered = self.history.create(wanted).await?;
        // A real controller keeps this in its status, so that the next create begins there.
        self.collision_count = answered.answer.collision_count;
        let history = self.history.read(ReadOptions::linearizable()).await?.items;
        let Some(wanted) = history.last() else {
            return Ok(Vec::new());
        };
        // Marks what the workers still run, so that it is not truncated meanwhile. A mark is removed if it is not set
        // again within a day, so a controller that is gone for good keeps nothing.
        self.mark(None).await?;
        let mut done = Vec::new();
        for (name, worker) in &mut self.workers {
            let step = reconcile(
                worker.revision.as_ref(),
                wanted,
                &history,
                Equality::Json,
                differ_in_replicas_alone,
            );
            carry_out(step, worker, wanted);
            done.push((name.clone(), step));
        }
        let current = Some(Mark::On(wanted.name()));
        self.mark(current).await?;
        Ok(done)
    }

    async fn mark(&self, current: Option<Mark>) -> Result<(), synod_client::Error> {
        let marked = self
            .history
            .mark_live(current, None, self.in_use(), MarkTie::default());
        marked.await.map(|_| ())
    }

    /// The ControllerRevisions that the workers run.
    fn in_use(&self) -> Option<InUse> {
        let marker = Marker::parse("workers").ok()?;
        let names = self.workers.values();
        Some(InUse {
            marker,
            names: names.filter_map(|worker| worker.revision.clone()).collect(),
        })
    }
}

/// Whether a worker made from the first can be changed in place to the second.
fn differ_in_replicas_alone(from: Option<&ControllerRevision>, to: &ControllerRevision) -> bool {
    let image = |revision: &ControllerRevision| {
        let json = serde_json::from_slice::<serde_json::Value>(revision.data.bytes()).ok()?;
        json.get("image").cloned()
    };
    from.is_some_and(|from| image(from) == image(to))
}

fn carry_out(step: Reconcile, worker: &mut Worker, wanted: &ControllerRevision) {
    if step == Reconcile::Keep {
        return;
    }
    worker.revision = Some(wanted.name());
    if step == Reconcile::Relabel {
        return;
    }
    worker.runs = String::from_utf8_lossy(wanted.data.bytes()).into_owned();
    if step == Reconcile::Recreate {
        worker.made += 1;
    }
}
