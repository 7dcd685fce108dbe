//! The facts about a disk's content, as JSON that every later build understands.

use serde_json::{Value, json};
use synod_machine::{Outcome, Row};
use synod_model::SessionId;
use synod_server::consensus::Published;

/// The content of the disk, and the answer to a retry of the last request with a session.
pub(crate) fn facts(published: &Published, session: SessionId, answered: &Outcome) -> Value {
    let state = &published.state;
    let present = state.present();
    let members = present.members(None);
    let members = members.map(|member| json!([member.id.as_str(), member.epoch.get()]));
    let rows = state.rows();
    let revisions = rows.filter(|row| matches!(row, Row::ControllerRevision(_)));
    let states: Vec<_> = present.storage_states(None).collect();
    let missing = states.iter().map(|it| it.row.status.absent.to_string());
    let contradicted = states.iter().filter(|it| it.row.status.contradicted);
    json!({
        "revision": state.revision().get(),
        "logTime": state.log_time().as_millis(),
        "members": members.collect::<Vec<_>>(),
        "session": session.get(),
        "sessions": state.session_count(),
        "storageVersions": state.storage_version_count(),
        "controllerRevisions": revisions.count(),
        "rosters": present.rosters(None).count(),
        "missing": missing.collect::<Vec<_>>(),
        "contradicted": contradicted.count(),
        "membersMax": state.settings().members_max,
        "retry": {
            "revision": answered.revision.get(),
            "changed": answered.changed,
            "refused": answered.result.is_err(),
        },
        // Covers every row, but only builds with the same machine version compute the same digest.
        "machineVersion": state.machine_version(),
        "digest": state.digest().to_string(),
    })
}

/// Compares the facts that this build finds with the recorded ones.
pub(crate) fn compare(release: &str, found: &Value, written: &Value) {
    let comparable = written["machineVersion"] == found["machineVersion"];
    for (fact, expected) in written.as_object().unwrap() {
        if fact != "digest" || comparable {
            assert_eq!(&found[fact], expected, "{fact} on the disk of {release}");
        }
    }
}
