//! No member lacks a key that encrypts objects, or a level that is in use, and what is selected of a feature never falls.

use std::collections::BTreeMap;

use synod_machine::State;
use synod_model::{ApiVersion, Revision, Topic, feature_level};

use crate::clients::Clients;
use crate::net::Host;
use crate::rotations::topics;

/// What was in use when a replica's state was last looked at.
type Seen = (Revision, [BTreeMap<ApiVersion, Revision>; 2]);

#[derive(Default)]
pub(crate) struct Readable {
    /// What was looked at last, so that nothing is looked at twice.
    seen: BTreeMap<Host, Seen>,
    levels: Levels,
}

impl Readable {
    pub(crate) fn look(&mut self, host: Host, state: &State, clients: &Clients) {
        let Clients::Serving(servers) = clients else {
            return;
        };
        let Some(ledger) = servers.rotations() else {
            return;
        };
        let now = (state.revision(), ledger.in_use());
        if self.seen.get(&host) == Some(&now) {
            return;
        }
        for (topic, in_use) in topics().iter().zip(&now.1) {
            readable(state, topic, in_use).unwrap_or_else(|fault| panic!("{host}: {fault}"));
        }
        let feature = &topics()[1];
        let row = state.present().storage_version(feature.resource());
        let selected = row.and_then(|view| feature_level(view.row.status.selected.as_ref()?));
        if let Some(level) = selected {
            let looked = self.levels.look(state.revision(), level);
            looked.unwrap_or_else(|fault| panic!("{host}: {fault}"));
        }
        self.seen.insert(host, now);
    }
}

/// Whether all members read what is in use. A replica that lags behind the revision of a use may not know it yet.
fn readable(
    state: &State,
    topic: &Topic,
    in_use: &BTreeMap<ApiVersion, Revision>,
) -> Result<(), String> {
    let Some(view) = state.present().storage_version(topic.resource()) else {
        return Ok(());
    };
    let known = in_use
        .iter()
        .filter(|(_, since)| **since <= state.revision());
    for (value, since) in known {
        let mut entries = view.entries();
        if let Some((member, entry)) = entries.find(|(_, entry)| !entry.decodable.contains(value)) {
            return Err(format!(
                "{member} reads {:?}, and {value} of {topic} is in use since {since}",
                entry.decodable
            ));
        }
    }
    Ok(())
}

/// The first revision at which each level was selected, as far as it was seen.
#[derive(Default)]
struct Levels(BTreeMap<u32, Revision>);

impl Levels {
    fn look(&mut self, revision: Revision, level: u32) -> Result<(), String> {
        let first = self.0.entry(level).or_insert(revision);
        *first = revision.min(*first);
        let mut higher = self.0.range(level + 1..);
        match higher.find(|(_, since)| **since <= revision) {
            Some((higher, since)) => Err(format!(
                "level {level} is selected at {revision}, and {higher} was at {since}"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_falls_is_found_and_a_replica_that_lags_is_not() {
        let mut levels = Levels::default();
        levels.look(Revision::new(5), 1).unwrap();
        levels.look(Revision::new(9), 2).unwrap();
        levels.look(Revision::new(8), 1).unwrap();
        let fault = levels.look(Revision::new(9), 1).unwrap_err();
        assert_eq!(fault, "level 1 is selected at 9, and 2 was at 9");
    }
}
