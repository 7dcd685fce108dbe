//! While a replica runs, the state that it publishes never goes back.

use std::collections::BTreeMap;

use synod_server::consensus::{Consensus, Leadership, Published};

use crate::net::Host;
use crate::trace::Trace;

/// The last state that each replica published.
#[derive(Default)]
pub(crate) struct Forward(BTreeMap<Host, Seen>);

#[derive(Clone, Copy, Default)]
struct Seen {
    applied: u64,
    revision: u64,
    generation: u64,
    leadership: Leadership,
}

impl Forward {
    pub(crate) fn look(
        &mut self,
        host: Host,
        consensus: &Consensus,
        published: &Published,
        trace: &Trace,
    ) {
        let seen = Seen {
            applied: published.applied_index(),
            revision: published.state.revision().get(),
            generation: published.generation,
            leadership: *consensus.leadership().borrow(),
        };
        let before = self.0.insert(host, seen).unwrap_or_default();
        assert!(
            seen.applied >= before.applied,
            "{host} went back from {} to {}",
            before.applied,
            seen.applied
        );
        assert!(
            seen.revision >= before.revision,
            "{host} went back from revision {}",
            before.revision
        );
        assert!(
            seen.leadership.term >= before.leadership.term,
            "{host} went back to an earlier term"
        );
        if seen.applied != before.applied {
            trace.add(format_args!(
                "{host} applied {} revision {}",
                seen.applied, seen.revision
            ));
        }
        if seen.generation != before.generation {
            trace.add(format_args!("{host} installed a checkpoint"));
        }
        if seen.leadership != before.leadership {
            let Leadership { term, leader, .. } = seen.leadership;
            trace.add(format_args!(
                "{host} sees leader {:?} in term {term}",
                leader.map(|id| id.get())
            ));
        }
    }

    /// The replica has ended. After its next start, its state may be older.
    pub(crate) fn forget(&mut self, host: Host) {
        self.0.remove(&host);
    }
}
