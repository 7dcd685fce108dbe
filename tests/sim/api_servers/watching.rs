//! A watch of everything through the client library.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use synod_client::{Client, Events, WatchFrom, WatchMessage, WatchOptions};

use super::Notes;
use crate::net::Host;
use crate::trace::Trace;

/// Watches for ever, and records the events.
pub(super) async fn watch(host: Host, client: Client, notes: Notes, trace: Trace) {
    let options = WatchOptions::new()
        .from(WatchFrom::List)
        .bookmark_interval(Duration::from_secs(1));
    loop {
        let mut watch = match client.watch(options.clone()).await {
            Ok(watch) => watch,
            Err(error) => {
                trace.add(format_args!("{host} cannot watch: {error}"));
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            }
        };
        while let Some(message) = watch.next().await {
            match message {
                Ok(message) => note(host, &notes, message),
                Err(error) => trace.add(format_args!("{host} lost its watch: {error}")),
            }
        }
    }
}

fn note(host: Host, notes: &Notes, message: WatchMessage) {
    notes.watched(host, |log| match message {
        WatchMessage::Events(Events {
            revision, events, ..
        }) => {
            // The same keys in every process, so that two runs differ only if the events did.
            let mut print = DefaultHasher::new();
            format!("{events:?}").hash(&mut print);
            log.events.push((revision, print.finish()));
            log.reached = log.reached.max(revision);
        }
        WatchMessage::Resync(Events { revision, .. }) => {
            log.resyncs.push(revision);
            log.reached = log.reached.max(revision);
        }
        WatchMessage::Bookmark(revision) => log.reached = log.reached.max(revision),
    });
}
