//! What it costs to encode events, and to give them to one more watcher; see [`crate::costs`].

use synod_machine::State;
use synod_model::{ObjectKind, Revision};
use synod_proto::WatchFilter;

use super::encoded::{EncodedHistory, WatchMessage};
use crate::costs::Count;
use crate::metrics::Metrics;

/// Reads the events after `begin` for a first watcher, for another one, and for one with a filter that they pass. Returns
/// the messages of one watcher.
pub(crate) fn watch(
    count: &mut Count<'_>,
    kind: &str,
    state: &State,
    begin: Revision,
) -> Vec<WatchMessage> {
    let encoded = EncodedHistory::new(Metrics::new(|| 0).watch);
    let read = |filter: &WatchFilter| {
        let (mut seen, mut messages) = (begin, Vec::new());
        while let Ok(Some(events)) = state.history().next_after(seen) {
            seen = events.revision;
            messages.extend(encoded.messages(events, filter));
        }
        messages
    };
    let everything = WatchFilter::default();
    let by_kind = WatchFilter {
        kinds: ObjectKind::ALL.iter().copied().collect(),
        ..WatchFilter::default()
    };
    // Renewals make none.
    if state.revision() == begin {
        return Vec::new();
    }
    let revisions = (state.revision().get() - begin.get()) as usize;
    let mut messages = Vec::new();
    for (name, filter) in [
        ("encode events of", &everything),
        ("one more watch of", &everything),
        ("watch by kind of", &by_kind),
    ] {
        messages.clear();
        count(&format!("{name} {kind}"), revisions, &mut || {
            messages = read(filter);
        });
    }
    messages
}
