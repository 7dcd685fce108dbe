//! What several commands and rows on ControllerRevisions hold.

use synod_model::{
    Annotations, ApiVersion, ControllerHistory, Equality, Marker, MediaType, Namespace,
    NamespacedName, ObjectName, OwnerReference, Preconditions, Revision, RevisionData,
    RevisionNumber, Uid,
};
use synod_proto::storage::v1 as pb;

use crate::codec::CodecError;
use crate::codec::values::{
    kind, labels_from_pb, labels_to_pb, optional_version, parsed, required, text, uid, version,
};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn history_to_pb(history: &ControllerHistory) -> pb::ControllerHistory {
    let ControllerHistory {
        namespace,
        owner,
        selector,
    } = history;
    pb::ControllerHistory {
        namespace: namespace.to_string(),
        owner: Some(controller_to_pb(owner)),
        selector: labels_to_pb(selector),
    }
}

pub(super) fn history_from_pb(history: Option<pb::ControllerHistory>) -> Result<ControllerHistory> {
    let history = required("history", history)?;
    Ok(ControllerHistory {
        namespace: namespace(&history.namespace)?,
        owner: controller_from_pb(history.owner)?,
        selector: labels_from_pb(&history.selector)?,
    })
}

pub(super) fn controller_to_pb(owner: &OwnerReference) -> pb::ControllerReference {
    let OwnerReference {
        api_version,
        kind,
        name,
        uid,
        // It is the controller: that is what it stands here for.
        controller: _,
        block_owner_deletion,
    } = owner;
    pb::ControllerReference {
        api_version: api_version.to_string(),
        kind: kind.to_string(),
        name: name.to_string(),
        uid: uid.as_bytes().to_vec().into(),
        block_owner_deletion: *block_owner_deletion,
    }
}

pub(super) fn controller_from_pb(owner: Option<pb::ControllerReference>) -> Result<OwnerReference> {
    let owner = required("owner", owner)?;
    let api_version: ApiVersion = version("owner.api_version", &owner.api_version)?;
    Ok(OwnerReference {
        api_version,
        kind: kind(&owner.kind)?,
        name: name("owner.name", &owner.name)?,
        uid: uid("owner.uid", &owner.uid)?,
        controller: true,
        block_owner_deletion: owner.block_owner_deletion,
    })
}

pub(super) fn data_to_pb(data: &RevisionData) -> pb::RevisionData {
    pb::RevisionData {
        media_type: data.media_type().to_string(),
        data: data.bytes().clone(),
        version: text(data.version()),
    }
}

pub(super) fn data_from_pb(data: Option<pb::RevisionData>) -> Result<RevisionData> {
    let data = required("data", data)?;
    let media_type = parsed("data.media_type", MediaType::parse(&data.media_type))?;
    let version = optional_version("data.version", data.version.as_deref())?;
    Ok(RevisionData::from_stored(media_type, data.data).in_version(version))
}

pub(super) fn equality_to_pb(equality: Equality) -> pb::RevisionEquality {
    match equality {
        Equality::Json => pb::RevisionEquality::Json,
        Equality::Bytes => pb::RevisionEquality::Bytes,
        Equality::JsonIgnoringEmpty => pb::RevisionEquality::JsonIgnoringEmpty,
    }
}

pub(super) fn equality_from_pb(equality: pb::RevisionEquality) -> Result<Equality> {
    match equality {
        pb::RevisionEquality::Json => Ok(Equality::Json),
        pb::RevisionEquality::Bytes => Ok(Equality::Bytes),
        pb::RevisionEquality::JsonIgnoringEmpty => Ok(Equality::JsonIgnoringEmpty),
        pb::RevisionEquality::Unspecified => {
            Err(CodecError::new("equality", "this build does not know it"))
        }
    }
}

pub(super) fn preconditions_to_pb(preconditions: &Preconditions) -> pb::RevisionPreconditions {
    let Preconditions {
        uid,
        resource_version,
    } = preconditions;
    let uid = uid.as_ref().map(|uid: &Uid| uid.as_bytes().to_vec());
    pb::RevisionPreconditions {
        uid: uid.unwrap_or_default().into(),
        resource_version: resource_version.map(Revision::get),
    }
}

pub(super) fn preconditions_from_pb(
    pb: Option<pb::RevisionPreconditions>,
) -> Result<Preconditions> {
    let pb = pb.unwrap_or_default();
    let uid = (!pb.uid.is_empty()).then(|| uid("preconditions.uid", &pb.uid));
    Ok(Preconditions {
        uid: uid.transpose()?,
        resource_version: pb.resource_version.map(Revision::new),
    })
}

pub(super) fn annotations_to_pb(annotations: &Annotations) -> Vec<pb::Label> {
    let pairs = annotations.iter().map(|(key, value)| pb::Label {
        key: key.to_owned(),
        value: value.to_owned(),
    });
    pairs.collect()
}

pub(super) fn annotations_from_pb(pairs: &[pb::Label]) -> Result<Annotations> {
    let pairs = pairs.iter().map(|pair| (&pair.key, &pair.value));
    parsed("annotations", Annotations::parse(pairs))
}

pub(super) fn key_to_pb(key: &NamespacedName) -> (String, String) {
    let namespace = key.namespace().unwrap_or_default();
    (namespace.to_owned(), key.name().to_owned())
}

pub(super) fn key_from_pb(scope: &str, text: &str) -> Result<NamespacedName> {
    let namespace = namespace(scope)?;
    Ok(NamespacedName::new(Some(&namespace), &name("name", text)?))
}

pub(super) fn namespace(text: &str) -> Result<Namespace> {
    parsed("namespace", Namespace::parse(text))
}

pub(super) fn name(field: &str, text: &str) -> Result<ObjectName> {
    parsed(field, ObjectName::parse(text))
}

pub(super) fn marker(text: &str) -> Result<Marker> {
    parsed("marker", Marker::parse(text))
}

pub(super) fn number(number: u64) -> Result<RevisionNumber> {
    parsed("number", RevisionNumber::new(number))
}

pub(super) fn optional_number(optional: Option<u64>) -> Result<Option<RevisionNumber>> {
    optional.map(number).transpose()
}
