//! The deadline of a request, from the header `grpc-timeout`.

use std::time::Duration;

use http::HeaderMap;
use synod_model::{ErrorKind, Refusal, Violation};

use crate::limits::{DEADLINE_DEFAULT, DEADLINE_MAX};

const HEADER: &str = "grpc-timeout";

/// The answer must reach the caller before the caller's own deadline, which may otherwise hide what is known. So this
/// part of the timeout, as one in `WAY`, is kept back for the transport.
const WAY: u32 = 20;
const WAY_MAX: Duration = Duration::from_millis(100);

/// The time that the request may take on this replica.
///
/// # Errors
///
/// `INVALID_ARGUMENT` for a malformed header: with a guessed timeout the answer could come too late.
pub(super) fn timeout(headers: &HeaderMap) -> Result<Duration, Refusal> {
    let Some(value) = headers.get(HEADER) else {
        return Ok(DEADLINE_DEFAULT);
    };
    let asked = value
        .to_str()
        .ok()
        .and_then(parse)
        .ok_or_else(|| invalid(value.as_bytes()))?;
    Ok(allowed(asked))
}

/// The time that a request may take for a caller who waits as long as this.
pub(super) fn allowed(asked: Duration) -> Duration {
    let asked = asked.min(DEADLINE_MAX);
    asked - (asked / WAY).min(WAY_MAX)
}

/// Parses a timeout in gRPC's form: at most eight digits and a unit.
fn parse(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_digit())
    {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 3_600)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

fn invalid(value: &[u8]) -> Refusal {
    let text = String::from_utf8_lossy(value);
    let violation = Violation::invalid(
        &text,
        "must be up to 8 digits and a unit (H, M, S, m, u or n)",
    );
    let violation = violation.at("header grpc-timeout");
    let mut refusal = Refusal::new(
        ErrorKind::InvalidArgument,
        format!("the request is invalid: {violation}"),
    );
    refusal.violations.push(violation);
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_of_grpc_is_read() {
        let read = |text| parse(text).map(|timeout| timeout.as_nanos());
        assert_eq!(read("2H"), Some(7_200_000_000_000));
        assert_eq!(read("3M"), Some(180_000_000_000));
        assert_eq!(read("4S"), Some(4_000_000_000));
        assert_eq!(read("99999999m"), Some(99_999_999_000_000));
        assert_eq!(read("6u"), Some(6_000));
        assert_eq!(read("7n"), Some(7));
    }

    #[test]
    fn a_timeout_that_is_none_is_refused_and_not_guessed() {
        for text in ["", "S", "5", "5s", "-5S", "123456789S", "5 S", "5S ", "٣S"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, "soon".parse().unwrap());
        assert_eq!(
            timeout(&headers).unwrap_err().kind,
            ErrorKind::InvalidArgument
        );
    }

    #[test]
    fn the_answer_leaves_before_the_caller_goes_and_nobody_waits_for_ever() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, text.parse().unwrap());
            timeout(&headers).unwrap()
        };
        assert_eq!(of("1S"), Duration::from_millis(950));
        assert_eq!(of("10S"), Duration::from_millis(9_900));
        assert_eq!(of("9H"), DEADLINE_MAX - WAY_MAX);
        assert_eq!(timeout(&HeaderMap::new()).unwrap(), DEADLINE_DEFAULT);
    }
}
