use std::borrow::Cow;
use std::sync::Arc;

use synod_model::{
    ControllerHistory, ControllerRevision, Kind, Labels, Namespace, NamespacedName, ObjectName,
    Revision, RevisionNumber, RevisionPlace, Uid, Violations,
};

use super::page::lists;
use super::{Consistency, PageKey, PageRequest};
use crate::convert::named;
use crate::{messages, read_fields, v1};

/// Asks for one ControllerRevision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetControllerRevision {
    /// The key of the ControllerRevision.
    pub key: NamespacedName,
    /// The consistency of the read.
    pub read: Consistency,
}

impl TryFrom<v1::ControllerRevisionsGetRequest> for GetControllerRevision {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsGetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = found.parsed("", named(&pb.namespace, &pb.name));
        read_fields! { pb, found; read = read }
        let Some(key) = key else {
            return Err(found);
        };
        Ok(Self { key, read })
    }
}

/// Asks for a page of ControllerRevisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListControllerRevisions {
    /// Only those in this namespace; `None`: in all.
    pub namespace: Option<Namespace>,
    /// Only those that have all of these labels.
    pub labels: Labels,
    /// Only those whose controller is of this kind.
    pub owner_kind: Option<Kind>,
    /// Only those whose controller has this name.
    pub owner_name: Option<ObjectName>,
    /// Only those whose controller has this uid.
    pub owner_uid: Option<Uid>,
    /// The page.
    pub page: PageRequest<ControllerRevisionCursor>,
}

impl ListControllerRevisions {
    /// Whether the list contains this ControllerRevision.
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

lists! {
    ControllerRevisionsListRequest = ListControllerRevisions {
        namespace = namespace,
        labels = labels,
        owner_kind = owner_kind,
        owner_name = owner_name,
        owner_uid = owner_uid,
    }
    ControllerRevisionsHistoryRequest = GetControllerHistory {
        history = history,
    }
}

messages! {
    v1::ControllerRevisionsDiffRequest = DiffControllerRevisions {
        namespace = namespace,
        from = from,
        to = to,
        read = read,
    }
}

/// Asks for a page of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetControllerHistory {
    /// The history.
    pub history: ControllerHistory,
    /// The page.
    pub page: PageRequest<ControllerHistoryCursor>,
}

/// Asks what changed from one ControllerRevision to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffControllerRevisions {
    /// The namespace of both.
    pub namespace: Namespace,
    /// The ControllerRevision to compare from; `None` is a nil revision.
    pub from: Option<ObjectName>,
    /// The ControllerRevision to compare to; `None` is a nil revision.
    pub to: Option<ObjectName>,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Where a page of ControllerRevisions ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerRevisionCursor {
    text: Arc<str>,
    key: NamespacedName,
}

impl ControllerRevisionCursor {
    /// The cursor after this ControllerRevision.
    #[must_use]
    pub fn after(key: &NamespacedName) -> Self {
        Self {
            text: key.to_string().into(),
            key: key.clone(),
        }
    }

    /// The key after which the next page begins.
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
    /// The cursor after the snapshot at this place.
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
