//! Objects as the state keeps them: each in one allocation, since there may be millions.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use triomphe::ThinArc;

use crate::names::{dns1123_label, dns1123_subdomain};
use crate::stored::{Source, Stored, StoredFault, Tables, put_blob, put_number};
use crate::{
    ApiVersion, Attributes, Content, Deletion, GroupResource, MediaType, Metadata, NamespacedName,
    Object, ObjectKey, Revision,
};

/// Data of at most so many bytes lies in the allocation of its object, and is copied when the object is unpacked.
const INLINE_BYTES_MAX: usize = 1 << 10;

/// An object in one allocation, which clones share. Its stored form is that of the [`Object`].
///
/// What most objects have is kept as bytes: the name, the metadata, the revision of the content, and short data. What
/// many objects have alike is kept once for all of them, and what few objects have lies elsewhere.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedObject(ThinArc<Head, u8>);

/// What an object has beside its bytes.
#[derive(PartialEq, Eq)]
struct Head {
    alike: Arc<Alike>,
    rare: Option<Box<Rare>>,
}

/// What many objects of a collection have alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alike {
    /// The resource of their collection.
    pub resource: GroupResource,
    /// The version that their data is encoded in.
    pub encoding: ApiVersion,
    /// The media type of their data.
    pub media_type: MediaType,
}

/// What few objects have.
#[derive(Default, PartialEq, Eq)]
struct Rare {
    attributes: Attributes,
    deletion: Option<Arc<Deletion>>,
    /// Data that is too long to be copied; empty if it is short.
    data: Bytes,
}

/// The bytes of an object: the lengths of the first four parts, a byte for each, and then the parts. What is stored as it
/// lies here needs no reading.
#[derive(Clone, Copy)]
struct Parts<'a> {
    /// The namespace; empty if there is none.
    scope: &'a [u8],
    name: &'a [u8],
    /// The stored form of the [`Metadata`].
    metadata: &'a [u8],
    /// The stored form of the [`Revision`].
    content_revision: &'a [u8],
    /// Short data; empty if it is long.
    data: &'a [u8],
}

static NOTHING_RARE: Rare = Rare {
    attributes: Attributes::NONE,
    deletion: None,
    data: Bytes::new(),
};

impl Alike {
    /// What this object has alike with others.
    #[must_use]
    pub fn of(object: &Object) -> Self {
        Self {
            resource: object.key.resource.clone(),
            encoding: object.content.encoding.clone(),
            media_type: object.content.media_type.clone(),
        }
    }

    /// The same, shared with the objects that were read in this thread lately.
    fn shared(self) -> Arc<Self> {
        if let Some(known) = Self::read_lately(|known| *known == self) {
            return known;
        }
        LATELY.with_borrow_mut(|lately| {
            if lately.len() == REMEMBERED {
                lately.remove(0);
            }
            Arc::clone(lately.push_mut(Arc::new(self)))
        })
    }

    /// What objects that were read in this thread lately have alike, if `is_it`.
    fn read_lately(is_it: impl Fn(&Self) -> bool) -> Option<Arc<Self>> {
        LATELY.with_borrow(|lately| lately.iter().find(|known| is_it(known)).cloned())
    }
}

/// Rows are read in the order of their collections, and the objects of one have few encodings.
const REMEMBERED: usize = 8;

thread_local! {
    /// What the objects that were read lately have alike: so they share it.
    static LATELY: RefCell<Vec<Arc<Alike>>> = const { RefCell::new(Vec::new()) };

    /// In which bytes are put together. It is never longer than a name and short data.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };

    /// In which the numbers of an object are put together.
    static NUMBERS: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl PackedObject {
    /// The object in one allocation. `alike` is [`Alike::of`] it, shared with other objects.
    #[must_use]
    pub fn pack(object: Object, alike: Arc<Alike>) -> Self {
        let Object {
            key: ObjectKey { resource: _, name },
            metadata,
            attributes,
            deletion,
            content:
                Content {
                    encoding: _,
                    media_type: _,
                    data,
                },
            content_revision,
        } = object;
        let (short, long) = match data.len() > INLINE_BYTES_MAX {
            true => (Bytes::new(), data),
            false => (data, Bytes::new()),
        };
        let rare = Rare {
            attributes,
            deletion,
            data: long,
        };
        let rare = (rare != NOTHING_RARE).then(|| Box::new(rare));
        let (scope, name) = name.scope_and_name();
        let mut numbers = NUMBERS.take();
        numbers.clear();
        metadata.store(&mut numbers);
        let metadata = numbers.len();
        content_revision.store(&mut numbers);
        let (metadata, content_revision) = numbers.split_at(metadata);
        let packed = Self::of(
            Head { alike, rare },
            Parts {
                scope: scope.as_bytes(),
                name: name.as_bytes(),
                metadata,
                content_revision,
                data: &short,
            },
        );
        NUMBERS.set(numbers);
        packed
    }

    fn of(head: Head, parts: Parts<'_>) -> Self {
        let mut bytes = BUFFER.take();
        bytes.clear();
        parts.put(&mut bytes);
        let packed = ThinArc::from_header_and_slice(head, &bytes);
        BUFFER.set(bytes);
        Self(packed)
    }

    /// Reads an object without unpacking it, if it is like most: nothing rare, short data, and alike with one that was
    /// read lately. `None` if it is not, or is no object at all.
    fn load_usual(from: &mut Source<'_>) -> Option<Self> {
        let is = |number: u64, from: &mut Source<'_>| (from.number().ok()? == number).then_some(());
        is(OBJECT_FIELDS, from)?;
        is(KEY_FIELDS, from)?;
        let resource = from.text().ok()?;
        let scope = from.text().ok()?;
        let name = from.text().ok()?;
        let is_legal =
            (scope.is_empty() || dns1123_label(scope).is_ok()) && dns1123_subdomain(name).is_ok();
        let metadata = form_of::<Metadata>(from)?;
        let attributes = Attributes::load(from).ok()?;
        let deletion = <Option<Arc<Deletion>>>::load(from).ok()?;
        is(CONTENT_FIELDS, from)?;
        let encoding = from.text().ok()?;
        let media_type = from.text().ok()?;
        let data = from.blob().ok()?;
        let content_revision = form_of::<Revision>(from)?;
        let is_usual = is_legal
            && deletion.is_none()
            && attributes == Attributes::NONE
            && data.len() <= INLINE_BYTES_MAX;
        let alike = Alike::read_lately(|known| {
            known.resource.qualified() == resource
                && known.encoding.as_str() == encoding
                && known.media_type.as_str() == media_type
        });
        let head = Head {
            alike: alike.filter(|_| is_usual)?,
            rare: None,
        };
        let parts = Parts {
            scope: scope.as_bytes(),
            name: name.as_bytes(),
            metadata,
            content_revision,
            data,
        };
        Some(Self::of(head, parts))
    }

    /// The object, in parts of its own. Costs a copy of its name, and of its data if that is short.
    #[must_use]
    pub fn unpack(&self) -> Object {
        self.unpack_named(self.name())
    }

    /// The same, without a copy of the name for a caller who has it.
    #[must_use]
    pub fn unpack_named(&self, name: NamespacedName) -> Object {
        let Parts {
            scope: _,
            name: _,
            metadata,
            content_revision,
            data,
        } = self.parts();
        let Alike {
            resource,
            encoding,
            media_type,
        } = &**self.alike();
        let Rare {
            attributes,
            deletion,
            data: long,
        } = self.rare();
        let data = match long.is_empty() {
            true => Bytes::copy_from_slice(data),
            false => long.clone(),
        };
        Object {
            key: ObjectKey {
                resource: resource.clone(),
                name,
            },
            metadata: read(metadata),
            attributes: attributes.clone(),
            deletion: deletion.clone(),
            content: Content {
                encoding: encoding.clone(),
                media_type: media_type.clone(),
                data,
            },
            content_revision: read(content_revision),
        }
    }

    /// What the object has alike with others.
    #[must_use]
    pub fn alike(&self) -> &Arc<Alike> {
        &self.0.header.header.alike
    }

    /// The namespace, empty if there is none, and the name, as bytes to compare: names are ordered as these are.
    #[must_use]
    pub fn name_bytes(&self) -> (&[u8], &[u8]) {
        let ([scope, name, ..], parts) = lengths(&self.0.slice);
        let (scope, rest) = parts.split_at(usize::from(*scope));
        (scope, &rest[..usize::from(*name)])
    }

    /// The namespace, empty if there is none, and the name.
    #[must_use]
    pub fn scope_and_name(&self) -> (&str, &str) {
        let (scope, name) = self.name_bytes();
        (own(str::from_utf8(scope)), own(str::from_utf8(name)))
    }

    /// Its name in the collection, which is copied.
    #[must_use]
    pub fn name(&self) -> NamespacedName {
        let (scope, name) = self.scope_and_name();
        NamespacedName::of_parts(scope, name)
    }

    /// The key of the object. Its name is copied.
    #[must_use]
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            resource: self.alike().resource.clone(),
            name: self.name(),
        }
    }

    /// Its metadata.
    #[must_use]
    pub fn metadata(&self) -> Metadata {
        read(self.parts().metadata)
    }

    /// Its labels, annotations, owners and finalizers.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        &self.rare().attributes
    }

    /// Set while it is being deleted and waits for its finalizers.
    #[must_use]
    pub fn deletion(&self) -> Option<&Deletion> {
        self.rare().deletion.as_deref()
    }

    /// Its data.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        match self.rare().data.is_empty() {
            true => self.parts().data,
            false => &self.rare().data,
        }
    }

    fn rare(&self) -> &Rare {
        self.0
            .header
            .header
            .rare
            .as_deref()
            .unwrap_or(&NOTHING_RARE)
    }

    fn parts(&self) -> Parts<'_> {
        Parts::split(&self.0.slice)
    }
}

impl<'a> Parts<'a> {
    fn put(self, to: &mut Vec<u8>) {
        let Self {
            scope,
            name,
            metadata,
            content_revision,
            data,
        } = self;
        let measured = [scope, name, metadata, content_revision];
        to.extend(measured.map(|part| {
            u8::try_from(part.len())
                .expect("a namespace has at most 63 bytes, a name 253, and numbers 10 each")
        }));
        for part in measured {
            to.extend_from_slice(part);
        }
        to.extend_from_slice(data);
    }

    fn split(bytes: &'a [u8]) -> Self {
        let ([scope, name, metadata, content_revision], parts) = lengths(bytes);
        let (scope, rest) = parts.split_at(usize::from(*scope));
        let (name, rest) = rest.split_at(usize::from(*name));
        let (metadata, rest) = rest.split_at(usize::from(*metadata));
        let (content_revision, data) = rest.split_at(usize::from(*content_revision));
        Self {
            scope,
            name,
            metadata,
            content_revision,
            data,
        }
    }
}

/// The lengths of the first four parts, and the parts.
fn lengths(bytes: &[u8]) -> (&[u8; 4], &[u8]) {
    let split = bytes.split_first_chunk();
    split.expect("a packed object begins with four lengths")
}

/// Reads a value, and returns the bytes that it was read from: its only stored form.
fn form_of<'a, T: Stored>(from: &mut Source<'a>) -> Option<&'a [u8]> {
    let mut begin = from.clone();
    T::load(from).ok()?;
    begin.take(begin.left() - from.left()).ok()
}

/// The value of this stored form.
fn read<T: Stored>(form: &[u8]) -> T {
    own(T::load(&mut Source::of_slice(form)))
}

/// What was read from the bytes of an object that was packed here.
fn own<T, E: fmt::Debug>(read: Result<T, E>) -> T {
    read.expect("the bytes of a packed object are what was packed")
}

/// The fields that the stored forms of [`Object`], [`ObjectKey`] and [`Content`] have: none of them is left out.
const OBJECT_FIELDS: u64 = 6;
const KEY_FIELDS: u64 = 2;
const CONTENT_FIELDS: u64 = 3;

impl Stored for PackedObject {
    /// As [`Object`]'s, whose tables of fields this follows.
    fn store(&self, to: &mut Vec<u8>) {
        let Parts {
            scope,
            name,
            metadata,
            content_revision,
            data,
        } = self.parts();
        let Alike {
            resource,
            encoding,
            media_type,
        } = &**self.alike();
        let Rare {
            attributes,
            deletion,
            data: long,
        } = self.rare();
        put_number(to, OBJECT_FIELDS);
        put_number(to, KEY_FIELDS);
        resource.store(to);
        put_blob(to, scope);
        put_blob(to, name);
        to.extend_from_slice(metadata);
        attributes.store(to);
        deletion.store(to);
        put_number(to, CONTENT_FIELDS);
        encoding.store(to);
        media_type.store(to);
        put_blob(to, if long.is_empty() { data } else { long });
        to.extend_from_slice(content_revision);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let begin = from.clone();
        if let Some(usual) = Self::load_usual(from) {
            return Ok(usual);
        }
        *from = begin;
        let object = Object::load(from)?;
        let alike = Alike::of(&object).shared();
        Ok(Self::pack(object, alike))
    }

    fn shape(tables: &mut Tables) -> String {
        Object::shape(tables)
    }
}

impl From<Object> for PackedObject {
    /// Packs one object, which shares nothing with others.
    fn from(object: Object) -> Self {
        let alike = Arc::new(Alike::of(&object));
        Self::pack(object, alike)
    }
}

impl fmt::Debug for PackedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.unpack().fmt(f)
    }
}

#[cfg(test)]
mod tests;
