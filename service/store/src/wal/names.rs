//! The names of the files of a log.

/// Zero-filled and synced: becomes the next segment by a rename.
pub(super) const SPARE: &str = "spare.tmp";

/// Becomes the next segment at once; made when no spare was ready.
pub(super) const NEXT: &str = "next.tmp";

const SUFFIX: &str = ".wal";
const DIGITS: usize = 20;

/// The name of a segment; names sort as numbers do.
pub(super) fn segment(number: u64) -> String {
    format!("{number:020}{SUFFIX}")
}

/// The number of the segment of that name, or `None` for any other file.
pub(super) fn parse_segment(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX)?;
    if digits.len() != DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The name of the copy of what recovery cut off a segment; `attempt` tells repeated cuts apart.
pub(super) fn broken(segment_name: &str, offset: u64, attempt: u32) -> String {
    match attempt {
        0 => format!("{segment_name}.{offset}.broken"),
        _ => format!("{segment_name}.{offset}.{attempt}.broken"),
    }
}
