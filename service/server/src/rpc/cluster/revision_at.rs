//! The revision of a time.

use synod_machine::TimeNotKept;
use synod_model::{ErrorKind, Refusal, WallTime};
use synod_proto::status::key;
use synod_proto::{FindRevisionAt, v1};

use super::typed;
use crate::handle::{Asking, Handle};

pub(super) async fn revision_at(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterRevisionAtRequest,
) -> Result<v1::ClusterRevisionAtResponse, Refusal> {
    let FindRevisionAt { time, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let history = reading.published().state.history();
    let events = history
        .revision_at(time)
        .map_err(|not_kept| refusal(time, not_kept))?;
    let caller = events.caller.as_ref();
    Ok(v1::ClusterRevisionAtResponse {
        header: Some(handle.header_of(&reading)),
        revision: events.revision.get(),
        time_ms: events.time.map(WallTime::as_millis).unwrap_or_default(),
        caller: caller
            .filter(|_| asking.standing.may_operate())
            .map(ToString::to_string),
    })
}

fn refusal(time: WallTime, not_kept: TimeNotKept) -> Refusal {
    let TimeNotKept { oldest } = not_kept;
    let Some((revision, since)) = oldest else {
        let message = format!("no kept revision was made until {time}: none has a time yet");
        return Refusal::new(ErrorKind::Compacted, message);
    };
    let message = format!(
        "no kept revision was made until {time}: the oldest that has a time is {revision}, made at {since}"
    );
    Refusal::new(ErrorKind::Compacted, message).with(key::OLDEST_REVISION, revision)
}
