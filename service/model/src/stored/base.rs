//! The stored forms of types of other libraries: numbers, texts, bytes, options and collections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{Source, Stored, StoredFault, Tables};
use crate::StoredIn;

/// Appends a number.
pub fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Appends bytes, their length before them.
pub fn put_blob(to: &mut Vec<u8>, blob: &[u8]) {
    put_number(to, blob.len() as u64);
    to.extend_from_slice(blob);
}

impl Stored for u64 {
    fn store(&self, to: &mut Vec<u8>) {
        put_number(to, *self);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        from.number()
    }

    fn shape(_: &mut Tables) -> String {
        "number".to_owned()
    }
}

impl Stored for u32 {
    fn store(&self, to: &mut Vec<u8>) {
        put_number(to, u64::from(*self));
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        Self::try_from(from.number()?).map_err(StoredFault::rule)
    }

    fn shape(_: &mut Tables) -> String {
        "number of 32 bits".to_owned()
    }
}

/// As whole milliseconds: nothing that is stored is more exact.
impl Stored for Duration {
    fn store(&self, to: &mut Vec<u8>) {
        put_number(to, u64::try_from(self.as_millis()).unwrap_or(u64::MAX));
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        from.number().map(Self::from_millis)
    }

    fn shape(_: &mut Tables) -> String {
        "milliseconds".to_owned()
    }
}

/// The key of an object of which there is only one.
impl Stored for () {
    fn store(&self, _: &mut Vec<u8>) {}

    fn load(_: &mut Source<'_>) -> Result<Self, StoredFault> {
        Ok(())
    }

    fn shape(_: &mut Tables) -> String {
        "nothing".to_owned()
    }
}

impl Stored for bool {
    fn store(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let [byte] = from.fixed()?;
        from.ensure(byte < 2)?;
        Ok(byte == 1)
    }

    fn missing() -> Option<Self> {
        Some(false)
    }

    fn is_missing(&self) -> bool {
        !self
    }

    fn shape(_: &mut Tables) -> String {
        "flag".to_owned()
    }
}

impl Stored for StoredIn {
    fn store(&self, to: &mut Vec<u8>) {
        (*self == Self::Collection).store(to);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let is_collection = bool::load(from)?;
        Ok(if is_collection {
            Self::Collection
        } else {
            Self::Outside
        })
    }

    fn missing() -> Option<Self> {
        Some(Self::Outside)
    }

    fn is_missing(&self) -> bool {
        *self == Self::Outside
    }

    fn shape(tables: &mut Tables) -> String {
        bool::shape(tables)
    }
}

impl Stored for String {
    fn store(&self, to: &mut Vec<u8>) {
        put_blob(to, self.as_bytes());
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        from.text().map(Self::from)
    }

    fn shape(_: &mut Tables) -> String {
        "text".to_owned()
    }
}

impl Stored for Bytes {
    fn store(&self, to: &mut Vec<u8>) {
        put_blob(to, self);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        from.shared()
    }

    fn shape(_: &mut Tables) -> String {
        "bytes".to_owned()
    }
}

impl<T: Stored> Stored for Option<T> {
    fn store(&self, to: &mut Vec<u8>) {
        self.is_some().store(to);
        if let Some(value) = self {
            value.store(to);
        }
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        bool::load(from)?.then(|| T::load(from)).transpose()
    }

    fn missing() -> Option<Self> {
        Some(None)
    }

    fn is_missing(&self) -> bool {
        self.is_none()
    }

    fn shape(tables: &mut Tables) -> String {
        format!("optional {}", T::shape(tables))
    }
}

impl<T: Stored> Stored for Arc<T> {
    fn store(&self, to: &mut Vec<u8>) {
        (**self).store(to);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        T::load(from).map(Self::new)
    }

    fn shape(tables: &mut Tables) -> String {
        T::shape(tables)
    }
}

impl<T: Stored> Stored for Box<T> {
    fn store(&self, to: &mut Vec<u8>) {
        (**self).store(to);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        T::load(from).map(Self::new)
    }

    fn shape(tables: &mut Tables) -> String {
        T::shape(tables)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn store(&self, to: &mut Vec<u8>) {
        self.0.store(to);
        self.1.store(to);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        Ok((A::load(from)?, B::load(from)?))
    }

    fn shape(tables: &mut Tables) -> String {
        format!("({}, {})", A::shape(tables), B::shape(tables))
    }
}

/// As a variant: 0 is `Ok`, 1 is `Err`.
impl<T: Stored, E: Stored> Stored for Result<T, E> {
    fn store(&self, to: &mut Vec<u8>) {
        self.is_err().store(to);
        match self {
            Ok(value) => value.store(to),
            Err(error) => error.store(to),
        }
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        Ok(if bool::load(from)? {
            Err(E::load(from)?)
        } else {
            Ok(T::load(from)?)
        })
    }

    fn shape(tables: &mut Tables) -> String {
        format!("{} or {}", T::shape(tables), E::shape(tables))
    }
}

/// Appends the items of a list, their number before them.
pub(super) fn put_items<'a, T: Stored + 'a>(
    to: &mut Vec<u8>,
    items: impl ExactSizeIterator<Item = &'a T>,
) {
    put_number(to, items.len() as u64);
    for item in items {
        item.store(to);
    }
}

/// Reads the items of a list. No memory is reserved for the stated number of items, which may be
/// false.
pub(super) fn items<T: Stored>(from: &mut Source<'_>) -> Result<Vec<T>, StoredFault> {
    let length = from.length()?;
    let mut items = Vec::new();
    for place in 0..length {
        items.push(T::load(from).map_err(|fault| fault.at(&format!("[{place}]")))?);
        // Items of no bytes would let a short input be an endless list.
        from.ensure(place + 1 == length || from.left() > 0)?;
    }
    Ok(items)
}

impl<T: Stored> Stored for Vec<T> {
    fn store(&self, to: &mut Vec<u8>) {
        put_items(to, self.iter());
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        items(from)
    }

    fn missing() -> Option<Self> {
        Some(Self::new())
    }

    fn is_missing(&self) -> bool {
        self.is_empty()
    }

    fn shape(tables: &mut Tables) -> String {
        format!("list of {}", T::shape(tables))
    }
}

impl<T: Stored + Ord> Stored for BTreeSet<T> {
    fn store(&self, to: &mut Vec<u8>) {
        put_items(to, self.iter());
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let items = items::<T>(from)?;
        from.ensure(items.is_sorted_by(|a, b| a < b))?;
        Ok(items.into_iter().collect())
    }

    fn missing() -> Option<Self> {
        Some(Self::new())
    }

    fn is_missing(&self) -> bool {
        self.is_empty()
    }

    fn shape(tables: &mut Tables) -> String {
        format!("set of {}", T::shape(tables))
    }
}

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn store(&self, to: &mut Vec<u8>) {
        put_number(to, self.len() as u64);
        for (key, value) in self {
            key.store(to);
            value.store(to);
        }
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let items = items::<(K, V)>(from)?;
        from.ensure(items.is_sorted_by(|(a, _), (b, _)| a < b))?;
        Ok(items.into_iter().collect())
    }

    fn missing() -> Option<Self> {
        Some(Self::new())
    }

    fn is_missing(&self) -> bool {
        self.is_empty()
    }

    fn shape(tables: &mut Tables) -> String {
        format!("map of {} to {}", K::shape(tables), V::shape(tables))
    }
}
