//! Follows the replica set: which replicas were added since the client was made, and where they serve clients.
//!
//! A client looks from time to time, and soon after a replica has not answered. It asks a replica that it knows for the
//! status, beside the calls: none of them waits for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};
use tonic::Request;

use super::ReplicaChannel;

/// The time from one look to the next, while all is well.
const PERIOD: Duration = Duration::from_secs(10);

/// The least time from one look to the next, while replicas do not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// How long one replica may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// The endpoints of a client, as a look needs them.
pub(super) trait Followed: Send + Sync + 'static {
    fn preferred(&self) -> usize;
    fn len(&self) -> usize;
    fn channel(&self, place: usize) -> ReplicaChannel;
    /// Begins the next call at this place.
    fn prefer(&self, place: usize);
    /// Takes over where the replicas of the set serve clients, by their ids.
    fn follow(&self, set: &[(u64, String)]);
    /// The look has ended.
    fn looked(&self);
}

/// When a client last looked, and whether it does now.
pub(super) struct Looks {
    born: Instant,
    /// When it last looked, in milliseconds since `born`. A client that is used for less than a period never looks.
    last: AtomicU64,
    looking: AtomicBool,
}

impl Looks {
    pub(super) fn new() -> Self {
        Self {
            born: Instant::now(),
            last: AtomicU64::new(0),
            looking: AtomicBool::new(false),
        }
    }

    pub(super) fn after_answer<E: Followed>(&self, endpoints: &Arc<E>) {
        self.look(endpoints, PERIOD);
    }

    pub(super) fn after_failure<E: Followed>(&self, endpoints: &Arc<E>) {
        self.look(endpoints, PAUSE);
    }

    fn look<E: Followed>(&self, endpoints: &Arc<E>, pause: Duration) {
        let now = millis(self.born.elapsed());
        let since = now.saturating_sub(self.last.load(Ordering::Relaxed));
        if since < millis(pause) || self.looking.swap(true, Ordering::AcqRel) {
            return;
        }
        self.last.store(now, Ordering::Relaxed);
        let Ok(runtime) = Handle::try_current() else {
            self.looking.store(false, Ordering::Release);
            return;
        };
        // A client that is dropped meanwhile is not kept for it.
        runtime.spawn(look(Arc::downgrade(endpoints)));
    }

    pub(super) fn ended(&self) {
        self.looking.store(false, Ordering::Release);
    }
}

/// Asks one replica after the other, the last one that answered first, until one answers.
async fn look<E: Followed>(endpoints: Weak<E>) {
    let Some(first) = endpoints.upgrade().map(|all| (all.preferred(), all.len())) else {
        return;
    };
    let (preferred, count) = first;
    for step in 0..count {
        let Some(channel) = endpoints.upgrade().map(|all| all.channel(preferred + step)) else {
            return;
        };
        let asking = async {
            let mut client = ClusterClient::new(channel);
            let mut request = Request::new(v1::ClusterStatusRequest {});
            request.set_timeout(ANSWER_MAX);
            client.status(request).await
        };
        let answer = match timeout(ANSWER_MAX, asking).await {
            Ok(Ok(answer)) => answer.into_inner(),
            Ok(Err(status)) => {
                tracing::debug!(%status, "a replica did not say which others there are");
                continue;
            }
            Err(_) => continue,
        };
        let set = answer.replicas.into_iter();
        let set = set.map(|replica| (replica.replica_id, replica.client_address));
        let set: Vec<(u64, String)> = set.filter(|(_, address)| !address.is_empty()).collect();
        if let Some(all) = endpoints.upgrade() {
            all.follow(&set);
            // Otherwise each call would begin at the one that is gone, until one came as far as this.
            if step > 0 {
                all.prefer(preferred + step);
            }
        }
        break;
    }
    if let Some(all) = endpoints.upgrade() {
        all.looked();
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
