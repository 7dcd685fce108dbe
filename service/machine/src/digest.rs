//! The digest: one number over every row, kept up to date as rows change.
//!
//! Each row is written in a canonical form into BLAKE3; the first 32 bytes, as four little-endian words, are added to
//! the sum when the row comes and subtracted when it goes. Addition forgets the order, so equal rows give equal sums
//! whatever path led to them. It finds damage and divergence; it is no defence against someone who may write rows.
//!
//! The canonical form is not a stored format: it only has to be the same in every build that runs
//! [`MACHINE_VERSION`](crate::MACHINE_VERSION). The number of bytes written serves as the estimate of a row's size.

mod fold;
mod objects;
mod revisions;

use std::fmt;

pub(crate) use fold::migrations::{heartbeat_hash, migration_hash, progress_hash};
pub(crate) use fold::{
    agreement_hash, deadline_hash, entry_hash, events_hash, lease_candidate_hash, lease_hash,
    lease_waiter_hash, member_hash, outcome_hash, replica_hash, roster_hash, said_by_adoption,
    said_by_report, session_hash, settings_hash, statement_hash, storage_state_hash,
    storage_version_hash,
};
pub(crate) use objects::{collection_hash, garbage_hash, object_hash};

pub(crate) use revisions::controller_revision_hash;

use crate::StatementHash;

/// The digest of a state: equal for equal states.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The hash of one row, and how many bytes its canonical form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHash {
    words: [u64; 4],
    bytes: u64,
}

impl RowHash {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The sum over all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowSum {
    words: [u64; 4],
    rows: u64,
    bytes: u64,
}

impl RowSum {
    pub(crate) fn add(&mut self, row: RowHash) {
        for (sum, word) in self.words.iter_mut().zip(row.words) {
            *sum = sum.wrapping_add(word);
        }
        self.rows += 1;
        self.bytes += row.bytes;
    }

    pub(crate) fn subtract(&mut self, row: RowHash) {
        for (sum, word) in self.words.iter_mut().zip(row.words) {
            *sum = sum.wrapping_sub(word);
        }
        self.rows -= 1;
        self.bytes -= row.bytes;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The digest of a state that has this sum over its rows: the sum, and what is no row.
    pub(crate) fn digest(&self, header: &[u64], cluster: &[u8], rest: Option<u64>) -> Digest {
        let mut hasher = blake3::Hasher::new();
        for word in self.words {
            hasher.update(&word.to_le_bytes());
        }
        hasher.update(&self.rows.to_le_bytes());
        for number in header {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(cluster);
        if let Some(number) = rest {
            hasher.update(&number.to_le_bytes());
        }
        Digest(*hasher.finalize().as_bytes())
    }
}

/// Most rows are no longer than this, in bytes.
const ROW_BYTES: usize = 256;

/// Writes one row in canonical form: numbers little-endian, texts and lists with their length before them.
///
/// They are gathered and hashed at once: rows are short, and written in many small pieces, each of which would cost more
/// to hash by itself than to copy.
pub(crate) struct RowHasher {
    form: Vec<u8>,
}

impl RowHasher {
    /// Begins a row of the kind with this tag. Tags are never reused.
    fn new(tag: u8) -> Self {
        let mut form = Vec::with_capacity(ROW_BYTES);
        form.push(tag);
        Self { form }
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.form.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.raw(text.as_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.raw(&[u8::from(flag)]);
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn list<T>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.number(values.len() as u64);
        for value in values {
            write(self, value);
        }
    }

    /// The hash of what was written, where it is no row.
    fn content(self) -> StatementHash {
        let hash = blake3::hash(&self.form);
        let mut content = [0; 16];
        content.copy_from_slice(&hash.as_bytes()[..16]);
        StatementHash::from_bytes(content)
    }

    fn finish(self) -> RowHash {
        let hash = blake3::hash(&self.form);
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(hash.as_bytes().chunks_exact(8)) {
            *word = bytes
                .iter()
                .rev()
                .fold(0, |number, byte| (number << 8) | u64::from(*byte));
        }
        RowHash {
            words,
            bytes: self.form.len() as u64,
        }
    }
}
