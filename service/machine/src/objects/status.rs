//! The status of an object: what is observed of it, beside what is desired.

use synod_model::{Collection, Content, Json};

/// The member of an object's data that is its status.
const STATUS: &str = "status";

/// Whether more than the status differs between two contents of an object. Where the collection has no status subresource,
/// all of it is what is desired.
pub(crate) fn is_about_more(row: &Collection, before: &Content, after: &Content) -> bool {
    if !row.rules.status_subresource {
        return true;
    }
    let is_alike = before.encoding == after.encoding && before.media_type == after.media_type;
    match (is_alike, desired(before), desired(after)) {
        (true, Some(before), Some(after)) => before != after,
        (true | false, _, _) => true,
    }
}

/// The data without its status; `None` if it is no JSON object.
fn desired(content: &Content) -> Option<Json> {
    if !content.media_type.is_json() {
        return None;
    }
    let mut data = Json::parse_object(&content.data).ok()?;
    if let Json::Object(members) = &mut data {
        members.remove(STATUS);
    }
    Some(data)
}
