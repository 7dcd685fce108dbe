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
    /// Where it begins.
    pub start: PageStart<K>,
    /// How many objects it may have; at least 1, at most [`LIST_PAGE_MAX`].
    pub size: usize,
    /// Of which list.
    pub list: ListId,
}

/// All that a request asks for but the page of it, as a number: the same for all pages of a list, and in every release.
///
/// It differs between lists but for chance, and nothing that matters hangs on it: whatever a token says, only what the
/// request itself asks for is ever read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListId(u64);

/// A request for a page of a list.
pub(super) trait Paged: Message {
    /// Takes what asks for a page of the list out of it: what is left says which list is asked for.
    fn take_page(&mut self) -> PageFields;
}

/// What asks for a page of a list, as it is sent.
#[derive(Debug)]
pub(super) struct PageFields {
    pub(super) read: Option<v1::ReadOptions>,
    pub(super) page_size: Option<u32>,
    pub(super) continue_token: String,
    pub(super) continue_at_present: bool,
}

/// Both directions of requests for a page of a list, by what they ask for beside the page.
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

/// A request for a page that has all four fields that ask for one.
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

/// The size of its pages is not asked for.
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
    /// The list that a request asks for from which the page was taken.
    pub(super) fn of(asked: &impl Paged) -> Self {
        // FNV-1a, written out since it must be the same in every release and on every replica. So are the bytes: maps are
        // sorted, fields stand in the order of their numbers, and one that is not set is not there.
        let bytes = asked.encode_to_vec().into_iter();
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageStart<K> {
    /// At the beginning of the list, read in this way.
    First(Consistency),
    /// Where another page ended, at its revision.
    After(ContinueToken<K>),
    /// Behind the key at which another page ended, as the list is now.
    AtPresent(ContinueToken<K>),
}

/// Where a page ended. All pages of a list are read at one revision, which the first one pins, unless a caller asks for the
/// present one: a key is a place in the list at any revision.
///
/// Its text is opaque to clients, and means the same on every replica. It ends with a checksum, so that one which was cut
/// or changed on its way is refused and not misread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken<K> {
    /// The cluster that was asked. In another one the revision means something else.
    pub cluster: ClusterId,
    /// The revision of the list.
    pub revision: Revision,
    /// The list. Another one is not continued.
    pub list: ListId,
    /// The key of the last object of the page.
    pub last: K,
}

/// What a list is ordered by.
pub trait PageKey: Sized {
    /// Tells the tokens of the lists from each other. Never reused.
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

/// The form of the tokens, their first byte.
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

    /// The token with this text, of this very list.
    fn of_list(text: &str, list: ListId) -> Result<Self, Violation> {
        let token = Self::parse(text)?;
        if token.list == list {
            return Ok(token);
        }
        let rule = "must be a token that a list of the same selection has given: all but pageSize must be as it was";
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
    /// What asks for the page, as it is sent.
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

    /// Takes what asks for a page out of a request, and reads it.
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
