//! The rosters of the fixture.

use synod_proto::v1;

use super::{DAY, HOUR, event, events, header, metadata, versions};

/// A roster for all resources, one for a group, and one for a single resource.
pub(super) fn rosters() -> v1::RostersListResponse {
    let members = ["server-a", "server-b", "server-c", "server-d"];
    v1::RostersListResponse {
        header: Some(header()),
        rosters: vec![
            roster("*", 10, 3 * DAY, rule(&members, "", 0)),
            roster("apps.*", 33, HOUR, rule(&[], "tier=control", 2)),
            roster("core.pods", 42, HOUR, rule(&["server-c"], "", 3)),
        ],
        continue_token: String::new(),
        inconsistent: false,
    }
}

/// The narrowest roster was just set.
pub(super) fn added() -> v1::WatchResponse {
    let last = rosters().rosters.remove(2);
    let name = last.scope.clone();
    events(
        50,
        vec![event(
            v1::EventType::Added,
            v1::ObjectKind::Roster,
            &name,
            v1::event::Object::Roster(last),
        )],
    )
}

fn rule(members: &[&str], labels: &str, least: u32) -> v1::RosterRule {
    v1::RosterRule {
        members: versions(members),
        label_selector: labels.to_owned(),
        least,
        ..v1::RosterRule::default()
    }
}

fn roster(scope: &str, number: u64, age_ms: u64, rule: v1::RosterRule) -> v1::Roster {
    let sent = v1::Roster {
        metadata: Some(metadata(scope, number, age_ms)),
        scope: scope.to_owned(),
        rule: Some(rule),
        ..v1::Roster::default()
    };
    // What a roster notices follows from its rule.
    let roster = synod_client::Roster::try_from(sent).expect("it is legal");
    (&roster).into()
}
