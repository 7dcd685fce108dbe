use synod_client::{Assumed, Assumption, ClusterId, Header, Revision};

use super::*;

#[test]
fn an_upgrade_that_rests_on_an_assumption_must_be_vouched_for() {
    let sure = UpgradeStatus {
        header: Header {
            cluster: ClusterId::parse("5a3e9c1e-7d41-8b2a-9f00-4c1d2e3f4a5b").unwrap(),
            replica_id: 1,
            revision: Revision::new(7),
            raft_term: 1,
            age: None,
        },
        may_go_on: true,
        message: String::new(),
        obstacles: Vec::new(),
        omitted: 0,
        assumptions: Vec::new(),
        expiring_known: true,
    };
    let assumed = UpgradeStatus {
        assumptions: vec![Assumed {
            reason: Assumption::NoRoster,
            message: Assumption::NoRoster.sentence(false).to_owned(),
            resources: Vec::new(),
            omitted: 0,
        }],
        ..sure.clone()
    };
    let obstructed = UpgradeStatus {
        may_go_on: false,
        ..sure.clone()
    };
    for (status, alone, vouched) in [
        (&sure, Exit::Ok, Exit::Ok),
        (&assumed, Exit::Disagree, Exit::Ok),
        (&obstructed, Exit::Disagree, Exit::Disagree),
    ] {
        let exits = (exit(status, false), exit(status, true));
        assert_eq!(exits, (alone, vouched));
    }
}
