//! Numbers by their exact decimal value.

use crate::limits::{JSON_EXPONENT_MAX, JSON_NUMBER_BYTES_MAX};

/// A number as it was written. Two numbers are equal if their values are, whatever their texts.
#[derive(Clone, Debug)]
pub struct JsonNumber(Box<str>);

impl JsonNumber {
    /// The number with this text, by the grammar of JSON.
    ///
    /// `None` for any other text, for a number with an exponent beyond [`JSON_EXPONENT_MAX`] either way, and for one
    /// longer than [`JSON_NUMBER_BYTES_MAX`]: comparing two reads every digit of both.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() <= JSON_NUMBER_BYTES_MAX).then_some(())?;
        (length(text.as_bytes()) == Some(text.len())).then_some(())?;
        Decimal::of(text)?;
        Some(Self(text.into()))
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The canonical text of its value: a plain integer or fraction where that is short, else with an exponent.
    pub fn to_canonical(&self) -> String {
        self.decimal().to_canonical()
    }

    fn decimal(&self) -> Decimal {
        Decimal::of(&self.0).expect("a number is parsed before it is one")
    }
}

impl PartialEq for JsonNumber {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.decimal() == other.decimal()
    }
}

impl Eq for JsonNumber {}

/// The length of the number that the text begins with; `None` if it begins with none.
pub(super) fn length(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|c| c.is_ascii_digit()).count()
    };
    let mut at = usize::from(text.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && text[at] == b'0') {
        return None;
    }
    at += whole;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    Some(at)
}

/// A value: `0.digits` times ten to the power of `point`. Neither the first nor the last digit is a zero, so that equal
/// values have equal fields; zero has no digits and no sign.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    point: i64,
}

impl Decimal {
    /// The value of a text that has the form of a number; `None` if its exponent is out of bounds.
    fn of(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            None => (text, 0),
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self {
                negative: false,
                digits: String::new(),
                point: 0,
            });
        }
        // The lengths fit: [`JsonNumber::parse`] bounds them.
        let leading = i64::try_from(all.len() - significant.len()).ok()?;
        let whole = i64::try_from(whole.len()).ok()?;
        Some(Self {
            negative,
            digits: digits.to_owned(),
            point: whole - leading + exponent,
        })
    }

    fn to_canonical(&self) -> String {
        /// An integer with more digits is written with an exponent instead of trailing zeros.
        const PLAIN_MAX: i64 = 21;
        const LEADING_ZEROS_MAX: i64 = 6;

        let sign = if self.negative { "-" } else { "" };
        let digits = self.digits.as_str();
        let count = digits.len() as i64;
        if digits.is_empty() {
            return "0".to_owned();
        }
        if (count..=PLAIN_MAX.max(count)).contains(&self.point) {
            let zeros = "0".repeat((self.point - count) as usize);
            return format!("{sign}{digits}{zeros}");
        }
        if (1..count).contains(&self.point) {
            let (whole, fraction) = digits.split_at(self.point as usize);
            return format!("{sign}{whole}.{fraction}");
        }
        if (-LEADING_ZEROS_MAX..=0).contains(&self.point) {
            let zeros = "0".repeat(-self.point as usize);
            return format!("{sign}0.{zeros}{digits}");
        }
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{dot}{rest}e{}", self.point - 1)
    }
}

/// The exponent, if it is within bounds.
fn exponent_of(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let significant = digits.trim_start_matches('0');
    let magnitude: i64 = match significant {
        "" => 0,
        _ => significant.parse().ok()?,
    };
    let bounded = magnitude <= JSON_EXPONENT_MAX as i64;
    bounded.then_some(if negative { -magnitude } else { magnitude })
}
