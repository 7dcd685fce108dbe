//! Every watch delivers every revision once, in order, and all watches deliver the same.

use std::collections::BTreeMap;

use synod_model::Revision;

use crate::api_servers::WatchLog;
use crate::clients::Clients;
use crate::net::Host;

/// Checks every 100th step only, since it takes most of the time of a run.
const EVERY: u64 = 100;

/// For each revision, the hash of its events, and the host whose watch delivered it first.
#[derive(Default)]
pub(crate) struct Watches {
    steps: u64,
    seen: BTreeMap<Revision, (u64, Host)>,
    looked_at: BTreeMap<Host, usize>,
}

impl Watches {
    pub(crate) fn look(&mut self, clients: &Clients) {
        let Clients::Serving(servers) = clients else {
            return;
        };
        self.steps += 1;
        if !self.steps.is_multiple_of(EVERY) {
            return;
        }
        for (host, log) in servers.notes().watches() {
            self.alike(host, &log);
            in_order(host, &log);
        }
        for (host, log) in servers.notes().watches() {
            self.without_a_gap(host, &log);
        }
    }

    /// Checks that the new events of a watch are those that other watches delivered.
    fn alike(&mut self, host: Host, log: &WatchLog) {
        let from = self
            .looked_at
            .insert(host, log.events.len())
            .unwrap_or_default();
        for (revision, print) in &log.events[from..] {
            let (first_print, first) = *self.seen.entry(*revision).or_insert((*print, host));
            assert_eq!(
                *print, first_print,
                "{host} and {first} saw different events of revision {revision}"
            );
        }
    }

    /// Checks that no revision of another watch is missing, unless this one began with a list.
    fn without_a_gap(&self, host: Host, log: &WatchLog) {
        let Some((first, _)) = log.events.first() else {
            return;
        };
        let had: Vec<Revision> = log.events.iter().map(|(revision, _)| *revision).collect();
        for (revision, (_, other)) in self.seen.range(*first..=log.reached) {
            let skipped = log.resyncs.iter().any(|resync| resync >= revision);
            let missed = had.binary_search(revision).is_err() && !skipped;
            assert!(
                !missed,
                "{host} has not seen revision {revision}, which {other} has"
            );
        }
    }
}

fn in_order(host: Host, log: &WatchLog) {
    let pairs = log.events.iter().zip(log.events.iter().skip(1));
    for ((before, _), (after, _)) in pairs {
        assert!(before < after, "{host} saw revision {after} after {before}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watch that delivered these revisions, each with its hash.
    fn log(events: &[(u64, u64)]) -> WatchLog {
        let seen = events
            .iter()
            .map(|(at, print)| (Revision::new(*at), *print));
        let events: Vec<(Revision, u64)> = seen.collect();
        WatchLog {
            reached: events
                .last()
                .map_or(Revision::ZERO, |(revision, _)| *revision),
            events,
            resyncs: Vec::new(),
        }
    }

    fn watched(logs: &[WatchLog]) {
        let mut watches = Watches::default();
        for (host, log) in (1..).zip(logs) {
            watches.alike(host, log);
            in_order(host, log);
        }
        for (host, log) in (1..).zip(logs) {
            watches.without_a_gap(host, log);
        }
    }

    #[test]
    fn watches_that_saw_the_same_pass() {
        let whole = log(&[(1, 10), (2, 20), (3, 30)]);
        let began_later = log(&[(2, 20), (3, 30)]);
        let mut began_anew = log(&[(1, 10), (3, 30)]);
        began_anew.resyncs.push(Revision::new(2));
        watched(&[whole, began_later, began_anew]);
    }

    #[test]
    #[should_panic(expected = "saw different events of revision 2")]
    fn watches_that_saw_different_events_are_found() {
        watched(&[log(&[(1, 10), (2, 20)]), log(&[(1, 10), (2, 21)])]);
    }

    #[test]
    #[should_panic(expected = "saw revision 1 after 2")]
    fn a_watch_that_went_back_is_found() {
        watched(&[log(&[(2, 20), (1, 10)])]);
    }

    #[test]
    #[should_panic(expected = "has not seen revision 2, which 1 has")]
    fn a_watch_that_missed_a_revision_is_found() {
        watched(&[log(&[(1, 10), (2, 20), (3, 30)]), log(&[(1, 10), (3, 30)])]);
    }
}
