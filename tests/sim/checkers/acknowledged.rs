//! What was answered as not executed never is. (What was acknowledged is looked for by reads and at the end.)

use std::collections::BTreeMap;

use synod_server::consensus::Published;

use crate::clients::Clients;
use crate::net::Host;
use crate::proposals::{self, Fate};

/// Looking at everything after every step would take most of the time of a run.
const EVERY: u64 = 100;

/// How often each replica was looked at.
#[derive(Default)]
pub(crate) struct Acknowledged(BTreeMap<Host, u64>);

impl Acknowledged {
    pub(crate) fn look(&mut self, host: Host, published: &Published, clients: &Clients) {
        let Clients::Proposing(ledger) = clients else {
            return;
        };
        let steps = self.0.entry(host).or_default();
        *steps += 1;
        if !steps.is_multiple_of(EVERY) {
            return;
        }
        let never = ledger.with_fate(Fate::NotExecuted);
        if let Some(number) = proposals::present(&published.state, &never) {
            panic!("{host} executed proposal {number}, which was answered as not executed");
        }
    }
}
