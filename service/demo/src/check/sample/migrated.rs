//! The small run, continued with a migration to v2.
//!
//! | revision | what happened |
//! |---|---|
//! | 13 | a migration to v2 waits, for the agreement of revision 10 |
//! | 14 | it runs |
//! | 15 | it has succeeded: nothing may be stored in v1 any more |

use serde_json::{Value, json};

use super::{GADGETS, Sample, V1, V2, revision, state, status};
use crate::records::files;

pub(in super::super) const MIGRATION: &str = "gadgets.example.io-10";

impl Sample {
    /// A run with a migration, without a fault.
    pub(in super::super) fn with_migration() -> Self {
        let mut sample = Self::good();
        for watch in &mut sample.watches {
            watch.extend([
                revision(13, [migration("ADDED", MIGRATION, "PENDING")]),
                revision(14, [migration("MODIFIED", MIGRATION, "RUNNING")]),
                revision(
                    15,
                    [
                        migration("MODIFIED", MIGRATION, "SUCCEEDED"),
                        in_the_new_one_alone(),
                    ],
                ),
            ]);
        }
        let gadgets = json!({"group": "example.io", "resource": "gadgets"});
        let verdict = json!({
            "header": {"revision": "15"}, "safe": true, "dangers": [],
            "assumptions": [{"reason": "ASSUMPTION_REASON_NO_ROSTER", "resources": [gadgets]}],
        });
        let file = files::drop_verdict(GADGETS, files::AFTER);
        sample.verdicts.insert(file, verdict);
        sample
    }
}

/// The event of a migration in a phase.
pub(in super::super) fn migration(change: &str, name: &str, phase: &str) -> Value {
    let assumption = match phase {
        "SUCCEEDED" => "ASSUMPTION_REASON_NO_ROSTER",
        _ => "ASSUMPTION_REASON_UNSPECIFIED",
    };
    json!({
        "type": format!("EVENT_TYPE_{change}"),
        "kind": "OBJECT_KIND_MIGRATION",
        "name": name,
        "migration": {
            "resource": {"group": "example.io", "resource": "gadgets"},
            "targetVersion": V2,
            "agreementRevision": "10",
            "phase": format!("MIGRATION_PHASE_{phase}"),
            "assumption": assumption,
        },
    })
}

/// The event of a roster that requires these members.
pub(in super::super) fn roster(change: &str, members: &[&str]) -> Value {
    json!({
        "type": format!("EVENT_TYPE_{change}"), "kind": "OBJECT_KIND_ROSTER", "name": "example.io.*",
        "roster": {"scope": "example.io.*", "rule": {"members": members, "labelSelector": "", "least": 0}},
    })
}

/// An event after which a resource may still be stored in both versions.
pub(in super::super) fn still_in_both() -> Value {
    state("MODIFIED", &adopted(), &[V1, V2], &[])
}

fn in_the_new_one_alone() -> Value {
    let mut event = state("MODIFIED", &adopted(), &[V2], &[]);
    let persisted = event["storageState"]["persisted"].as_array_mut();
    persisted.unwrap().retain(|one| one["version"] == V2);
    event
}

fn adopted() -> Value {
    status(Some(V2), (Some(V2), 9), 10, Some(V2), &[V1, V2])
}
