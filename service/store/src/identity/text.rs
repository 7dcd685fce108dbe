//! The identity file as text. Parsing is strict: text not written by this crate is damage.

use std::fmt::Write;
use std::str::Lines;

use super::{Claim, Identity};
use crate::{FORMAT_VERSION, MIN_READER_VERSION};

const TITLE: &str = "synod-data-directory";
const NAME_LENGTH_MAX: usize = 253;

/// The reason why the text is not an identity.
#[derive(Debug)]
pub(super) enum Unreadable {
    Newer { found: u32, needed: u32 },
    Damaged { offset: u64, what: &'static str },
}

/// Everything in the file, so that rewriting it loses nothing.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) identity: Identity,
    /// Lines of a newer format that this build does not know.
    unknown: Vec<String>,
}

impl Content {
    pub(super) fn new(claim: &Claim) -> Self {
        let identity = Identity {
            format: FORMAT_VERSION,
            min_reader: MIN_READER_VERSION,
            cluster_name: claim.cluster_name.clone(),
            replica_id: claim.replica_id,
            directory_id: claim.directory_id,
            cluster_id: None,
        };
        Self {
            identity,
            unknown: Vec::new(),
        }
    }

    pub(super) fn encode(&self) -> String {
        let Identity {
            format,
            min_reader,
            cluster_name,
            replica_id,
            directory_id,
            cluster_id,
        } = &self.identity;
        let mut text = format!(
            "{TITLE}\nformat {format}\nmin-reader {min_reader}\ncluster-name {cluster_name}\n\
             replica-id {replica_id}\ndirectory-id {}\ncluster-id {}\n",
            hex(directory_id),
            cluster_id.as_ref().map_or_else(|| "-".to_owned(), hex),
        );
        for line in &self.unknown {
            text.push_str(line);
            text.push('\n');
        }
        let checksum = crc32c::crc32c(text.as_bytes());
        text.push_str(&checksum_line(checksum));
        text
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let text =
            std::str::from_utf8(bytes).map_err(|e| damaged(e.valid_up_to(), "it is not text"))?;
        // The first three lines mean the same in every format, and tell whether to read on.
        let mut lines = text.lines();
        if lines.next() != Some(TITLE) {
            return Err(damaged(0, "it does not begin with the title line"));
        }
        let format = number(value(&mut lines, "format", text)?, text)?;
        let min_reader = number(value(&mut lines, "min-reader", text)?, text)?;
        if min_reader > FORMAT_VERSION {
            return Err(Unreadable::Newer {
                found: format,
                needed: min_reader,
            });
        }
        let covered = check_sum(text)?;
        let mut lines = covered.lines();
        lines.by_ref().take(3).for_each(drop);
        let cluster_name = value(&mut lines, "cluster-name", text)?;
        if !is_word(cluster_name) {
            return Err(damaged_at(
                cluster_name,
                text,
                "the cluster name is not a word",
            ));
        }
        let replica_id = number(value(&mut lines, "replica-id", text)?, text)?;
        let directory_id = id(value(&mut lines, "directory-id", text)?, text)?;
        let cluster_id = match value(&mut lines, "cluster-id", text)? {
            "-" => None,
            known => Some(id(known, text)?),
        };
        let cluster_name = cluster_name.to_owned();
        let identity = Identity {
            format,
            min_reader,
            cluster_name,
            replica_id,
            directory_id,
            cluster_id,
        };
        Ok(Self {
            identity,
            unknown: lines.map(str::to_owned).collect(),
        })
    }
}

/// Whether a name can be written in a line: printable ASCII without spaces, not too long.
pub(super) fn is_word(name: &str) -> bool {
    (1..=NAME_LENGTH_MAX).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_graphic())
}

pub(super) fn hex(id: &[u8; 16]) -> String {
    id.iter().fold(String::with_capacity(32), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes everything");
        text
    })
}

fn checksum_line(checksum: u32) -> String {
    format!("crc32c {checksum:08x}\n")
}

/// Verifies the last line and returns the text before it.
fn check_sum(text: &str) -> Result<&str, Unreadable> {
    let length = checksum_line(0).len();
    let start = text
        .len()
        .checked_sub(length)
        .filter(|start| text.is_char_boundary(*start));
    let Some((covered, last)) = start.map(|start| text.split_at(start)) else {
        return Err(damaged(text.len(), "it ends too early"));
    };
    if last != checksum_line(crc32c::crc32c(covered.as_bytes())) {
        return Err(damaged(covered.len(), "the checksum does not match"));
    }
    Ok(covered)
}

fn value<'a>(lines: &mut Lines<'a>, key: &str, text: &str) -> Result<&'a str, Unreadable> {
    let line = lines
        .next()
        .ok_or_else(|| damaged(text.len(), "it ends too early"))?;
    line.strip_prefix(key)
        .and_then(|rest| rest.strip_prefix(' '))
        .ok_or_else(|| damaged_at(line, text, "another line was expected here"))
}

fn number<N: std::str::FromStr>(digits: &str, text: &str) -> Result<N, Unreadable> {
    digits
        .parse()
        .map_err(|_| damaged_at(digits, text, "it is not a number"))
}

fn id(digits: &str, text: &str) -> Result<[u8; 16], Unreadable> {
    let malformed = || damaged_at(digits, text, "it is not an id of 32 hexadecimal digits");
    if digits.len() != 32 || !digits.is_ascii() {
        return Err(malformed());
    }
    let mut id = [0; 16];
    for (byte, at) in id.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| malformed())?;
    }
    Ok(id)
}

fn damaged(offset: usize, what: &'static str) -> Unreadable {
    Unreadable::Damaged {
        offset: offset as u64,
        what,
    }
}

/// Damage at `part`, which is a slice of `text`.
fn damaged_at(part: &str, text: &str, what: &'static str) -> Unreadable {
    damaged(
        part.as_ptr().addr().saturating_sub(text.as_ptr().addr()),
        what,
    )
}
