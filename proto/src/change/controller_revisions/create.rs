//! The request that creates a ControllerRevision.

use std::collections::BTreeMap;

use synod_model::limits::HISTORY_LIMIT_DEFAULT;
use synod_model::{
    Annotations, ControllerHistory, CreateControllerRevision, Equality, Labels, MarkTie,
    NamePrefix, ObjectName, Violations,
};

use super::super::{Change, requests};
use crate::convert::wanted_data;
use crate::wire::{Wire, required, sound};
use crate::{read_fields, v1, wire_enums};

requests! {
    v1::ControllerRevisionsCreateRequest = CreateControllerRevision, tie mark_update;
}

wire_enums! {
    v1::ControllerRevisionEquality = Equality {
        Json = Json, Bytes = Bytes, JsonIgnoringEmpty = JsonIgnoringEmpty,
    }
}

impl Wire<v1::ControllerRevisionsCreateRequest> for CreateControllerRevision {
    fn to_wire(&self) -> v1::ControllerRevisionsCreateRequest {
        v1::ControllerRevisionsCreateRequest {
            history: self.history.to_wire(),
            media_type: self.data.media_type().to_wire(),
            data: self.data.bytes().clone(),
            equality: self.equality.to_wire(),
            prefix: self.prefix.as_str().to_owned(),
            labels: self.labels.to_wire(),
            annotations: self.annotations.to_wire(),
            revision: self.number.to_wire(),
            collision_count: Some(self.collision_count),
            history_limit: Some(self.history_limit),
            if_newest: self.if_newest.to_wire(),
            mark_update: self.mark_update.to_wire(),
            data_version: self.data.version().map(ToString::to_string),
            name: self.name.to_wire(),
            ..Default::default()
        }
    }

    fn of_wire(pb: v1::ControllerRevisionsCreateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let counted = |counted| {
            let rule = "must be what the answer to the last create said, 0 at first";
            required(counted, rule)
        };
        let history = ControllerHistory::of_wire(pb.history);
        let known = history.as_ref().ok();
        let labels = with_selector(&pb.labels, known.map(|history| &history.selector));
        let prefix = prefix(&pb.prefix, known);
        read_fields! { pb, found;
            equality = equality => Option::<Equality>::of_wire(pb.equality),
            history = history => history,
            data = data => wanted_data(pb.media_type, pb.data),
            version = data_version,
            labels = labels => labels,
            prefix = prefix => prefix,
            annotations = annotations => Annotations::of_wire(pb.annotations),
            number = revision,
            collision_count = collision_count => counted(pb.collision_count),
            if_newest = if_newest,
            mark_update = mark_update => Option::<MarkTie>::of_wire(pb.mark_update),
            name = name => Option::<ObjectName>::of_wire(pb.name),
        }
        let Some(prefix) = prefix else {
            return Err(found);
        };
        let body = Self {
            history,
            data: data.in_version(version),
            equality: equality.unwrap_or(Equality::Json),
            prefix,
            labels,
            annotations,
            number,
            collision_count,
            history_limit: pb.history_limit.unwrap_or(HISTORY_LIMIT_DEFAULT),
            if_newest,
            mark_update,
            name,
        };
        found.extend_at("", body.check());
        sound(body, found)
    }
}

/// The prefix that is given, or the owner's name; `None` if the history is at fault, which is
/// reported already.
fn prefix(
    given: &str,
    history: Option<&ControllerHistory>,
) -> Result<Option<NamePrefix>, Violations> {
    let text = match (given, history) {
        ("", Some(history)) => history.owner.name.as_str(),
        ("", None) => return Ok(None),
        (given, _) => given,
    };
    Ok(Some(NamePrefix::parse(text)?))
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
