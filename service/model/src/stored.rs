//! The stored form of values: one form for the log, for checkpoints, for messages between replicas, and for the digest.
//!
//! Every value has one form only, so that equal values have equal bytes on every replica: numbers are as short as they
//! can be, sets and maps ascend, and there are no floating-point numbers. Another form of a value, or a field or
//! variant that this build does not know, is an error that names the place.
//!
//! # The form
//!
//! | what | its bytes |
//! |---|---|
//! | number | LEB128 without leading zeros: seven bits a byte, the lowest first |
//! | text, bytes | the length, then the bytes as they are |
//! | fixed bytes, such as a uid | as they are |
//! | flag | 0 or 1 |
//! | option | a flag, then the value if there is one |
//! | list, set, map | the number of items, then the items in order |
//! | struct | how many fields follow, then those in the order of its table |
//! | variant | its number; then, named fields as a struct, others one after the other |
//!
//! The optional fields at the end of a struct are left out if they are none, false or empty. A new field comes last and
//! is optional, so values that were stored before it keep their bytes and their digest. The tables are written with
//! [`stored!`](crate::stored!) and the macros beside it.

mod base;
mod source;
mod tables;
mod values;

pub use base::{put_blob, put_number};
pub use source::{Source, StoredFault};
pub use tables::{Tables, shape_of};

/// A value that can be stored.
pub trait Stored: Sized {
    /// Appends the stored form of the value.
    fn store(&self, to: &mut Vec<u8>);

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// The bytes are not the one form of a value, or a rule of the value is broken.
    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault>;

    /// The value of a field of this type that was not stored. `None`: the field must be stored.
    #[must_use]
    fn missing() -> Option<Self> {
        None
    }

    /// Whether the value is that of [`missing`](Self::missing).
    #[must_use]
    fn is_missing(&self) -> bool {
        false
    }

    /// The name of its form in the tables, after adding the forms that it is made of.
    fn shape(tables: &mut Tables) -> String;
}

/// Most values have fewer bytes. A buffer that grows from nothing is allocated seven times on the way to it.
const BYTES_EXPECTED: usize = 256;

/// The bytes of a value.
#[must_use]
pub fn to_bytes<T: Stored>(value: &T) -> bytes::Bytes {
    let mut bytes = Vec::with_capacity(BYTES_EXPECTED);
    value.store(&mut bytes);
    bytes.into()
}

/// The value of these bytes, which must all be used. Large data of the value shares the buffer.
///
/// # Errors
///
/// The bytes are not the one form of a value.
pub fn from_bytes<T: Stored>(bytes: &bytes::Bytes) -> Result<T, StoredFault> {
    load_all(Source::new(bytes))
}

/// The value of these bytes, which must all be used. Nothing of the value shares them.
///
/// # Errors
///
/// The bytes are not the one form of a value.
pub fn from_slice<T: Stored>(bytes: &[u8]) -> Result<T, StoredFault> {
    load_all(Source::of_slice(bytes))
}

/// As [`from_bytes`], for bytes that others send: all lists together may have at most `items_max` items.
///
/// # Errors
///
/// The bytes are not the one form of a value, or have more items.
pub fn from_foreign_bytes<T: Stored>(
    bytes: &bytes::Bytes,
    items_max: u64,
) -> Result<T, StoredFault> {
    load_all(Source::with_items(bytes, items_max))
}

fn load_all<T: Stored>(mut source: Source<'_>) -> Result<T, StoredFault> {
    let value = T::load(&mut source)?;
    source.end()?;
    Ok(value)
}

/// Appends the fields up to the last one that is not missing, with their number before them.
#[doc(hidden)]
#[macro_export]
macro_rules! put_fields {
    ($to:ident, $($field:ident),*) => {
        let said: &[bool] = &[$(!$crate::stored::Stored::is_missing($field)),*];
        let fields = said.iter().rposition(|said| *said).map_or(0, |last| last + 1);
        $crate::stored::put_number($to, fields as u64);
        let mut left = fields;
        $(if left > 0 {
            $crate::stored::Stored::store($field, $to);
            left -= 1;
        })*
        let _ = left;
    };
}

/// The form of structs: their fields in this order. A new field comes last, and is optional.
#[macro_export]
macro_rules! stored {
    ($($name:ident { $($field:ident),+ $(,)? })*) => { $(
        impl $crate::stored::Stored for $name {
            fn store(&self, to: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $crate::put_fields!(to, $($field),*);
            }

            fn load(from: &mut $crate::stored::Source<'_>) -> Result<Self, $crate::stored::StoredFault> {
                let known: &[&str] = &[$(stringify!($field)),*];
                let mut fields = from.fields(known.len())?;
                let loaded = Self { $($field: fields.next(from, stringify!($field))?),* };
                fields.end()?;
                Ok(loaded)
            }

            fn shape(tables: &mut $crate::stored::Tables) -> String {
                tables.add(stringify!($name), |_tables| vec![
                    $((stringify!($field).to_owned(), $crate::stored::shape_of(|it: &Self| &it.$field, _tables))),*
                ])
            }
        }
    )* };
}

/// The form of structs that have no field yet: a field can be added without another form.
#[macro_export]
macro_rules! stored_empty {
    ($($name:ident)*) => { $(
        impl $crate::stored::Stored for $name {
            fn store(&self, to: &mut Vec<u8>) {
                let Self {} = self;
                $crate::stored::put_number(to, 0);
            }

            fn load(from: &mut $crate::stored::Source<'_>) -> Result<Self, $crate::stored::StoredFault> {
                from.fields(0)?.end()?;
                Ok(Self {})
            }

            fn shape(tables: &mut $crate::stored::Tables) -> String {
                tables.add(stringify!($name), |_| Vec::new())
            }
        }
    )* };
}

/// The form of enums: the number of each variant, which is never given to another variant.
#[macro_export]
macro_rules! stored_variants {
    ($($name:ident {
        $($tag:literal $variant:ident $(($($item:ident: $of:ty),* $(,)?))? $({ $($field:ident: $is:ty),* $(,)? })?),* $(,)?
    })*) => { $(
        impl $crate::stored::Stored for $name {
            fn store(&self, to: &mut Vec<u8>) {
                match self { $(
                    Self::$variant $(($($item),*))? $({ $($field),* })? => {
                        $crate::stored::put_number(to, $tag);
                        $($($crate::stored::Stored::store($item, to);)*)?
                        $($crate::put_fields!(to, $($field),*);)?
                    }
                )* }
            }

            fn load(from: &mut $crate::stored::Source<'_>) -> Result<Self, $crate::stored::StoredFault> {
                match from.number()? {
                    $($tag => {
                        $(let ($($item,)*) = ($(<$of as $crate::stored::Stored>::load(from)
                            .map_err(|fault| fault.at(stringify!($variant)))?,)*);)?
                        $(
                            let known: &[&str] = &[$(stringify!($field)),*];
                            let mut fields = from.fields(known.len())
                                .map_err(|fault| fault.at(stringify!($variant)))?;
                            $(let $field = fields.next(from, stringify!($field))
                                .map_err(|fault| fault.at(stringify!($variant)))?;)*
                            fields.end().map_err(|fault| fault.at(stringify!($variant)))?;
                        )?
                        Ok(Self::$variant $(($($item),*))? $({ $($field),* })?)
                    })*
                    other => Err($crate::stored::StoredFault::unknown_variant(stringify!($name), other)),
                }
            }

            fn shape(tables: &mut $crate::stored::Tables) -> String {
                tables.add(stringify!($name), |_tables| {
                    let mut rows = Vec::new();
                    $({
                        let parts: Vec<String> = vec![
                            $($(<$of as $crate::stored::Stored>::shape(_tables),)*)?
                            $($(format!("{}: {}", stringify!($field), <$is as $crate::stored::Stored>::shape(_tables)),)*)?
                        ];
                        rows.push((format!("{} {}", $tag, stringify!($variant)), parts.join(", ")));
                    })*
                    rows
                })
            }
        }
    )* };
}

/// The form of texts that are checked when they are read.
#[macro_export]
macro_rules! stored_texts {
    ($($name:ident: $as_str:ident, $parse:expr;)*) => { $(
        impl $crate::stored::Stored for $name {
            fn store(&self, to: &mut Vec<u8>) {
                $crate::stored::put_blob(to, self.$as_str().as_bytes());
            }

            fn load(from: &mut $crate::stored::Source<'_>) -> Result<Self, $crate::stored::StoredFault> {
                let text = from.text()?;
                let value: Self = $parse(text).map_err($crate::stored::StoredFault::rule)?;
                // Refuses a text that parses but is not the stored form of its value.
                from.ensure(value.$as_str() == text)?;
                Ok(value)
            }

            fn shape(_: &mut $crate::stored::Tables) -> String {
                concat!("text ", stringify!($name)).to_owned()
            }
        }
    )* };
}

/// The form of numbers that have a type of their own.
#[macro_export]
macro_rules! stored_numbers {
    ($($name:ident: $get:expr, $make:expr;)*) => { $(
        impl $crate::stored::Stored for $name {
            fn store(&self, to: &mut Vec<u8>) {
                let get: fn(&Self) -> u64 = $get;
                $crate::stored::put_number(to, get(self));
            }

            fn load(from: &mut $crate::stored::Source<'_>) -> Result<Self, $crate::stored::StoredFault> {
                let make: fn(u64) -> Result<Self, $crate::stored::StoredFault> = $make;
                make(from.number()?)
            }

            fn shape(_: &mut $crate::stored::Tables) -> String {
                concat!("number ", stringify!($name)).to_owned()
            }
        }
    )* };
}

/// The form of arrays of bytes of a fixed length.
#[macro_export]
macro_rules! stored_bytes {
    ($($name:ident: $as_bytes:ident, $of_bytes:ident;)*) => { $(
        impl $crate::stored::Stored for $name {
            fn store(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.$as_bytes()[..]);
            }

            fn load(from: &mut $crate::stored::Source<'_>) -> Result<Self, $crate::stored::StoredFault> {
                from.fixed().map($name::$of_bytes)
            }

            fn shape(_: &mut $crate::stored::Tables) -> String {
                concat!("bytes ", stringify!($name)).to_owned()
            }
        }
    )* };
}
