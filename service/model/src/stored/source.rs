//! The reader of stored bytes, and its errors.

use std::error::Error;
use std::fmt;

use bytes::Bytes;

use super::Stored;

/// Data of at least so many bytes shares the buffer that it is read from, unless the buffer is more than
/// `HELD_TIMES_MAX` times as long: a small part would keep all of it in memory.
const SHARED_BYTES_MIN: usize = 4 << 10;
const HELD_TIMES_MAX: usize = 4;

/// Why bytes cannot be read as a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFault {
    /// The path from the outermost field on; empty for the value itself.
    path: String,
    rule: String,
}

impl StoredFault {
    /// A rule of the value is broken.
    pub fn rule(rule: impl fmt::Display) -> Self {
        Self {
            path: String::new(),
            rule: rule.to_string(),
        }
    }

    /// There is no variant of this number.
    #[must_use]
    pub fn unknown_variant(of: &str, number: u64) -> Self {
        Self::rule(format_args!(
            "{of} has no variant {number}: a newer build has written it, or it is damaged"
        ))
    }

    /// The same fault, within a field.
    #[must_use]
    pub fn at(mut self, field: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => field.to_owned(),
            path => format!("{field}.{path}"),
        };
        self
    }

    fn form() -> Self {
        Self::rule("malformed stored value: truncated, trailing bytes, or not in canonical form")
    }
}

impl fmt::Display for StoredFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.rule),
            path => write!(f, "{path}: {}", self.rule),
        }
    }
}

impl Error for StoredFault {}

/// The bytes that are still to be read, and the buffer that they belong to.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    left: &'a [u8],
    /// `None` if nothing can share the buffer.
    whole: Option<&'a Bytes>,
    items_left: u64,
}

impl<'a> Source<'a> {
    /// Reads all of a buffer.
    #[must_use]
    pub fn new(whole: &'a Bytes) -> Self {
        Self::with_items(whole, u64::MAX)
    }

    /// The same, where all lists together may have at most `items_left` items: an item of one byte takes tens of bytes
    /// in memory.
    #[must_use]
    pub fn with_items(whole: &'a Bytes, items_left: u64) -> Self {
        Self {
            left: whole,
            whole: Some(whole),
            items_left,
        }
    }

    /// Reads bytes that nothing can share.
    #[must_use]
    pub fn of_slice(left: &'a [u8]) -> Self {
        Self {
            left,
            whole: None,
            items_left: u64::MAX,
        }
    }

    /// Reads the number of items of a list.
    ///
    /// # Errors
    ///
    /// It is no number, or there are more items than are allowed.
    pub fn length(&mut self) -> Result<u64, StoredFault> {
        let length = self.number()?;
        match self.items_left.checked_sub(length) {
            Some(left) => {
                self.items_left = left;
                Ok(length)
            }
            None => Err(StoredFault::rule("its lists have too many items")),
        }
    }

    /// How many bytes are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Reads this many bytes.
    ///
    /// # Errors
    ///
    /// Fewer bytes are left.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], StoredFault> {
        let (taken, left) = self
            .left
            .split_at_checked(length)
            .ok_or_else(StoredFault::form)?;
        self.left = left;
        Ok(taken)
    }

    /// Reads an array of bytes of a fixed length.
    ///
    /// # Errors
    ///
    /// Fewer bytes are left.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], StoredFault> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| StoredFault::form())
    }

    /// Reads a number.
    ///
    /// # Errors
    ///
    /// It has leading zeros or more than 64 bits, or the bytes end.
    pub fn number(&mut self) -> Result<u64, StoredFault> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.fixed()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                let is_short = shift == 0 || byte > 0;
                let fits = shift < 63 || byte < 2;
                self.ensure(is_short && fits)?;
                return Ok(number);
            }
        }
        Err(StoredFault::form())
    }

    /// Reads bytes with their length before them.
    ///
    /// # Errors
    ///
    /// Fewer bytes are left.
    pub fn blob(&mut self) -> Result<&'a [u8], StoredFault> {
        let length = self.number()?;
        self.take(usize::try_from(length).map_err(|_| StoredFault::form())?)
    }

    /// The same, but large data shares the buffer.
    ///
    /// # Errors
    ///
    /// Fewer bytes are left.
    pub fn shared(&mut self) -> Result<Bytes, StoredFault> {
        let data = self.blob()?;
        let is_small = data.len() < SHARED_BYTES_MIN;
        let most = data.len().saturating_mul(HELD_TIMES_MAX);
        Ok(match self.whole.filter(|whole| whole.len() <= most) {
            Some(whole) if !is_small => whole.slice_ref(data),
            Some(_) | None => Bytes::copy_from_slice(data),
        })
    }

    /// Reads a text with its length before it.
    ///
    /// # Errors
    ///
    /// It is not UTF-8, or fewer bytes are left.
    pub fn text(&mut self) -> Result<&'a str, StoredFault> {
        std::str::from_utf8(self.blob()?).map_err(StoredFault::rule)
    }

    /// Begins a struct of which this build knows `known` fields.
    ///
    /// # Errors
    ///
    /// The struct has more fields.
    pub fn fields(&mut self, known: usize) -> Result<Fields, StoredFault> {
        let left = self.number()?;
        match usize::try_from(left).ok().filter(|left| *left <= known) {
            Some(left) => Ok(Fields {
                left,
                last_is_said: true,
            }),
            None => Err(StoredFault::rule(format_args!(
                "it has {left} fields, and this build knows {known}: a newer build has written it, or it is damaged"
            ))),
        }
    }

    /// Fails unless the bytes are the one form of the value, as `holds` tells.
    ///
    /// # Errors
    ///
    /// `holds` is false.
    pub fn ensure(&self, holds: bool) -> Result<(), StoredFault> {
        holds.then_some(()).ok_or_else(StoredFault::form)
    }

    /// Checks that no bytes are left.
    ///
    /// # Errors
    ///
    /// Bytes are left.
    pub fn end(&self) -> Result<(), StoredFault> {
        self.ensure(self.left.is_empty())
    }
}

/// The fields of a struct that are still to be read.
#[derive(Debug)]
pub struct Fields {
    left: usize,
    /// Whether the last field that was stored is not missing, as the one form requires.
    last_is_said: bool,
}

impl Fields {
    /// Reads the next field.
    ///
    /// # Errors
    ///
    /// The bytes are no value of its type, or the field is not stored and must be.
    pub fn next<T: Stored>(&mut self, from: &mut Source<'_>, name: &str) -> Result<T, StoredFault> {
        let value = if self.left == 0 {
            T::missing().ok_or_else(|| StoredFault::rule("it is missing"))
        } else {
            self.left -= 1;
            T::load(from).inspect(|value| self.last_is_said = !value.is_missing())
        };
        value.map_err(|fault| fault.at(name))
    }

    /// Checks that the last field that was stored is not missing.
    ///
    /// # Errors
    ///
    /// It is missing, so the bytes are another form of the same struct.
    pub fn end(self) -> Result<(), StoredFault> {
        if self.last_is_said {
            return Ok(());
        }
        Err(StoredFault::form())
    }
}

#[cfg(test)]
mod tests {
    use super::super::put_blob;
    use super::*;

    /// Whether `data` bytes share a buffer in which `others` bytes come before them.
    fn shares(data: usize, others: usize) -> bool {
        let mut form = Vec::new();
        put_blob(&mut form, &vec![1; others]);
        put_blob(&mut form, &vec![2; data]);
        let whole = Bytes::from(form);
        let mut source = Source::new(&whole);
        source.blob().unwrap();
        let read = source.shared().unwrap();
        assert_eq!(read, vec![2; data]);
        whole.as_ptr_range().contains(&read.as_ptr())
    }

    #[test]
    fn data_shares_what_it_is_a_large_part_of() {
        assert!(shares(SHARED_BYTES_MIN, 0));
        assert!(shares(64 << 10, 100 << 10));
        assert!(!shares(SHARED_BYTES_MIN - 1, 0));
        assert!(!shares(64 << 10, 1 << 20), "it would hold on to a megabyte");
    }
}
