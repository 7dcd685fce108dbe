//! Changes of a history as a whole.

use std::collections::BTreeMap;

use synod_model::limits::HISTORY_LIMIT_DEFAULT;
use synod_model::{
    AdoptControllerRevisions, Annotations, ApiVersion, ClusterId, ControllerHistory,
    CreateControllerRevision, Equality, InUse, Labels, Mark, MarkControllerRevisions, MarkTie,
    Marker, NamePrefix, Namespace, ObjectName, OwnerReference, Revision, RevisionNumber,
    RollbackControllerRevision, RollbackTarget, TruncateControllerRevisions, Violations,
};

use super::super::{Change, Key, key};
use super::data::data;
use crate::convert::{annotations_to_wire, labels_to_wire};
use crate::fields::{cluster, list, required, sound};
use crate::v1;

pub(super) fn change<T>(key: &Key, body: T) -> Change<T> {
    Change {
        key: key.id,
        session_cluster: key.cluster,
        ..Change::new(body)
    }
}

impl From<&ControllerHistory> for v1::ControllerHistory {
    fn from(history: &ControllerHistory) -> Self {
        Self {
            namespace: history.namespace.to_string(),
            owner: Some((&history.owner).into()),
            selector: labels_to_wire(&history.selector),
        }
    }
}

pub(crate) fn history_from_wire(
    pb: Option<v1::ControllerHistory>,
) -> Result<ControllerHistory, Violations> {
    let pb = required(pb, "must name a history")?;
    let mut found = Violations::new();
    let namespace = found.parsed("namespace", Namespace::parse(&pb.namespace));
    let owner = required(pb.owner, "must name the owner")
        .map_err(Violations::from)
        .and_then(OwnerReference::try_from);
    let owner = found.parsed("owner", owner);
    let selector = found.parsed("selector", Labels::parse(&pb.selector));
    let (Some(namespace), Some(owner), Some(selector)) = (namespace, owner, selector) else {
        return Err(found);
    };
    Ok(ControllerHistory {
        namespace,
        owner: OwnerReference {
            controller: true,
            ..owner
        },
        selector,
    })
}

impl From<&Change<CreateControllerRevision>> for v1::ControllerRevisionsCreateRequest {
    fn from(change: &Change<CreateControllerRevision>) -> Self {
        let create = &change.body;
        let equality = match create.equality {
            Equality::Json => v1::ControllerRevisionEquality::Json,
            Equality::Bytes => v1::ControllerRevisionEquality::Bytes,
            Equality::JsonIgnoringEmpty => v1::ControllerRevisionEquality::JsonIgnoringEmpty,
        };
        Self {
            request_id: change.wire_key(),
            history: Some((&create.history).into()),
            media_type: create.data.media_type().to_string(),
            data: create.data.bytes().clone(),
            equality: equality.into(),
            prefix: create.prefix.as_str().to_owned(),
            labels: labels_to_wire(&create.labels),
            annotations: annotations_to_wire(&create.annotations),
            revision: create.number.map(RevisionNumber::get),
            collision_count: Some(create.collision_count),
            history_limit: Some(create.history_limit),
            if_newest: create.if_newest.map(Revision::get),
            dry_run: false,
            mark_update: create.mark_update.as_ref().map(|it| wire_tie(change, it)),
            data_version: create.data.version().map(ToString::to_string),
        }
    }
}

impl TryFrom<v1::ControllerRevisionsCreateRequest> for Change<CreateControllerRevision> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsCreateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let equality = found.parsed("equality", equality(pb.equality));
        let history = found.parsed("history", history_from_wire(pb.history));
        let data = found.parsed("data", data(&pb.media_type, pb.data));
        let version = pb.data_version.as_deref().map(ApiVersion::parse);
        let version = found.parsed("dataVersion", version.transpose());
        let data = data
            .zip(version)
            .map(|(data, version)| data.in_version(version));
        let prefix = prefix(&pb.prefix, history.as_ref(), &mut found);
        let selector = history.as_ref().map(|history| &history.selector);
        let labels = found.parsed("labels", with_selector(&pb.labels, selector));
        let annotations = found.parsed("annotations", Annotations::parse(&pb.annotations));
        let number = pb.revision.map(RevisionNumber::new).transpose();
        let number = found.parsed("revision", number);
        let counted = required(
            pb.collision_count,
            "must be what the answer to the last create said, 0 at first",
        );
        let counted = found.parsed("collisionCount", counted);
        let mark_update = pb.mark_update.map(|pb| tie(Some(pb))).transpose();
        let mark_update = found.parsed("markUpdate", mark_update);
        let fields = (history, data, equality, prefix);
        let others = (labels, annotations, number, counted, mark_update);
        let (
            (Some(history), Some(data), Some(equality), Some(prefix)),
            (
                Some(labels),
                Some(annotations),
                Some(number),
                Some(collision_count),
                Some(mark_update),
            ),
        ) = (fields, others)
        else {
            return Err(found);
        };
        let (mark_update, epoch_cluster) = mark_update.unzip();
        let body = CreateControllerRevision {
            history,
            data,
            equality,
            prefix,
            labels,
            annotations,
            number,
            collision_count,
            history_limit: pb.history_limit.unwrap_or(HISTORY_LIMIT_DEFAULT),
            if_newest: pb.if_newest.map(Revision::new),
            mark_update,
        };
        found.extend_at("", body.check());
        let epoch_cluster = epoch_cluster.flatten();
        let change = Self {
            epoch_cluster,
            ..change(&key, body)
        };
        sound(change, found)
    }
}

fn equality(number: i32) -> Result<Equality, Violations> {
    let known = v1::ControllerRevisionEquality::try_from(number);
    match known {
        Ok(v1::ControllerRevisionEquality::Unspecified | v1::ControllerRevisionEquality::Json) => {
            Ok(Equality::Json)
        }
        Ok(v1::ControllerRevisionEquality::Bytes) => Ok(Equality::Bytes),
        Ok(v1::ControllerRevisionEquality::JsonIgnoringEmpty) => Ok(Equality::JsonIgnoringEmpty),
        Err(_) => Err(synod_model::Violation::invalid(
            &number.to_string(),
            "must be a way to compare that is known here",
        )
        .into()),
    }
}

/// The prefix that is given, or the owner's name.
fn prefix(
    given: &str,
    history: Option<&ControllerHistory>,
    found: &mut Violations,
) -> Option<NamePrefix> {
    let text = match (given, history) {
        ("", Some(history)) => history.owner.name.as_str(),
        // What is wrong with the owner was said.
        ("", None) => return None,
        (given, _) => given,
    };
    found.parsed("prefix", NamePrefix::parse(text))
}

/// The labels that are given, and those of the selector.
fn with_selector(
    given: &BTreeMap<String, String>,
    selector: Option<&Labels>,
) -> Result<Labels, Violations> {
    let mut labels: BTreeMap<&str, &str> = given
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    for (key, value) in selector.into_iter().flat_map(Labels::iter) {
        labels.entry(key).or_insert(value);
    }
    Labels::parse(labels)
}

impl From<&Change<RollbackControllerRevision>> for v1::ControllerRevisionsRollbackRequest {
    fn from(change: &Change<RollbackControllerRevision>) -> Self {
        use v1::controller_revisions_rollback_request::To;
        let rollback = &change.body;
        Self {
            request_id: change.wire_key(),
            history: Some((&rollback.history).into()),
            to: match &rollback.to {
                RollbackTarget::Previous => None,
                RollbackTarget::Number(number) => Some(To::Revision(number.get())),
                RollbackTarget::Name(name) => Some(To::Name(name.to_string())),
            },
            if_newest: rollback.if_newest.map(Revision::get),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ControllerRevisionsRollbackRequest> for Change<RollbackControllerRevision> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsRollbackRequest) -> Result<Self, Violations> {
        use v1::controller_revisions_rollback_request::To;
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let history = found.parsed("history", history_from_wire(pb.history));
        let to = match pb.to {
            None => Some(RollbackTarget::Previous),
            Some(To::Revision(number)) => found
                .parsed("revision", RevisionNumber::new(number))
                .map(RollbackTarget::Number),
            Some(To::Name(name)) => found
                .parsed("name", ObjectName::parse(&name))
                .map(RollbackTarget::Name),
        };
        let (Some(history), Some(to)) = (history, to) else {
            return Err(found);
        };
        let body = RollbackControllerRevision {
            history,
            to,
            if_newest: pb.if_newest.map(Revision::new),
        };
        sound(change(&key, body), found)
    }
}

impl From<&Change<MarkControllerRevisions>> for v1::ControllerRevisionsMarkLiveRequest {
    fn from(change: &Change<MarkControllerRevisions>) -> Self {
        let marking = &change.body;
        let text = |mark: &Mark| match mark {
            Mark::Nowhere => String::new(),
            Mark::On(name) => name.to_string(),
        };
        Self {
            request_id: change.wire_key(),
            history: Some((&marking.history).into()),
            current: marking.current.as_ref().map(text),
            update: marking.update.as_ref().map(text),
            in_use: marking.in_use.as_ref().map(|in_use| v1::InUse {
                marker: in_use.marker.to_string(),
                names: in_use.names.iter().map(ToString::to_string).collect(),
            }),
            tie: Some(wire_tie(change, &marking.tie)),
        }
    }
}

impl TryFrom<v1::ControllerRevisionsMarkLiveRequest> for Change<MarkControllerRevisions> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsMarkLiveRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let history = found.parsed("history", history_from_wire(pb.history));
        let mut mark = |path: &str, text: Option<String>| {
            let mark = text.map(|text| match text.as_str() {
                "" => Ok(Mark::Nowhere),
                name => ObjectName::parse(name).map(Mark::On),
            });
            found.parsed(path, mark.transpose())
        };
        let (current, update) = (mark("current", pb.current), mark("update", pb.update));
        let in_use = found.parsed("inUse", pb.in_use.map(in_use).transpose());
        let tie = found.parsed("tie", tie(pb.tie));
        let (Some(history), Some(current), Some(update), Some(in_use), Some(tie)) =
            (history, current, update, in_use, tie)
        else {
            return Err(found);
        };
        let (tie, epoch_cluster) = tie;
        let body = MarkControllerRevisions {
            history,
            current,
            update,
            in_use,
            tie,
        };
        found.extend_at("", body.check());
        let change = Self {
            epoch_cluster,
            ..change(&key, body)
        };
        sound(change, found)
    }
}

/// Reads a tie, and the cluster that gave its epoch.
fn tie(pb: Option<v1::MarkTie>) -> Result<(MarkTie, Option<ClusterId>), Violations> {
    let pb = pb.unwrap_or_default();
    let mut found = Violations::new();
    let named = match &pb.to {
        Some(v1::mark_tie::To::Member(who)) => found
            .parsed("member.clusterId", cluster(&who.cluster_id))
            .flatten(),
        Some(v1::mark_tie::To::TtlMs(_) | v1::mark_tie::To::Object(_)) | None => None,
    };
    match found.parsed("", MarkTie::try_from(pb)) {
        Some(tie) => sound((tie, named), found),
        None => Err(found),
    }
}

/// A tie as it is sent.
fn wire_tie<T>(change: &Change<T>, tie: &MarkTie) -> v1::MarkTie {
    match tie {
        MarkTie::Member(member, epoch) => v1::MarkTie {
            to: change
                .wire_member(member, *epoch)
                .map(v1::mark_tie::To::Member),
        },
        MarkTie::Renewals(_) | MarkTie::Object(..) => tie.into(),
    }
}

fn in_use(pb: v1::InUse) -> Result<InUse, Violations> {
    let mut found = Violations::new();
    let marker = found.parsed("marker", Marker::parse(&pb.marker));
    let names = found.parsed("names", list(pb.names, |name| ObjectName::parse(&name)));
    match (marker, names) {
        (Some(marker), Some(names)) => Ok(InUse { marker, names }),
        _ => Err(found),
    }
}

impl From<&Change<TruncateControllerRevisions>> for v1::ControllerRevisionsTruncateRequest {
    fn from(change: &Change<TruncateControllerRevisions>) -> Self {
        let truncate = &change.body;
        Self {
            request_id: change.wire_key(),
            history: Some((&truncate.history).into()),
            limit: Some(truncate.limit),
            if_newest: truncate.if_newest.map(Revision::get),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ControllerRevisionsTruncateRequest> for Change<TruncateControllerRevisions> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsTruncateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let history = found.parsed("history", history_from_wire(pb.history));
        let Some(history) = history else {
            return Err(found);
        };
        let body = TruncateControllerRevisions {
            history,
            limit: pb.limit.unwrap_or(HISTORY_LIMIT_DEFAULT),
            if_newest: pb.if_newest.map(Revision::new),
        };
        found.extend_at("", body.check());
        sound(change(&key, body), found)
    }
}

impl From<&Change<AdoptControllerRevisions>> for v1::ControllerRevisionsAdoptRequest {
    fn from(change: &Change<AdoptControllerRevisions>) -> Self {
        let adopt = &change.body;
        Self {
            request_id: change.wire_key(),
            history: Some((&adopt.history).into()),
            name: adopt
                .name
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        }
    }
}

impl TryFrom<v1::ControllerRevisionsAdoptRequest> for Change<AdoptControllerRevisions> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsAdoptRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let history = found.parsed("history", history_from_wire(pb.history));
        let name = (!pb.name.is_empty()).then(|| ObjectName::parse(&pb.name));
        let name = found.parsed("name", name.transpose());
        let (Some(history), Some(name)) = (history, name) else {
            return Err(found);
        };
        let body = AdoptControllerRevisions { history, name };
        found.extend_at("", body.check());
        sound(change(&key, body), found)
    }
}
