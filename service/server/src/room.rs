//! Watches the free space on this replica's disk.
//!
//! A log that cannot be written ends the process, and then no request can delete anything either. So before that, a
//! replica announces that its disk is low, and every replica refuses what makes the state grow. The space that is left
//! is for renewals, deletions, checkpoints and the log behind them.

use std::path::PathBuf;
use std::sync::Arc;

use synod_store::Space;

use crate::consensus::Consensus;
use crate::limits::{DISK_FREE_BYTES_MIN, DISK_FREE_SHARE_MIN};
use crate::metrics::Metrics;
use crate::seams::Seams;

/// Segments of the log that may be begun before old ones are removed.
const SEGMENTS: u64 = 4;

/// The free space of the replica's disk, as of the last look.
pub(crate) struct Room {
    pub(crate) seams: Seams,
    pub(crate) directory: PathBuf,
    pub(crate) segment_bytes: u64,
    pub(crate) consensus: Consensus,
    pub(crate) metrics: Arc<Metrics>,
    /// Whether the disk was low at the last look.
    pub(crate) is_low: bool,
}

impl Room {
    /// Whether the disk is low now. If the system does not tell its free space, the last result stays.
    pub(crate) async fn look(&mut self) -> bool {
        let (disk, directory) = (Arc::clone(&self.seams.disk), self.directory.clone());
        let space = self.seams.offload.run(move || disk.space(&directory)).await;
        match space {
            Ok(space) => {
                self.metrics.disk.room(space);
                let needed =
                    SEGMENTS * self.segment_bytes + 2 * self.consensus.published().state.bytes();
                let was_low = self.is_low;
                self.is_low = is_low(space, needed, was_low);
                if was_low != self.is_low {
                    tracing::warn!(is_low = self.is_low, ?space, "the room on the disk");
                }
            }
            Err(error) => tracing::debug!(%error, "the system does not say how much room there is"),
        }
        self.is_low
    }
}

/// Whether less is free than must be: what the log and two checkpoints need, and a share of a small disk or some bytes
/// of a large one. A disk that was low must have a quarter more, so that the result does not change with every write.
fn is_low(space: Space, needed: u64, was_low: bool) -> bool {
    let share = space.size / DISK_FREE_SHARE_MIN;
    let least = needed
        .max(share.min(DISK_FREE_BYTES_MIN))
        .min(space.size / 2);
    let least = if was_low { least + least / 4 } else { least };
    space.free < least
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_disk_is_low_by_share_if_it_is_small_and_by_bytes_if_it_is_large() {
        let low = |size, free| is_low(Space { free, size }, 0, false);
        assert!(low(10 * GIB, GIB / 2 - 1));
        assert!(!low(10 * GIB, GIB / 2));
        assert!(low(1_000 * GIB, GIB - 1));
        assert!(!low(1_000 * GIB, GIB));
    }

    #[test]
    fn what_the_log_and_two_checkpoints_need_is_kept_free() {
        let low = |free, was_low| {
            is_low(
                Space {
                    free,
                    size: 100 * GIB,
                },
                8 * GIB,
                was_low,
            )
        };
        assert!(low(8 * GIB - 1, false));
        assert!(!low(8 * GIB, false));
        assert!(low(10 * GIB - 1, true));
        assert!(!low(10 * GIB, true));
    }
}
