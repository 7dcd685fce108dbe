//! The names of the files of a log.

/// Exists while acknowledged entries may be missing, so that a restart does not forget it.
pub(super) const MUST_CATCH_UP: &str = "MUST-CATCH-UP";

/// The end of the names of unfinished files. A start removes those that an earlier process left.
pub(super) const TEMPORARY_SUFFIX: &str = ".tmp";

const SUFFIX: &str = ".wal";
const BROKEN_SUFFIX: &str = ".broken";
const DIGITS: usize = 20;

/// The name of a segment. Names sort in the order of numbers.
pub(super) fn segment(number: u64) -> String {
    format!("{number:020}{SUFFIX}")
}

/// The name of a file that is to become a segment. No two of one process are the same.
pub(super) fn unborn(count: u64) -> String {
    format!("segment-{count}{TEMPORARY_SUFFIX}")
}

/// The number of the segment of that name, or `None` for any other file.
pub(super) fn parse_segment(name: &str) -> Option<u64> {
    parse_digits(name.strip_suffix(SUFFIX)?)
}

fn parse_digits(digits: &str) -> Option<u64> {
    if digits.len() != DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The number of the segment of which this is a copy of the end, or `None` for any other file.
pub(super) fn parse_broken(name: &str) -> Option<u64> {
    let (segment, _) = name.strip_suffix(BROKEN_SUFFIX)?.split_once(SUFFIX)?;
    parse_digits(segment)
}

/// The name of the copy of what recovery cut off a segment; `attempt` tells repeated cuts apart.
pub(super) fn broken(segment_name: &str, offset: u64, attempt: u32) -> String {
    match attempt {
        0 => format!("{segment_name}.{offset}{BROKEN_SUFFIX}"),
        _ => format!("{segment_name}.{offset}.{attempt}{BROKEN_SUFFIX}"),
    }
}
