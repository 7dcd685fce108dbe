//! Times as people type them.

use synod_client::WallTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::commands::now;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The time with this text.
///
/// # Errors
///
/// It is neither a time of RFC 3339 nor a time of day.
pub(super) fn parse(text: &str) -> Result<WallTime, String> {
    parse_at(text, now())
}

/// The time with this text, when it is `now`.
fn parse_at(text: &str, now: WallTime) -> Result<WallTime, String> {
    let whole = OffsetDateTime::parse(text, &Rfc3339).ok().and_then(millis);
    let of_day = || last_time_of_day(text, now);
    whole.or_else(of_day).map(WallTime::from_millis).ok_or_else(|| {
        "write a time as 2026-11-28T02:14:00Z, with the offset of its time zone, or as 02:14 in UTC".to_owned()
    })
}

/// Milliseconds since the Unix epoch; `None` before it.
fn millis(time: OffsetDateTime) -> Option<u64> {
    u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}

/// The last time in UTC at which clocks showed `HH:MM` or `HH:MM:SS`.
fn last_time_of_day(text: &str, now: WallTime) -> Option<u64> {
    let mut parts = text.split(':');
    let mut next = |below: u64| {
        let part = parts.next()?;
        let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        let number: u64 = part.parse().ok().filter(|_| is_number)?;
        (number < below).then_some(number)
    };
    let (hours, minutes) = (next(24)?, next(60)?);
    let seconds = match text.len() {
        5 => 0,
        _ => next(60)?,
    };
    if parts.next().is_some() {
        return None;
    }
    let now = now.as_millis();
    let today = now - now % DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1_000;
    if today <= now {
        Some(today)
    } else {
        today.checked_sub(DAY_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-28T10:00:00Z.
    const NOW: WallTime = WallTime::from_millis(1_795_860_000_000);

    #[test]
    fn a_time_is_read_with_its_zone_or_as_the_last_one_of_the_day_in_utc() {
        let cases = [
            ("2026-11-28T02:14:00Z", "2026-11-28T02:14:00.000Z"),
            ("2026-11-28T02:14:00.250Z", "2026-11-28T02:14:00.250Z"),
            ("2026-11-28T02:14:00+02:00", "2026-11-28T00:14:00.000Z"),
            ("02:14", "2026-11-28T02:14:00.000Z"),
            ("02:14:59", "2026-11-28T02:14:59.000Z"),
            ("10:00", "2026-11-28T10:00:00.000Z"),
            ("10:01", "2026-11-27T10:01:00.000Z"),
            ("23:59:59", "2026-11-27T23:59:59.000Z"),
        ];
        assert_eq!(NOW.to_string(), "2026-11-28T10:00:00.000Z");
        for (text, expected) in cases {
            let found = parse_at(text, NOW).map(|time| time.to_string());
            assert_eq!(found.as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "2:14",
            "24:00",
            "02:60",
            "02:14:60",
            "02:14:00:00",
            "02:14Z",
            "+2:14",
            "yesterday",
            "2026-11-28",
            "1969-12-31T23:59:59Z",
        ] {
            assert!(parse_at(text, NOW).is_err(), "{text}");
        }
    }
}
