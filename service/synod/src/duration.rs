//! Parses and prints durations, as in `500ms` and `10s`.

use std::time::Duration;

/// The units, largest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Parses a duration: a whole number and its unit.
///
/// # Errors
///
/// The text says what a duration should look like.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err("begin with a whole number, as in 500ms, 10s, 2m".to_owned());
    }
    let Some((_, millis)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(match unit {
            "" => "give its unit, as in 500ms, 10s, 2m".to_owned(),
            _ => format!("{unit:?} is no unit of time: use ms, s, m or h"),
        });
    };
    let number: Option<u64> = number.parse().ok();
    number
        .and_then(|number| number.checked_mul(*millis))
        .map(Duration::from_millis)
        .ok_or_else(|| "it is too long".to_owned())
}

/// Parses a duration that must not be zero.
///
/// # Errors
///
/// As [`parse`]; or the duration is zero.
pub(crate) fn parse_some(text: &str) -> Result<Duration, String> {
    let span = parse(text)?;
    if span.is_zero() {
        return Err("it must be greater than zero".to_owned());
    }
    Ok(span)
}

/// A duration in the largest unit that shows whole milliseconds exactly; [`parse`] reads it back.
pub(crate) fn text(span: Duration) -> String {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let (unit, size) = UNITS
        .into_iter()
        .find(|(_, size)| millis > 0 && millis.is_multiple_of(*size))
        .unwrap_or(("s", 1_000));
    format!("{}{unit}", millis / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_whole_number_with_its_unit() {
        for (text, millis) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_told_what_it_should_look_like() {
        for (text, part) in [
            ("", "begin with a whole number"),
            ("s", "begin with a whole number"),
            ("-1s", "begin with a whole number"),
            ("10", "give its unit"),
            ("1.5s", "\".5s\" is no unit"),
            ("10 s", "\" s\" is no unit"),
            ("10d", "use ms, s, m or h"),
            ("18446744073709551615h", "too long"),
            ("99999999999999999999s", "too long"),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(fault.contains(part), "{text}: {fault}");
        }
        assert!(parse_some("0ms").unwrap_err().contains("greater than zero"));
    }

    #[test]
    fn a_span_is_shown_in_the_largest_unit_that_fits_and_reads_back() {
        for (millis, shown) in [
            (0, "0s"),
            (500, "500ms"),
            (70_000, "70s"),
            (300_000, "5m"),
            (86_400_000, "24h"),
            (61_001, "61001ms"),
        ] {
            let span = Duration::from_millis(millis);
            assert_eq!(text(span), shown);
            assert_eq!(parse(shown), Ok(span));
        }
    }
}
