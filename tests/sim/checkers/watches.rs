//! Every watch sees every revision once, in order, and all watches see the same.

use std::collections::BTreeMap;

use synod_model::Revision;

use crate::api_servers::WatchLog;
use crate::clients::Clients;
use crate::net::Host;

/// Looking at everything after every step would take most of the time of a run.
const EVERY: u64 = 100;

/// What was seen at each revision, and by whom first.
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
            in_order(host, &log);
        }
        for (host, log) in servers.notes().watches() {
            self.without_a_gap(host, &log);
        }
    }

    /// What another watch saw in between, this one saw too, unless it began anew there.
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
