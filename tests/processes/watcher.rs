//! A watch of everything that continues over any number of streams.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_client::Revision;
use synod_proto::v1;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tonic::Request;

use crate::requests::Wire;
use crate::waiting::within;
use crate::watch_log::{Next, WatchLog};

/// How often a stream sends a bookmark when nothing happens, in milliseconds: the shortest interval allowed.
const BOOKMARK_INTERVAL_MS: u32 = 1_000;

/// A stream that sends nothing for this long is taken for dead.
const SILENCE_MAX: Duration = Duration::from_secs(6);

/// How often a replica that does not answer is asked again.
const RETRY: Duration = Duration::from_millis(50);

/// A watch of everything. It ends when this value is dropped.
pub(crate) struct Watcher {
    log: Arc<Mutex<WatchLog>>,
    progress: watch::Receiver<Progress>,
    task: JoinHandle<()>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    reached: u64,
    streams: usize,
    /// The promise that the watch broke, if any.
    fault: Option<String>,
}

impl Watcher {
    /// Watches from `from` on, at the first of these replicas, and at the next one each time a stream ends or breaks.
    pub(crate) fn start(endpoints: Vec<String>, from: Revision) -> Self {
        Self::of_kinds(endpoints, from, &[])
    }

    /// As [`start`](Self::start), for these kinds alone.
    pub(crate) fn of_kinds(
        endpoints: Vec<String>,
        from: Revision,
        kinds: &[v1::ObjectKind],
    ) -> Self {
        let filter = v1::WatchFilter {
            kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
            ..v1::WatchFilter::default()
        };
        let log = Arc::new(Mutex::new(WatchLog::new(from.get())));
        let (sender, progress) = watch::channel(Progress::default());
        let task = tokio::spawn(follow(Arc::clone(&log), sender, endpoints, filter));
        Self {
            log,
            progress,
            task,
        }
    }

    /// Waits until everything up to `revision` was delivered.
    pub(crate) async fn reached(&self, revision: Revision) {
        let what = format!("a watch to come to revision {revision}");
        self.wait(&what, |progress| progress.reached >= revision.get())
            .await;
    }

    /// Waits until this many streams have been opened.
    pub(crate) async fn streams(&self, count: usize) {
        let what = format!("a watch to open its stream number {count}");
        self.wait(&what, |progress| progress.streams >= count).await;
    }

    async fn wait(&self, what: &str, done: impl Fn(&Progress) -> bool) {
        let mut progress = self.progress.clone();
        let waiting = progress.wait_for(|progress| progress.fault.is_some() || done(progress));
        let ended = within(what, waiting)
            .await
            .expect("a watch goes on for ever")
            .clone();
        assert_eq!(ended.fault, None, "a watch broke its promise");
    }

    /// The record of what was delivered so far.
    pub(crate) fn log(&self) -> MutexGuard<'_, WatchLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn follow(
    log: Arc<Mutex<WatchLog>>,
    progress: watch::Sender<Progress>,
    endpoints: Vec<String>,
    filter: v1::WatchFilter,
) {
    let mut retry = interval(RETRY);
    retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for endpoint in endpoints.iter().cycle() {
        retry.tick().await;
        let from = log.lock().unwrap_or_else(PoisonError::into_inner).reopen();
        let request = v1::WatchRequest {
            from_revision: Some(from),
            filter: Some(filter.clone()),
            bookmark_interval_ms: Some(BOOKMARK_INTERVAL_MS),
            cluster_id: String::new(),
        };
        if let Err(fault) = read_stream(&log, &progress, endpoint, request).await {
            let fault = format!("at {endpoint}, from revision {from}: {fault}");
            progress.send_modify(|progress| progress.fault = Some(fault));
            return;
        }
    }
}

/// Reads one stream to its end.
async fn read_stream(
    log: &Mutex<WatchLog>,
    progress: &watch::Sender<Progress>,
    endpoint: &str,
    request: v1::WatchRequest,
) -> Result<(), String> {
    let mut service = Wire::to(endpoint).watch();
    let Ok(Ok(opened)) = timeout(SILENCE_MAX, service.watch(Request::new(request))).await else {
        return Ok(());
    };
    let mut stream = opened.into_inner();
    progress.send_modify(|progress| progress.streams += 1);
    while let Ok(Ok(Some(response))) = timeout(SILENCE_MAX, stream.message()).await {
        let message = response.message.ok_or("a message without content")?;
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let next = log.take(message)?;
        progress.send_modify(|progress| progress.reached = log.reached());
        if next == Next::Ended {
            break;
        }
    }
    Ok(())
}
