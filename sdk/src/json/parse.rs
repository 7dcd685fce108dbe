//! Parses JSON documents into the values of this crate.

use serde_json::Value;
use synod_proto::wire::Wire;
use synod_proto::{WatchStart, v1};

use crate::messages;
use crate::{
    Attributes, Content, GroupResource, LeaseKey, LeaseToken, MemberEpoch, ObjectKey,
    Preconditions, ReportEntry, StoredObject, Violations, WatchFrom, WatchOptions,
};

/// A value that can be parsed from the JSON form of its message.
pub trait FromJson: Sized {
    /// Parses a document.
    ///
    /// # Errors
    ///
    /// Every fault of the document, each by its path: fields that its message does not have, values that are not of
    /// their field's type, and rules that are broken.
    fn from_json(document: &Value) -> Result<Self, Violations>;
}

/// Parses a document as the message of this name.
fn message<M: prost::Message + Default>(name: &str, document: &Value) -> Result<M, Violations> {
    let read = messages::read(&messages::descriptor(name), document)?;
    Ok(read
        .transcode_to()
        .expect("a message was read by the descriptor of its own type"))
}

macro_rules! from_messages {
    ($($value:ty: $message:ident),+ $(,)?) => {
        $(impl FromJson for $value {
            fn from_json(document: &Value) -> Result<Self, Violations> {
                let pb: v1::$message = message(stringify!($message), document)?;
                Self::try_from(pb)
            }
        })+
    };
}

from_messages!(
    Attributes: ObjectAttributes,
    Content: ObjectContent,
    GroupResource: GroupResource,
    LeaseKey: LeaseKey,
    ObjectKey: ObjectKey,
    Preconditions: Preconditions,
    StoredObject: Object,
);

impl FromJson for ReportEntry {
    fn from_json(document: &Value) -> Result<Self, Violations> {
        let pb: v1::ReportEntry = message("ReportEntry", document)?;
        Self::try_from(&pb)
    }
}

impl FromJson for MemberEpoch {
    fn from_json(document: &Value) -> Result<Self, Violations> {
        let pb: v1::MemberEpoch = message("MemberEpoch", document)?;
        let mut found = Violations::new();
        let cluster = found.parsed("clusterId", Wire::of_wire(pb.cluster_id.clone()));
        let speaker = found.parsed("", Wire::of_wire(pb));
        let (Some((member, epoch)), Some(cluster)) = (speaker, cluster) else {
            return Err(found);
        };
        Ok(Self {
            member,
            epoch,
            cluster,
        })
    }
}

impl FromJson for LeaseToken {
    fn from_json(document: &Value) -> Result<Self, Violations> {
        let pb: v1::LeaseToken = message("LeaseToken", document)?;
        let mut found = Violations::new();
        let cluster = found.parsed("clusterId", Wire::of_wire(pb.cluster_id.clone()));
        let held = found.parsed("", Wire::of_wire(pb));
        let (Some((lease, token)), Some(cluster)) = (held, cluster) else {
            return Err(found);
        };
        Ok(Self {
            lease,
            token,
            cluster,
        })
    }
}

/// Parsed from the message `WatchRequest`. Its fields about the cluster of a revision are ignored: a
/// [`Watch`](crate::Watch) keeps track of the cluster itself.
impl FromJson for WatchOptions {
    fn from_json(document: &Value) -> Result<Self, Violations> {
        let pb: v1::WatchRequest = message("WatchRequest", document)?;
        let start = WatchStart::try_from(pb)?;
        let filter = start.filter;
        Ok(Self::new()
            .kinds(filter.kinds.into_iter().collect())
            .names(filter.names.into_iter().collect())
            .labels(filter.labels)
            .resources(filter.resources.into_iter().collect())
            .namespaces(filter.namespaces.into_iter().collect())
            .label_selector(filter.label_selector)
            .field_selector(filter.field_selector)
            .from(start.from.map_or(WatchFrom::Now, WatchFrom::Revision))
            .bookmark_interval(start.bookmark_interval))
    }
}
