//! A proposal that was answered as not executed never is. (`reads` and `together` check the acknowledged ones.)

use std::collections::BTreeMap;

use synod_server::consensus::Published;

use crate::clients::Clients;
use crate::net::Host;
use crate::proposals::{self, Fate};

/// Checks every 100th step only, since looking at the whole state takes most of the time of a run.
const EVERY: u64 = 100;

/// The number of steps, for each replica.
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
