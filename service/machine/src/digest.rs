//! The digest: one 16-byte number over every row, kept up to date as rows change.
//!
//! The XXH3-128 of each row's stored form is added to a sum when the row is added and subtracted when it is removed.
//! Addition is independent of order, so equal rows give equal sums whatever led to them. The digest finds damage and
//! divergence; it is no defence against someone who may write rows. The length of the stored form is the estimate of a
//! row's size.

use std::cell::Cell;
use std::fmt;

use synod_model::stored::put_number;
use twox_hash::XxHash3_128;

/// The digest of a state: equal for equal states.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
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

/// The hash of one row, and how many bytes its stored form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHash {
    hash: u128,
    bytes: u64,
}

/// The buffer is reused for the next row unless it has grown beyond this size, which few rows need.
const FORM_BYTES_KEPT: usize = 64 << 10;

thread_local! {
    static FORM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The hash and the length of the form that `write` writes.
pub(crate) fn hash_of(write: impl FnOnce(&mut Vec<u8>)) -> (u128, usize) {
    let mut form = FORM.take();
    form.clear();
    write(&mut form);
    let hashed = (XxHash3_128::oneshot(&form), form.len());
    if form.capacity() <= FORM_BYTES_KEPT {
        FORM.set(form);
    }
    hashed
}

impl RowHash {
    /// The hash of the row whose stored form `write` writes.
    pub(crate) fn of(write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let (hash, length) = hash_of(write);
        Self {
            hash,
            bytes: length as u64,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The sum over all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowSum {
    hash: u128,
    rows: u64,
    bytes: u64,
}

impl RowSum {
    pub(crate) fn add(&mut self, row: RowHash) {
        self.hash = self.hash.wrapping_add(row.hash);
        self.rows += 1;
        self.bytes += row.bytes;
    }

    pub(crate) fn subtract(&mut self, row: RowHash) {
        self.hash = self.hash.wrapping_sub(row.hash);
        self.rows -= 1;
        self.bytes -= row.bytes;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The digest of a state whose rows have this sum: it covers the sum and the stored form of the header's fields.
    pub(crate) fn digest(&self, header: impl FnOnce(&mut Vec<u8>)) -> Digest {
        let (hash, _) = hash_of(|form| {
            form.extend_from_slice(&self.hash.to_le_bytes());
            put_number(form, self.rows);
            header(form);
        });
        Digest(hash.to_le_bytes())
    }
}
