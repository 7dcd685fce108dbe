//! The calls that read ControllerRevisions.

use std::sync::Arc;

use synod_machine::Past;
use synod_model::{ControllerRevision, ErrorKind, Json, NamespacedName, ObjectName, Refusal};
use synod_proto::{
    ControllerHistoryCursor, ControllerRevisionCursor, DiffControllerRevisions,
    GetControllerHistory, GetControllerRevision, ListControllerRevisions, v1,
};

use super::text_diff::unified_diff;
use crate::handle::{Asking, Handle};
use crate::limits::DIFF_BYTES_MAX;
use crate::rpc::pages::{Items, Page};
use crate::rpc::typed;

pub(super) async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsGetRequest,
) -> Result<v1::ControllerRevisionsGetResponse, Refusal> {
    let GetControllerRevision { key, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let revision = found(&reading.past()?, &key)?;
    Ok(v1::ControllerRevisionsGetResponse {
        header: Some(handle.header_of(&reading)),
        controller_revision: Some((&*revision).into()),
    })
}

pub(super) async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsListRequest,
) -> Result<v1::ControllerRevisionsListResponse, Refusal> {
    let list: ListControllerRevisions = typed(message)?;
    let page = Page::open(handle, asking, list.page.clone()).await?;
    let past = page.past()?;
    // Only keys within the namespace are visited.
    let begin = list
        .namespace
        .as_ref()
        .map(|namespace| NamespacedName::before_all_of(Some(namespace)));
    let after = page.after.as_ref().map(ControllerRevisionCursor::key);
    let revisions = past
        .controller_revisions(begin.as_ref().max(after))
        .take_while(|revision| {
            let namespace = list.namespace.as_ref().map(|namespace| namespace.as_str());
            namespace.is_none_or(|namespace| revision.key.namespace() == Some(namespace))
        })
        .filter(|revision| list.selects(revision))
        .map(|revision| {
            let cursor = ControllerRevisionCursor::after(&revision.key);
            (cursor, v1::ControllerRevision::from(&*revision))
        });
    let Items {
        items,
        continue_token,
    } = page.take(handle, revisions)?;
    Ok(v1::ControllerRevisionsListResponse {
        header: Some(handle.header_of(&page.reading)),
        items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}

pub(super) async fn history(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsHistoryRequest,
) -> Result<v1::ControllerRevisionsHistoryResponse, Refusal> {
    let GetControllerHistory { history, page } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let revisions = page.past()?.controller_history(&history);
    let after = page.after.as_ref().map(ControllerHistoryCursor::place);
    let revisions = revisions
        .iter()
        .map(|revision| (revision.place(), revision))
        .filter(|(place, _)| after.is_none_or(|after| place > after))
        .map(|(place, revision)| {
            let cursor = ControllerHistoryCursor::after(place);
            (cursor, v1::ControllerRevision::from(&**revision))
        });
    let Items {
        items,
        continue_token,
    } = page.take(handle, revisions)?;
    Ok(v1::ControllerRevisionsHistoryResponse {
        header: Some(handle.header_of(&page.reading)),
        items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}

pub(super) async fn diff(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsDiffRequest,
) -> Result<v1::ControllerRevisionsDiffResponse, Refusal> {
    let DiffControllerRevisions {
        namespace,
        from,
        to,
        read,
    } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let past = reading.past()?;
    let side = |name: Option<ObjectName>| -> Result<Side, Refusal> {
        let named = name.map(|name| found(&past, &NamespacedName::new(Some(&namespace), &name)));
        Ok(Side(named.transpose()?))
    };
    let (from, to) = (side(from)?, side(to)?);
    let json = from.json().zip(to.json());
    let json_patch = json.as_ref().map(|(from, to)| {
        let patch = from.patch_to(to, DIFF_BYTES_MAX);
        patch.ok_or_else(too_large)
    });
    let json_patch = json_patch.transpose()?;
    let texts = from.text()?.zip(to.text()?);
    let unified = texts.map(|(a, b)| unified_diff(&from.name(), &to.name(), &a, &b));
    let bytes =
        json_patch.as_ref().map_or(0, String::len) + unified.as_ref().map_or(0, String::len);
    if bytes > DIFF_BYTES_MAX {
        return Err(too_large());
    }
    let equal = match &json {
        Some((from, to)) => from == to,
        None => from.bytes() == to.bytes(),
    };
    Ok(v1::ControllerRevisionsDiffResponse {
        header: Some(handle.header_of(&reading)),
        equal,
        json_patch,
        unified,
    })
}

/// One side of a difference; `None` is a nil revision.
struct Side(Option<Arc<ControllerRevision>>);

impl Side {
    fn name(&self) -> String {
        match &self.0 {
            Some(revision) => format!("{} (revision {})", revision.key.name(), revision.number),
            None => "nil".to_owned(),
        }
    }

    fn bytes(&self) -> &[u8] {
        self.0
            .as_ref()
            .map_or(&[], |revision| revision.data.bytes())
    }

    fn json(&self) -> Option<Json> {
        match &self.0 {
            Some(revision) => revision.data.json(),
            None => Some(Json::Null),
        }
    }

    /// The text that is compared line by line; `None` if the data is no text.
    fn text(&self) -> Result<Option<String>, Refusal> {
        let Some(revision) = &self.0 else {
            return Ok(Some(String::new()));
        };
        match revision.data.json() {
            Some(json) => json
                .to_pretty(DIFF_BYTES_MAX)
                .map(Some)
                .ok_or_else(too_large),
            None => Ok(std::str::from_utf8(revision.data.bytes())
                .ok()
                .map(str::to_owned)),
        }
    }
}

fn too_large() -> Refusal {
    let message = format!(
        "the difference has more than {DIFF_BYTES_MAX} bytes: get both ControllerRevisions and compare them"
    );
    Refusal::new(ErrorKind::TooLarge, message)
}

fn found(past: &Past<'_>, key: &NamespacedName) -> Result<Arc<ControllerRevision>, Refusal> {
    past.controller_revision(key)
        .ok_or_else(|| key.not_found(ControllerRevision::RESOURCE))
}
