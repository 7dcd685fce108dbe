//! When what failed is tried again, where no worker of the client library decides it.

use std::time::Duration;

use synod_apiserver::Fault;

/// How often a request is tried.
pub(super) const TRIES: u32 = 6;

/// The pause after the first try; each further one is five times as long.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest pause that a server may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// How long to wait after the `tries`th try, as a worker does; `None`: it is given up.
pub(super) fn pause(tries: u32, retry_after: Option<Duration>) -> Option<Duration> {
    let pause = PAUSE * 5_u32.pow(tries.saturating_sub(1).min(TRIES));
    (tries < TRIES).then(|| retry_after.unwrap_or(pause).min(PAUSE_MAX))
}

/// Whether there may be an answer later.
pub(super) fn may_pass(fault: &Fault) -> bool {
    match fault {
        Fault::NotSent(_) | Fault::Unanswered(_) | Fault::NoIdentity(_) => true,
        Fault::TooLarge(_) => false,
        Fault::Answered(status, _) => synod_apiserver::may_pass(*status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_a_server_may_ask_for_a_minute_at_most() {
        let pauses: Vec<_> = (1..TRIES).filter_map(|tries| pause(tries, None)).collect();
        assert_eq!(pauses.len(), 5);
        assert!(pauses.windows(2).all(|pair| pair[1] == pair[0] * 5));
        assert_eq!(pause(TRIES, None), None);
        let hour = Some(Duration::from_secs(3_600));
        assert_eq!(pause(1, hour), Some(Duration::from_secs(60)));
    }
}
