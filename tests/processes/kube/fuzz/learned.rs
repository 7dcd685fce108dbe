//! What of answers is of use in requests.

use serde_json::Value;

use super::damage;
use super::dice::Dice;

/// What answers have told that is of use in requests: the latest of each.
#[derive(Default)]
pub(super) struct Learned {
    pub(super) tokens: Vec<String>,
    pub(super) revisions: Vec<String>,
    pub(super) uids: Vec<String>,
    pub(super) names: Vec<String>,
}

/// How much of each is kept.
const LEARNED_MAX: usize = 32;

impl Learned {
    /// Takes what is of use from an answer.
    pub(super) fn learn(&mut self, document: &Value) {
        let first = |document: &Value, name: &str| {
            let metadata = &document["metadata"][name];
            metadata
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let objects = document["items"].as_array();
        let objects = objects.into_iter().flatten().take(4);
        for document in objects.chain([document]) {
            for (name, into) in [
                ("continue", &mut self.tokens),
                ("resourceVersion", &mut self.revisions),
                ("uid", &mut self.uids),
                ("name", &mut self.names),
            ] {
                into.extend(first(document, name));
                if into.len() > LEARNED_MAX {
                    into.remove(0);
                }
            }
        }
    }

    /// One that is known, mostly.
    pub(super) fn of(dice: &mut Dice, known: &[String]) -> String {
        match known.is_empty() || dice.one_in(6) {
            true => damage::word(dice).to_owned(),
            false => dice.pick(known).clone(),
        }
    }
}
