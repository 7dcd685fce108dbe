//! Pages of lists: the requests for them, and the continue tokens that connect them.

use std::borrow::Cow;
use std::fmt;

use crc32c::crc32c;
use data_encoding::BASE64URL_NOPAD;
use prost::Message;
use synod_model::limits::LIST_PAGE_MAX;
use synod_model::{
    ClusterId, GroupResource, LeaseKey, MemberId, MigrationId, Revision, Violation, Violations,
};

use super::Consistency;
use crate::limits::{CONTINUE_TOKEN_BYTES_MAX, LIST_PAGE_DEFAULT};
use crate::v1;
use crate::wire::Wire;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest<K> {
    /// Where the page begins.
    pub start: PageStart<K>,
    /// How many objects the page may have; at least 1, at most [`LIST_PAGE_MAX`].
    pub size: usize,
    /// The list that it is a page of.
    pub list: ListId,
}

/// A hash of a list request without its page: the same for all pages of a list, and in every release.
///
/// Two lists may have the same hash by chance. That does no harm: whatever a token says, only what the request itself
/// asks for is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListId(u64);

/// A request for a page of a list.
pub(super) trait Paged: Message {
    /// Takes the fields that ask for a page out of the request: the others say which list is asked for.
    fn take_page(&mut self) -> PageFields;
}

/// The fields that ask for a page of a list, as they are sent.
#[derive(Debug)]
pub(super) struct PageFields {
    pub(super) read: Option<v1::ReadOptions>,
    pub(super) page_size: Option<u32>,
    pub(super) continue_token: String,
    pub(super) continue_at_present: bool,
}

/// Implements both conversions of requests for a page of a list, from the fields that they have beside the page.
macro_rules! lists {
    ($($pb:ident = $of:ident { $($value:ident = $field:ident $(by $way:ident)?),* $(,)? })*) => { $(
        $crate::query::page::paged!($pb);

        impl From<&$of> for v1::$pb {
            fn from(list: &$of) -> Self {
                let page = list.page.to_wire();
                Self {
                    $($field: $crate::messages!(@write &list.$value $(, by $way)?),)*
                    read: page.read,
                    page_size: page.page_size,
                    continue_token: page.continue_token,
                    continue_at_present: page.continue_at_present,
                }
            }
        }

        impl TryFrom<v1::$pb> for $of {
            type Error = synod_model::Violations;

            fn try_from(mut pb: v1::$pb) -> Result<Self, synod_model::Violations> {
                let mut found = synod_model::Violations::new();
                let page = PageRequest::from_wire(&mut pb, &mut found);
                $(let $value = $crate::wire::read(
                    &mut found, stringify!($field), $crate::messages!(@read pb.$field $(, by $way)?),
                );)*
                $(let Some($value) = $value else {
                    return Err(found);
                };)*
                let Some(page) = page else {
                    return Err(found);
                };
                $crate::wire::sound(Self { page, $($value),* }, found)
            }
        }
    )* };
}

/// Implements [`Paged`] for a request that has all four fields that ask for a page.
macro_rules! paged {
    ($pb:ident) => {
        impl $crate::query::page::Paged for v1::$pb {
            fn take_page(&mut self) -> $crate::query::page::PageFields {
                $crate::query::page::PageFields {
                    read: self.read.take(),
                    page_size: self.page_size.take(),
                    continue_token: std::mem::take(&mut self.continue_token),
                    continue_at_present: std::mem::take(&mut self.continue_at_present),
                }
            }
        }
    };
}

pub(super) use {lists, paged};

/// This request has no page size.
impl Paged for v1::LeasesListCandidatesRequest {
    fn take_page(&mut self) -> PageFields {
        PageFields {
            read: self.read.take(),
            page_size: None,
            continue_token: std::mem::take(&mut self.continue_token),
            continue_at_present: std::mem::take(&mut self.continue_at_present),
        }
    }
}

impl ListId {
    /// The list that a request asks for, after [`Paged::take_page`].
    pub(super) fn of(asked: &impl Paged) -> Self {
        // FNV-1a, written out since the hash must be the same in every release and on every replica. The bytes are the
        // same, too: maps are sorted, fields are in the order of their numbers, and unset fields are left out.
        let bytes = asked.encode_to_vec().into_iter();
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageStart<K> {
    /// At the beginning of the list, read with this consistency.
    First(Consistency),
    /// Behind the key at which another page ended, at its revision.
    After(ContinueToken<K>),
    /// Behind the key at which another page ended, as the list is now.
    AtPresent(ContinueToken<K>),
}

/// The end of a page. All pages of a list are read at one revision, which the first page pins, unless a caller asks for
/// the present revision: a key is a place in the list at any revision.
///
/// Its text is opaque to clients, and means the same on every replica. It ends with a checksum, so that a text that was
/// cut or changed on its way is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken<K> {
    /// The cluster that was asked. In another cluster the revision means something else.
    pub cluster: ClusterId,
    /// The revision of the list.
    pub revision: Revision,
    /// The list. The token does not continue another list.
    pub list: ListId,
    /// The key of the last object of the page.
    pub last: K,
}

/// The key that a list is ordered by.
pub trait PageKey: Sized {
    /// The number that distinguishes the tokens of one list from those of others. Never reused.
    const LIST: u8;

    /// The key as text.
    fn as_text(&self) -> Cow<'_, str>;

    /// The key with this text, if there is one.
    fn from_text(text: &str) -> Option<Self>;
}

impl PageKey for MemberId {
    const LIST: u8 = 1;

    fn as_text(&self) -> Cow<'_, str> {
        self.as_str().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl PageKey for GroupResource {
    const LIST: u8 = 2;

    fn as_text(&self) -> Cow<'_, str> {
        self.qualified().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse_qualified(text).ok()
    }
}

impl PageKey for LeaseKey {
    const LIST: u8 = 40;

    fn as_text(&self) -> Cow<'_, str> {
        self.as_str().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl PageKey for MigrationId {
    const LIST: u8 = 50;

    fn as_text(&self) -> Cow<'_, str> {
        self.to_string().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

/// The version of the form of the tokens, their first byte.
const FORM: u8 = 2;

impl<K: PageKey> ContinueToken<K> {
    /// The token with this text.
    ///
    /// # Errors
    ///
    /// Not a token of this list.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        Self::read(text)
            .ok_or_else(|| Violation::invalid(text, "must be a token that this list has given"))
    }

    /// The token with this text, which must be of this list.
    fn of_list(text: &str, list: ListId) -> Result<Self, Violation> {
        let token = Self::parse(text)?;
        if token.list == list {
            return Ok(token);
        }
        let rule = "must be a continue token of the same list: what is listed and how it is filtered must not change \
                    between pages";
        Err(Violation::invalid(text, rule))
    }

    fn read(text: &str) -> Option<Self> {
        if text.len() > CONTINUE_TOKEN_BYTES_MAX {
            return None;
        }
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (bytes, sum) = bytes.split_last_chunk::<4>()?;
        if crc32c(bytes).to_be_bytes() != *sum {
            return None;
        }
        let (head, rest) = bytes.split_first_chunk::<2>()?;
        let (cluster, rest) = rest.split_first_chunk::<16>()?;
        let (revision, rest) = rest.split_first_chunk::<8>()?;
        let (list, last) = rest.split_first_chunk::<8>()?;
        if *head != [FORM, K::LIST] {
            return None;
        }
        Some(Self {
            cluster: ClusterId::from_bytes(*cluster),
            revision: Revision::new(u64::from_be_bytes(*revision)),
            list: ListId(u64::from_be_bytes(*list)),
            last: K::from_text(std::str::from_utf8(last).ok()?)?,
        })
    }
}

impl<K: PageKey> fmt::Display for ContinueToken<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![FORM, K::LIST];
        bytes.extend(self.cluster.as_bytes());
        bytes.extend(self.revision.get().to_be_bytes());
        bytes.extend(self.list.0.to_be_bytes());
        bytes.extend(self.last.as_text().as_bytes());
        let sum = crc32c(&bytes);
        bytes.extend(sum.to_be_bytes());
        f.write_str(&BASE64URL_NOPAD.encode(&bytes))
    }
}

impl<K: PageKey> PageRequest<K> {
    /// The fields that ask for the page, as they are sent.
    pub(super) fn to_wire(&self) -> PageFields {
        let (read, continue_token, continue_at_present) = match &self.start {
            PageStart::First(consistency) => (consistency.to_wire(), String::new(), false),
            PageStart::After(token) => (None, token.to_string(), false),
            PageStart::AtPresent(token) => (None, token.to_string(), true),
        };
        PageFields {
            read,
            page_size: Some(u32::try_from(self.size).unwrap_or(u32::MAX)),
            continue_token,
            continue_at_present,
        }
    }

    /// Takes the fields that ask for a page out of a request, and reads them.
    pub(super) fn from_wire(pb: &mut impl Paged, found: &mut Violations) -> Option<Self> {
        let PageFields {
            read,
            page_size: size,
            continue_token: token,
            continue_at_present,
        } = pb.take_page();
        let list = ListId::of(pb);
        let size = found.parsed("pageSize", page_size(size));
        let start = if token.is_empty() {
            let read = found.parsed("read", Consistency::of_wire(read));
            Some(PageStart::First(read.unwrap_or_default()))
        } else {
            if read.is_some_and(|read| read != v1::ReadOptions::default()) {
                let rule = "must stand without continueToken, which pins the revision";
                found.push(Violation {
                    field: "read".into(),
                    rule: rule.into(),
                });
            }
            found
                .parsed("continueToken", ContinueToken::of_list(&token, list))
                .map(match continue_at_present {
                    true => PageStart::AtPresent,
                    false => PageStart::After,
                })
        };
        Some(Self {
            start: start?,
            size: size?,
            list,
        })
    }
}

fn page_size(size: Option<u32>) -> Result<usize, Violation> {
    match size {
        None => Ok(LIST_PAGE_DEFAULT),
        Some(0) => Err(Violation::invalid_number(0, "must be at least 1")),
        Some(size) => {
            Ok(usize::try_from(size).map_or(LIST_PAGE_MAX, |size| size.min(LIST_PAGE_MAX)))
        }
    }
}
