use synod_client::{Assumed, Assumption, ClusterId, Header, Revision};

use super::*;

#[test]
fn an_agreement_that_rests_on_an_assumption_must_be_vouched_for() {
    let sure = Agreement {
        header: Header {
            cluster: ClusterId::parse("5a3e9c1e-7d41-8b2a-9f00-4c1d2e3f4a5b").unwrap(),
            replica_id: 1,
            revision: Revision::new(7),
            raft_term: 1,
            age: None,
        },
        agreed: true,
        obstacles: Vec::new(),
        resources: Vec::new(),
        omitted: 0,
        left_over: Vec::new(),
        left_over_omitted: 0,
        assumptions: Vec::new(),
    };
    let assumed = Agreement {
        assumptions: vec![Assumed {
            reason: Assumption::NoRoster,
            message: Assumption::NoRoster.sentence(false).to_owned(),
            resources: Vec::new(),
            omitted: 0,
        }],
        ..sure.clone()
    };
    let disagreed = Agreement {
        agreed: false,
        ..sure.clone()
    };
    for (agreement, alone, vouched) in [
        (&sure, Exit::Ok, Exit::Ok),
        (&assumed, Exit::Disagree, Exit::Ok),
        (&disagreed, Exit::Disagree, Exit::Disagree),
    ] {
        let exits = (exit(agreement, false), exit(agreement, true));
        assert_eq!(exits, (alone, vouched));
    }
}
