use std::borrow::Cow;
use std::sync::Arc;

use synod_model::{
    ControllerHistory, ControllerRevision, Kind, Labels, Namespace, NamespacedName, ObjectName,
    Revision, RevisionNumber, RevisionPlace, Uid, Violations,
};

use super::consistency::consistency;
use super::{Consistency, PageKey, PageRequest};
use crate::change::{history_from_wire, named_revision};
use crate::fields::sound;
use crate::v1;

/// Asks for one ControllerRevision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetControllerRevision {
    /// Which one.
    pub key: NamespacedName,
    /// How to read.
    pub read: Consistency,
}

impl TryFrom<v1::ControllerRevisionsGetRequest> for GetControllerRevision {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsGetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = named_revision(&pb.namespace, &pb.name, &mut found);
        let read = consistency(pb.read, &mut found);
        let Some(key) = key else { return Err(found) };
        sound(Self { key, read }, found)
    }
}

/// Asks for a page of ControllerRevisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListControllerRevisions {
    /// Only those of this namespace; `None`: of all.
    pub namespace: Option<Namespace>,
    /// Only those that have all of these.
    pub labels: Labels,
    /// Only those whose controller is of this kind.
    pub owner_kind: Option<Kind>,
    /// Only those whose controller has this name.
    pub owner_name: Option<ObjectName>,
    /// Only those whose controller has this uid.
    pub owner_uid: Option<Uid>,
    /// Which page.
    pub page: PageRequest<ControllerRevisionCursor>,
}

impl ListControllerRevisions {
    /// Whether the list is about it.
    #[must_use]
    pub fn selects(&self, revision: &ControllerRevision) -> bool {
        let owner = revision.controller.as_ref();
        let namespace = self.namespace.as_ref().map(Namespace::as_str);
        namespace.is_none_or(|namespace| revision.key.namespace() == Some(namespace))
            && revision.has_labels(&self.labels)
            && (self.owner_kind.as_ref())
                .is_none_or(|kind| owner.is_some_and(|owner| owner.kind == *kind))
            && (self.owner_name.as_ref())
                .is_none_or(|name| owner.is_some_and(|owner| owner.name == *name))
            && (self.owner_uid.as_ref())
                .is_none_or(|uid| owner.is_some_and(|owner| owner.uid == *uid))
    }
}

impl TryFrom<v1::ControllerRevisionsListRequest> for ListControllerRevisions {
    type Error = Violations;

    fn try_from(mut pb: v1::ControllerRevisionsListRequest) -> Result<Self, Violations> {
        fn given<T, E>(
            text: &str,
            parse: impl FnOnce(&str) -> Result<T, E>,
        ) -> Result<Option<T>, E> {
            (!text.is_empty()).then(|| parse(text)).transpose()
        }
        let mut found = Violations::new();
        let namespace = found.parsed("namespace", given(&pb.namespace, Namespace::parse));
        let labels = found.parsed("labels", Labels::parse(&pb.labels));
        let kind = found.parsed("ownerKind", given(&pb.owner_kind, Kind::parse));
        let name = found.parsed("ownerName", given(&pb.owner_name, ObjectName::parse));
        let uid = found.parsed("ownerUid", given(&pb.owner_uid, Uid::parse));
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let (Some(namespace), Some(labels), Some(page)) = (namespace, labels, page) else {
            return Err(found);
        };
        let (Some(owner_kind), Some(owner_name), Some(owner_uid)) = (kind, name, uid) else {
            return Err(found);
        };
        let list = Self {
            namespace,
            labels,
            owner_kind,
            owner_name,
            owner_uid,
            page,
        };
        sound(list, found)
    }
}

/// Asks for a page of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetControllerHistory {
    /// Whose history.
    pub history: ControllerHistory,
    /// Which page.
    pub page: PageRequest<ControllerHistoryCursor>,
}

impl TryFrom<v1::ControllerRevisionsHistoryRequest> for GetControllerHistory {
    type Error = Violations;

    fn try_from(mut pb: v1::ControllerRevisionsHistoryRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let history = found.parsed("history", history_from_wire(pb.history));
        let (Some(history), Some(page)) = (history, page) else {
            return Err(found);
        };
        sound(Self { history, page }, found)
    }
}

/// Asks what changed from one ControllerRevision to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffControllerRevisions {
    /// The namespace of both.
    pub namespace: Namespace,
    /// The one to begin with; `None` is a nil revision.
    pub from: Option<ObjectName>,
    /// The one to end with; `None` is a nil revision.
    pub to: Option<ObjectName>,
    /// How to read.
    pub read: Consistency,
}

impl TryFrom<v1::ControllerRevisionsDiffRequest> for DiffControllerRevisions {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsDiffRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let namespace = found.parsed("namespace", Namespace::parse(&pb.namespace));
        let mut name = |path: &str, text: &str| {
            let name = (!text.is_empty()).then(|| ObjectName::parse(text));
            found.parsed(path, name.transpose())
        };
        let (from, to) = (name("from", &pb.from), name("to", &pb.to));
        let read = consistency(pb.read, &mut found);
        let (Some(namespace), Some(from), Some(to)) = (namespace, from, to) else {
            return Err(found);
        };
        let diff = Self {
            namespace,
            from,
            to,
            read,
        };
        sound(diff, found)
    }
}

/// Where a page of ControllerRevisions ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerRevisionCursor {
    text: Arc<str>,
    key: NamespacedName,
}

impl ControllerRevisionCursor {
    /// After this one.
    #[must_use]
    pub fn after(key: &NamespacedName) -> Self {
        Self {
            text: key.to_string().into(),
            key: key.clone(),
        }
    }

    /// The one after which the next page begins.
    #[must_use]
    pub fn key(&self) -> &NamespacedName {
        &self.key
    }
}

impl PageKey for ControllerRevisionCursor {
    const LIST: u8 = 7;

    fn as_text(&self) -> Cow<'_, str> {
        (&*self.text).into()
    }

    fn from_text(text: &str) -> Option<Self> {
        let (namespace, name) = text.split_once('/')?;
        let namespace = Namespace::parse(namespace).ok()?;
        let key = NamespacedName::new(Some(&namespace), &ObjectName::parse(name).ok()?);
        Some(Self::after(&key))
    }
}

/// Where a page of a history ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerHistoryCursor {
    text: Arc<str>,
    place: RevisionPlace,
}

impl ControllerHistoryCursor {
    /// After the one that stands here.
    #[must_use]
    pub fn after(place: RevisionPlace) -> Self {
        let RevisionPlace {
            number,
            create_revision,
            name,
        } = &place;
        Self {
            text: format!("{number}/{create_revision}/{name}").into(),
            place,
        }
    }

    /// The place after which the next page begins.
    #[must_use]
    pub fn place(&self) -> &RevisionPlace {
        &self.place
    }
}

impl PageKey for ControllerHistoryCursor {
    const LIST: u8 = 8;

    fn as_text(&self) -> Cow<'_, str> {
        (&*self.text).into()
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '/');
        let number = RevisionNumber::new(parts.next()?.parse().ok()?).ok()?;
        let create_revision = Revision::new(parts.next()?.parse().ok()?);
        let name = ObjectName::parse(parts.next()?).ok()?;
        Some(Self::after(RevisionPlace {
            number,
            create_revision,
            name,
        }))
    }
}
