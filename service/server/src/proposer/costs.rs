//! What it costs to pack commands into an entry; see [`crate::costs`].

use bytes::Bytes;
use synod_model::{LogTime, WallTime};

use super::entry::encode;
use super::log_time::Stamp;
use crate::costs::Count;

/// How often an entry is packed.
const TIMES: usize = 100;

/// Packs these encoded commands into an entry.
pub(crate) fn pack(count: &mut Count<'_>, kind: &str, envelopes: &[Bytes]) {
    let stamp = Stamp {
        log_time: LogTime::from_millis(1),
        lift_deadlines: false,
    };
    let wall = WallTime::from_millis(1_795_219_200_000);
    let operations = TIMES * envelopes.len();
    count(&format!("pack {kind}"), operations, &mut || {
        for _ in 0..TIMES {
            encode(stamp, wall, envelopes.iter());
        }
    });
}
