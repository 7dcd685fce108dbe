//! Texts of YAML, read and written by one set of options.

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, DeserializeSeed};
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Options, SerializerOptions, UserMessageFormatter};

/// The most levels of lists and mappings. A level takes 17 KiB of stack without optimization, and a thread may have 2 MiB.
pub const DEPTH_MAX: usize = 64;

/// The most scalars, lists and mappings of a text, aliases counted once.
const VALUES_MAX: usize = 1 << 20;

/// The reason why a text is refused. Its message may repeat a part of the text.
#[derive(Debug)]
pub struct Error(serde_saphyr::Error);

impl Error {
    /// The line of the text, from 1, where it is known.
    pub fn line(&self) -> Option<u64> {
        self.0.location().map(|location| location.line())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.render_with_formatter(&UserMessageFormatter))
    }
}

impl std::error::Error for Error {}

/// Reads a text that is one document, in which no mapping has a key twice.
///
/// # Errors
///
/// The text is no YAML, has more than one document, exceeds a bound, or does not have the form of the type.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_saphyr::from_str_with_options(text, options(DuplicateKeyPolicy::Error)).map_err(Error)
}

/// Reads bytes in UTF-8 as [`from_str`] does.
///
/// # Errors
///
/// As [`from_str`], and where the bytes are no UTF-8.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_saphyr::from_slice_with_options(bytes, options(DuplicateKeyPolicy::Error)).map_err(Error)
}

/// Reads bytes in UTF-8 by a seed, which gets a mapping's keys as often as they are written.
///
/// # Errors
///
/// As [`from_slice`], but for repeated keys.
pub fn from_slice_seed<'de, S: DeserializeSeed<'de>>(
    bytes: &'de [u8],
    seed: S,
) -> Result<S::Value, Error> {
    let options = options(DuplicateKeyPolicy::PassThrough);
    serde_saphyr::with_deserializer_from_slice_with_options(bytes, options, |reader| {
        seed.deserialize(reader)
    })
    .map_err(Error)
}

/// The block form of a value. A text that any reader of YAML 1.1 or 1.2 would take for another value is quoted.
pub fn to_string(value: &Value) -> String {
    let options: SerializerOptions = serde_saphyr::ser_options! {
        folded_wrap_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(value, options).expect("every JSON value is YAML")
}

/// Reads the documents of a text, without the empty ones.
pub(crate) fn all<'de, T: Deserialize<'de>>(text: &'de str) -> Result<Vec<T>, Error> {
    serde_saphyr::from_str_multiple_with_options(text, options(DuplicateKeyPolicy::Error))
        .map_err(Error)
}

fn options(duplicates: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_events: 4 * VALUES_MAX,
            max_nodes: VALUES_MAX,
            enforce_alias_anchor_ratio: false,
        },
        duplicate_keys: duplicates,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        strict_booleans: true,
        null_as_string: true,
        ignore_binary_tag_for_string: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}
