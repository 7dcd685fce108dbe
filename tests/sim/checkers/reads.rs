//! A linearizable read holds everything that was acknowledged before it was asked for.

use crate::workload::Ledger;

pub(crate) fn look(ledger: &Ledger) {
    let broken = ledger.broken_reads();
    assert!(broken.is_empty(), "{broken:?}");
}
