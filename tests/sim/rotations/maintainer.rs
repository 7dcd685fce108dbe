//! The maintainer of the servers, whose releases introduce a version, withdraw it, and remove its code.

use std::ops::Range;

use rand::RngExt;
use rand::seq::SliceRandom;
use synod_client::ReadOptions;
use synod_model::SERVED;

use super::release::{Release, value};
use super::{Participant, SERVERS, widgets};

/// How long a version is promised, in milliseconds.
const PROMISE: Range<u64> = 2_000..10_000;

/// How often the maintainer looks whether it can go on, at most, while things go wrong.
const LOOKS: usize = 60;

/// Rolls releases out until the run is over, and once more when nothing goes wrong any more.
pub(super) async fn run(mut maintainer: Participant) {
    while !maintainer.is_over() {
        comes_and_goes(&mut maintainer).await;
        maintainer.pause(500..2_000).await;
    }
    // This has to come to an end: nothing stands in its way.
    comes_and_goes(&mut maintainer).await;
    maintainer.ledger.end_releases();
}

/// A version is introduced, withdrawn, and its code removed if all goes well.
async fn comes_and_goes(maintainer: &mut Participant) {
    let until = maintainer.net.now() + maintainer.rng.random_range(PROMISE);
    roll_out(maintainer, Release::Serves { until }).await;
    wait(maintainer, async |maintainer| maintainer.ledger.is_shown()).await;
    maintainer.pause(300..2_000).await;
    roll_out(maintainer, Release::Withdraws).await;
    if wait(maintainer, is_free).await {
        maintainer.ledger.count(|told| told.removed += 1);
        roll_out(maintainer, Release::Without).await;
    }
}

/// Waits until this is so; if the run is not over, with limited patience. Returns whether it is.
async fn wait(maintainer: &mut Participant, is_so: impl AsyncFn(&Participant) -> bool) -> bool {
    let is_calm = maintainer.is_over();
    for look in 0.. {
        if is_so(maintainer).await {
            return true;
        }
        if !is_calm && (maintainer.is_over() || look == LOOKS) {
            return false;
        }
        maintainer.pause(100..400).await;
    }
    unreachable!("the looks do not end")
}

async fn roll_out(maintainer: &mut Participant, release: Release) {
    let mut servers = SERVERS;
    servers.shuffle(&mut maintainer.rng);
    for host in servers {
        maintainer.ledger.roll_out(host, release);
        maintainer.pause(0..600).await;
    }
    maintainer
        .trace
        .add(format_args!("everybody is to run {release:?}"));
}

/// Whether the code of the version may be removed.
async fn is_free(maintainer: &Participant) -> bool {
    let (topic, served) = (widgets(), value(SERVED));
    let options = ReadOptions::linearizable();
    let checked = maintainer.client.check_drop(&topic, &served, options).await;
    checked.is_ok_and(|checked| checked.is_safe_for_sure())
}
