//! The entries of reports, and the names that the random logs use.

use std::cell::Cell;
use std::collections::BTreeSet;

use synod_machine::State;
use synod_model::{
    ApiVersion, GroupResource, InstanceId, Kind, MemberId, ReportEntry, Sequence, Stance,
};

use super::LEGAL;
use crate::calls::{Says, VERSIONS};

/// What the member reported; if votes are to change, with votes for the next decoded version.
pub(super) fn reported_before(
    id: &MemberId,
    other_preference: bool,
    state: &State,
) -> Vec<ReportEntry> {
    let present = state.present();
    let entries = present.storage_versions(None).filter_map(|version| {
        let row = version.entry(id)?;
        let mut stance = row.stance.clone();
        if let Stance::Voting { preferred } = &mut stance
            && other_preference
            && !version.resource.group().starts_with("features.")
        {
            let decodable = row.decodable.iter();
            let next = decodable
                .cycle()
                .skip_while(|version| *version != preferred)
                .nth(1);
            *preferred = next.expect("a preference is decodable").clone();
        }
        Some(ReportEntry {
            resource: version.resource.clone(),
            kind: row.kind.clone(),
            decodable: row.decodable.clone(),
            served: row.served.clone(),
            stance,
        })
    });
    entries.collect()
}

/// The entries, the first for each resource: the protocol refuses duplicates beforehand.
pub(super) fn report_entries(entries: &[Says]) -> Vec<ReportEntry> {
    let mut seen = BTreeSet::new();
    let is_lawless = entries.iter().any(|says| says.lawless);
    let entries = entries.iter();
    entries
        .filter(|says| seen.insert(says.resource) || is_lawless)
        .map(report_entry)
        .collect()
}

/// What a client of the protocol can say of topics: it votes, and it has all levels of a feature up to one.
fn as_the_topic_demands(says: &Says) -> Says {
    let mut says = says.clone();
    if !ABOUT_TOPICS.get() || says.lawless || says.resource > 1 {
        return says;
    }
    says.votes = true;
    if says.resource == 1 {
        let levels = says.decodable.count_ones();
        says.decodable = (1 << levels) - 1;
        says.version = levels as usize - 1;
    }
    says
}

pub(super) fn report_entry(says: &Says) -> ReportEntry {
    let says = &as_the_topic_demands(says);
    let chosen = |bits: u8| (0..VERSIONS).filter(move |i| bits & (1 << i) != 0);
    let decodable: Vec<usize> = chosen(says.decodable).collect();
    let named = version(match says.lawless {
        true => says.version,
        false => decodable[says.version % decodable.len()],
    });
    ReportEntry {
        resource: resource(says.resource),
        kind: kind(says.kind),
        decodable: decodable.iter().map(|i| version(*i)).collect(),
        served: chosen(says.decodable & says.served).map(version).collect(),
        stance: match says.votes {
            true => Stance::Voting { preferred: named },
            false => Stance::Fixed { encoding: named },
        },
    }
}

pub(super) fn member(who: usize) -> MemberId {
    MemberId::parse(&format!("server-{who}")).expect(LEGAL)
}

pub(super) fn kind(which: usize) -> Kind {
    Kind::parse(["Widget", "Gadget"][which]).expect(LEGAL)
}

pub(super) fn instance_id(which: usize) -> InstanceId {
    InstanceId::parse(&format!("process-{which}")).expect(LEGAL)
}

thread_local! {
    /// Whether two of the resources are topics of other kinds than encodings.
    static ABOUT_TOPICS: Cell<bool> = const { Cell::new(false) };
}

/// From here on the logs are about keys and features, too, or about encodings alone.
pub(crate) fn speak_of_topics(about_topics: bool) {
    ABOUT_TOPICS.set(about_topics);
}

pub(super) fn resource(which: usize) -> GroupResource {
    let encodings = [("", "pods"), ("apps", "deployments"), ("batch", "jobs")];
    let topics = [
        ("keys.synod", "secrets"),
        ("features.synod", "locks"),
        ("batch", "jobs"),
    ];
    let names = if ABOUT_TOPICS.get() {
        topics
    } else {
        encodings
    };
    let (group, resource) = names[which];
    GroupResource::new(group, resource).expect(LEGAL)
}

pub(super) fn version(which: usize) -> ApiVersion {
    ApiVersion::parse(&format!("v{}", which + 1)).expect(LEGAL)
}

pub(super) fn sequence(number: u64) -> Sequence {
    Sequence::new(number).expect(LEGAL)
}
