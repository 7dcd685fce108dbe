//! The test vectors for the choice among the candidates for a lease.

use synod_model::{
    HolderIdentity, LeaseCandidate, LeaseKey, Metadata, Revision, SemanticVersion, Strategy, Ttl,
    Uid, WallTime, best_strategy,
};

use crate::suite::{self, Case};
use crate::text;

// Guarantee: L-10
#[test]
fn lease_candidate_compare() {
    suite::run("lease_candidate_compare.json", 8, &[], |section, case| {
        if section == "strategy" {
            chosen_strategy(case)
        } else {
            compared(case)
        }
    });
}

fn compared(case: &Case<'_>) -> Result<(), String> {
    let side = |name: &str| {
        let fields = &case[name];
        let created = fields[2].as_u64().expect("an offset is a number");
        candidate(name, fields[0].as_str(), fields[1].as_str(), created)
    };
    let (lhs, rhs) = (side("lhs"), side("rhs"));
    let (found, back) = (lhs.compare(&rhs) as i64, rhs.compare(&lhs) as i64);
    if case["result"] == found && back == -found {
        Ok(())
    } else {
        Err(format!("compares to {found}, and {back} the other way"))
    }
}

fn chosen_strategy(case: &Case<'_>) -> Result<(), String> {
    let listed = case["candidates"].as_array().into_iter().flatten();
    let candidates: Vec<LeaseCandidate> = listed
        .map(|fields| LeaseCandidate {
            strategy: Strategy::parse(fields[1].as_str().unwrap_or_default()).expect("a strategy"),
            ..candidate(
                fields[0].as_str().unwrap_or_default(),
                None,
                fields[2].as_str(),
                1,
            )
        })
        .collect();
    let name = |chosen: Result<Option<&Strategy>, _>| match chosen {
        Ok(strategy) => strategy.map(ToString::to_string).unwrap_or_default(),
        Err(_) => "error".to_owned(),
    };
    let found = name(best_strategy(&candidates));
    let backwards = name(best_strategy(candidates.iter().rev()));
    if found == text(case, "want") && backwards == found {
        Ok(())
    } else {
        Err(format!("chooses {found:?}, and {backwards:?} from the end"))
    }
}

fn candidate(
    identity: &str,
    emulation: Option<&str>,
    binary: Option<&str>,
    created: u64,
) -> LeaseCandidate {
    LeaseCandidate {
        lease: LeaseKey::new("kube-system", "component").expect("a key"),
        identity: HolderIdentity::parse(identity).expect("an identity"),
        binary_version: SemanticVersion::or_zero(binary),
        emulation_version: Some(SemanticVersion::or_zero(emulation)),
        strategy: Strategy::OldestEmulationVersion,
        ttl: Ttl::DEFAULT,
        metadata: Metadata {
            uid: Uid::from_bytes([0; 16]),
            resource_version: Revision::new(created),
            create_revision: Revision::new(created),
            generation: 1,
            created: WallTime::default(),
        },
    }
}
