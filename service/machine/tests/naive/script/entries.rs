//! The entries of reports, and the names that the random logs use.

use std::cell::Cell;
use std::collections::BTreeSet;

use synod_machine::State;
use synod_model::{
    ApiVersion, GroupResource, InstanceId, Kind, MemberId, ReportEntry, SERVED, Sequence, Stance,
    StoredIn, TopicKind, WITHDRAWN, WallTime,
};

use super::LEGAL;
use crate::calls::{NAMES, RESOURCES, Says, VERSIONS};

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
            serve_until: row.serve_until,
            stored: row.stored,
            equivalents: row.equivalents.clone(),
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

/// What a client of the protocol can say of topics: it votes, it has all levels of a feature up to one, and it can refrain from
/// serving any version.
fn as_the_topic_demands(says: &Says) -> Says {
    let mut says = says.clone();
    if ABOUT.get() == About::Encodings || says.lawless || says.resource > 1 {
        return says;
    }
    says.votes = true;
    if ABOUT.get() == About::Served {
        says.decodable = says.decodable & 3 | 1;
    } else if says.resource == 1 && ABOUT.get() == About::KeysAndFeatures {
        let levels = says.decodable.count_ones();
        says.decodable = (1 << levels) - 1;
        says.version = levels as usize - 1;
    }
    says
}

/// The date that a server names of a version that it can serve: near, a little later, or too far away.
fn date(says: &Says) -> Option<WallTime> {
    const FAR_MS: u64 = 4 * 366 * 24 * 60 * 60 * 1_000;
    let after_ms = match (says.served, says.kind) {
        (1, _) => 4_000,
        (2, 0) => 15_000,
        (2, _) => FAR_MS,
        _ => return None,
    };
    let is_of_version = ABOUT.get() == About::Served && says.resource <= 1;
    is_of_version.then(|| WallTime::from_millis(BEGIN_WALL_MS + after_ms))
}

pub(super) fn report_entry(says: &Says) -> ReportEntry {
    let says = &as_the_topic_demands(says);
    let version = |which| value(says.resource, which);
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
        serve_until: date(says),
        stored: match says.outside {
            true => StoredIn::Outside,
            false => StoredIn::Collection,
        },
        equivalents: told_by(says),
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

/// What two of the three resources are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Encodings,
    KeysAndFeatures,
    Served,
    /// Keys of two resources that may be one store.
    EquivalentKeys,
}

/// The wall clock at the beginning of each log.
pub(super) const BEGIN_WALL_MS: u64 = 1_700_000_000_000;

thread_local! {
    static ABOUT: Cell<About> = const { Cell::new(About::Encodings) };
}

/// From here on the logs are about topics of these kinds, too, or about encodings alone.
pub(crate) fn speak_of(about: About) {
    ABOUT.set(about);
}

/// The resource with this number; beyond those that are reported, the ones that may be names of one store.
pub(super) fn resource(which: usize) -> GroupResource {
    if which >= RESOURCES {
        return name(which - RESOURCES);
    }
    let names = match ABOUT.get() {
        About::Encodings => [("", "pods"), ("apps", "deployments"), ("batch", "jobs")],
        About::KeysAndFeatures => [
            ("keys.synod", "secrets"),
            ("features.synod", "locks"),
            ("batch", "jobs"),
        ],
        About::Served => [
            ("widgets.served.synod", "v1beta1"),
            ("gadgets.example.io.served.synod", "v1"),
            ("batch", "jobs"),
        ],
        About::EquivalentKeys => [
            ("keys.synod", "secrets"),
            ("vault.keys.synod", "secrets"),
            ("batch", "jobs"),
        ],
    };
    let (group, resource) = names[which];
    GroupResource::new(group, resource).expect(LEGAL)
}

/// A resource that may be one store with others, or a topic, which cannot.
pub(super) fn name(which: usize) -> GroupResource {
    let keys = [("", "secrets"), ("vault", "secrets")];
    let (group, resource) = match which {
        3 => ("zoo", "ingresses"),
        4 => ("keys.synod", "secrets"),
        0 | 1 if ABOUT.get() == About::EquivalentKeys => keys[which],
        _ => return resource(which),
    };
    GroupResource::new(group, resource).expect(LEGAL)
}

/// The other names that an entry tells, of which a client of the protocol names stores alone.
fn told_by(says: &Says) -> BTreeSet<GroupResource> {
    let own = resource(says.resource);
    let told = (0..NAMES).filter(|i| says.equivalents & (1 << i) != 0);
    let mut told: BTreeSet<GroupResource> = told.map(name).collect();
    let is_store = |name: &GroupResource| TopicKind::of(name) == TopicKind::Encoding;
    if !says.lawless {
        told.remove(&own);
        told.retain(|name| is_store(name) && is_store(&own));
    }
    told
}

/// A version of a resource, or the value of a topic.
fn value(of: usize, which: usize) -> ApiVersion {
    match [WITHDRAWN, SERVED].get(which) {
        Some(value) if ABOUT.get() == About::Served && of <= 1 => {
            ApiVersion::parse(value).expect(LEGAL)
        }
        _ => version(which),
    }
}

pub(super) fn version(which: usize) -> ApiVersion {
    ApiVersion::parse(&format!("v{}", which + 1)).expect(LEGAL)
}

pub(super) fn sequence(number: u64) -> Sequence {
    Sequence::new(number).expect(LEGAL)
}
