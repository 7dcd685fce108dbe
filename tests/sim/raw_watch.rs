//! A watch of everything by raw streams at one replica, under the strict checker of the tests of processes. The client
//! library drops repeated events, so it would hide a replica that delivers them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use synod_proto::v1;
use synod_proto::v1::watch_client::WatchClient;

use crate::clients::Clients;
use crate::net::{Host, Net};
use crate::visitor::channel;
use crate::watch_log::{Next, WatchLog};
use crate::world::World;

/// How often a replica that refuses the watch is asked again.
const RETRY: Duration = Duration::from_millis(200);

/// A watch. Clones share its log.
#[derive(Clone)]
pub(crate) struct RawWatch(Arc<Mutex<Seen>>);

struct Seen {
    log: WatchLog,
    streams: usize,
    fault: Option<String>,
}

impl RawWatch {
    /// Watches everything at `replica` from revision `from` on, on the machine `host`.
    pub(crate) fn start(world: &mut World, replica: Host, host: Host, from: u64) -> Self {
        let watch = Self(Arc::new(Mutex::new(Seen {
            log: WatchLog::new(from),
            streams: 0,
            fault: None,
        })));
        let Clients::Serving(servers) = &mut world.clients else {
            panic!("consensus alone serves no watches");
        };
        servers.visit(watch.clone().follow(replica, host, world.net.clone()));
        watch
    }

    /// The log of what was delivered so far. Panics if the watch broke a promise.
    pub(crate) fn log(&self) -> WatchLog {
        let seen = self.0.lock().unwrap();
        assert_eq!(seen.fault, None, "a watch broke its promise");
        seen.log.clone()
    }

    /// The number of streams that were opened.
    pub(crate) fn streams(&self) -> usize {
        self.0.lock().unwrap().streams
    }

    async fn follow(self, replica: Host, host: Host, net: Net) {
        let mut service = WatchClient::new(channel(host, &net, replica));
        loop {
            let request = v1::WatchRequest {
                from_revision: Some(self.0.lock().unwrap().log.reopen()),
                bookmark_interval_ms: Some(1_000),
                ..v1::WatchRequest::default()
            };
            if let Ok(opened) = service.watch(request).await {
                self.0.lock().unwrap().streams += 1;
                if let Err(fault) = self.read(opened.into_inner()).await {
                    self.0.lock().unwrap().fault = Some(fault);
                    return;
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Reads one stream to its end.
    async fn read(&self, mut stream: tonic::Streaming<v1::WatchResponse>) -> Result<(), String> {
        while let Ok(Some(response)) = stream.message().await {
            let message = response.message.ok_or("a message without content")?;
            if self.0.lock().unwrap().log.take(message)? == Next::Ended {
                break;
            }
        }
        Ok(())
    }
}
