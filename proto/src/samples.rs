//! Strategies of property tests: any legal value of each type.

mod controller_revisions;
mod migrations;
mod objects;
mod rosters;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use synod_model::limits::SERVE_UNTIL_MS_MAX;
use synod_model::{
    ApiVersion, BinaryVersion, ClusterId, Condition, ConditionStatus, Current, Endpoint, Epoch,
    ErrorKind, FencingToken, GroupResource, Hold, HolderIdentity, InstanceId, Kind, Labels, Lease,
    LeaseCandidate, LeaseKey, Member, MemberId, Metadata, Persisted, Phase, Refusal, ReportEntry,
    RequestId, Revision, SERVED, SemanticVersion, Sequence, SessionId, Settings, SettingsPatch,
    Stance, StatementNumber, StorageVersionHash, StoredIn, Strategy as LeaseStrategy, Switch,
    Ticket, Ttl, Uid, VersionSet, Violation, WITHDRAWN, WallTime, settings,
};

pub(crate) use controller_revisions::*;
pub(crate) use migrations::*;
pub(crate) use objects::{
    collection, compare, field_selector, label_selector, namespace, object, object_key, operation,
    preconditions,
};
pub(crate) use rosters::{
    absent, agreement_cause, assumption, binary, resource_scope, roster, roster_rule,
};

pub(crate) fn revision() -> impl Strategy<Value = Revision> {
    (1..=u64::MAX).prop_map(Revision::new)
}

pub(crate) fn epoch() -> impl Strategy<Value = Epoch> {
    revision().prop_map(Epoch::new)
}

pub(crate) fn statement() -> impl Strategy<Value = StatementNumber> {
    (1..=u64::MAX).prop_map(|number| StatementNumber::new(number).expect("it is above zero"))
}

pub(crate) fn session() -> impl Strategy<Value = SessionId> {
    revision().prop_map(SessionId::new)
}

pub(crate) fn sequence() -> impl Strategy<Value = Sequence> {
    (1..=u64::MAX).prop_map(|number| Sequence::new(number).unwrap())
}

pub(crate) fn request_id() -> impl Strategy<Value = RequestId> {
    (session(), sequence(), sequence())
        .prop_map(|(session, a, b)| RequestId::new(session, a.max(b), a.min(b)).unwrap())
}

pub(crate) fn cluster() -> impl Strategy<Value = ClusterId> {
    any::<[u8; 16]>().prop_map(ClusterId::from_bytes)
}

pub(crate) fn member_id() -> impl Strategy<Value = MemberId> {
    "[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?(\\.[a-z0-9]{1,10}){0,2}"
        .prop_map(|text| MemberId::parse(&text).unwrap())
}

pub(crate) fn instance() -> impl Strategy<Value = InstanceId> {
    "[A-Za-z0-9]([A-Za-z0-9._-]{0,30}[A-Za-z0-9])?"
        .prop_map(|text| InstanceId::parse(&text).unwrap())
}

pub(crate) fn ttl() -> impl Strategy<Value = Ttl> {
    (1_000..=86_400_000_u64).prop_map(|ms| Ttl::from_millis(ms).unwrap())
}

pub(crate) fn labels() -> impl Strategy<Value = Labels> {
    btree_map(
        "([a-z]{1,8}\\.example/)?[a-z]([-a-z0-9]{0,10}[a-z0-9])?",
        "([A-Za-z0-9]{0,12})",
        0..5,
    )
    .prop_map(|pairs| Labels::parse(&pairs).unwrap())
}

pub(crate) fn binary_version() -> impl Strategy<Value = BinaryVersion> {
    "[ -~]{0,40}".prop_map(|text| BinaryVersion::parse(&text).unwrap())
}

pub(crate) fn endpoint() -> impl Strategy<Value = Endpoint> {
    "[ -~]{0,40}".prop_map(|text| Endpoint::parse(&text).unwrap())
}

pub(crate) fn resource() -> impl Strategy<Value = GroupResource> {
    (
        select(vec!["", "apps", "example.com", "core.example"]),
        "[a-z][a-z0-9]{0,10}",
    )
        .prop_map(|(group, resource)| GroupResource::new(group, &resource).unwrap())
}

pub(crate) fn kind() -> impl Strategy<Value = Kind> {
    "[A-Z][A-Za-z0-9]{0,20}".prop_map(|text| Kind::parse(&text).unwrap())
}

pub(crate) fn api_version() -> impl Strategy<Value = ApiVersion> {
    "([a-z]{1,8}\\.example/)?v[1-9](alpha[1-9]|beta[1-9])?"
        .prop_map(|text| ApiVersion::parse(&text).unwrap())
}

pub(crate) fn report_entry() -> impl Strategy<Value = ReportEntry> {
    prop_oneof![4 => entry_of_an_encoding(), 1 => entry_of_a_version()]
}

/// The entry of a topic that alone may name a date.
fn entry_of_a_version() -> impl Strategy<Value = ReportEntry> {
    let date = option::of((1..=SERVE_UNTIL_MS_MAX).prop_map(WallTime::from_millis));
    (kind(), any::<bool>(), date).prop_map(|(kind, wants, serve_until)| {
        let values = [SERVED, WITHDRAWN].map(|value| ApiVersion::parse(value).unwrap());
        let preferred = values[usize::from(!wants)].clone();
        ReportEntry {
            resource: GroupResource::new("widgets.example.com.served.synod", "v1beta1").unwrap(),
            kind,
            decodable: values.into_iter().collect(),
            served: VersionSet::default(),
            stance: Stance::Voting { preferred },
            serve_until,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        }
    })
}

fn entry_of_an_encoding() -> impl Strategy<Value = ReportEntry> {
    (
        resource(),
        kind(),
        vec(api_version(), 1..6),
        any::<proptest::sample::Index>(),
        any::<u8>(),
        any::<bool>(),
        select(vec![StoredIn::Outside, StoredIn::Collection]),
    )
        .prop_map(
            |(resource, kind, decodable, named, served, fixed, stored)| {
                let named = named.get(&decodable).clone();
                let served = decodable
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| served >> i & 1 == 1);
                let served = served.map(|(_, version)| version.clone()).collect();
                let stance = if fixed {
                    Stance::Fixed { encoding: named }
                } else {
                    Stance::Voting { preferred: named }
                };
                ReportEntry {
                    resource,
                    kind,
                    decodable: decodable.into_iter().collect(),
                    served,
                    stance,
                    serve_until: None,
                    stored,
                    equivalents: BTreeSet::new(),
                }
            },
        )
}

/// Entries of different resources.
pub(crate) fn report_entries() -> impl Strategy<Value = Vec<ReportEntry>> {
    vec(report_entry(), 0..6).prop_map(|entries| {
        let by_resource: BTreeMap<_, _> = entries
            .into_iter()
            .map(|entry| (entry.resource.clone(), entry))
            .collect();
        by_resource.into_values().collect()
    })
}

pub(crate) fn metadata() -> impl Strategy<Value = Metadata> {
    (any::<[u8; 16]>(), any::<[u64; 3]>(), any::<u64>()).prop_map(|(uid, numbers, created)| {
        Metadata {
            uid: Uid::from_bytes(uid),
            resource_version: Revision::new(numbers[0]),
            create_revision: Revision::new(numbers[1]),
            generation: numbers[2],
            created: WallTime::from_millis(created),
        }
    })
}

pub(crate) fn member() -> impl Strategy<Value = Member> {
    let process = (member_id(), instance(), epoch(), ttl(), labels());
    let says = (
        binary_version(),
        endpoint(),
        select(vec![Phase::Joining, Phase::Ready]),
        any::<(bool, bool)>(),
    );
    (process, says, metadata()).prop_map(
        |(
            (id, instance, epoch, ttl, labels),
            (version, endpoint, phase, (reported, gated)),
            metadata,
        )| {
            Member {
                id,
                instance,
                epoch,
                ttl,
                labels,
                version,
                endpoint,
                phase,
                metadata,
                reported,
                gated,
            }
        },
    )
}

pub(crate) fn condition() -> impl Strategy<Value = Condition> {
    let statuses = vec![
        ConditionStatus::True,
        ConditionStatus::False,
        ConditionStatus::Unknown,
    ];
    (
        "[A-Z][a-z]{0,9}",
        select(statuses),
        ".{0,20}",
        any::<[u64; 3]>(),
    )
        .prop_map(|(kind, status, text, numbers)| Condition {
            kind: kind.clone(),
            status,
            reason: kind,
            message: text,
            observed_generation: numbers[0],
            transition: WallTime::from_millis(numbers[1]),
            transition_revision: Revision::new(numbers[2]),
        })
}

pub(crate) fn persisted() -> impl Strategy<Value = Persisted> {
    let known = (any::<[u8; 8]>(), option::of(api_version())).prop_map(|(hash, version)| {
        Persisted::Version {
            hash: StorageVersionHash::from_bytes(hash),
            version,
        }
    });
    prop_oneof![Just(Persisted::Unknown), known]
}

fn within(setting: settings::Setting) -> impl Strategy<Value = u64> {
    setting.min..=setting.max
}

fn count(setting: settings::Setting) -> impl Strategy<Value = u32> {
    within(setting).prop_map(|count| u32::try_from(count).unwrap())
}

fn span(setting: settings::Setting) -> impl Strategy<Value = Duration> {
    within(setting).prop_map(Duration::from_millis)
}

fn resources() -> impl Strategy<Value = BTreeSet<GroupResource>> {
    btree_set(resource(), 0..4)
}

/// A value of a setting within its bounds.
trait Within: Sized {
    fn within(setting: settings::Setting) -> BoxedStrategy<Self>;
}

impl Within for u64 {
    fn within(setting: settings::Setting) -> BoxedStrategy<Self> {
        within(setting).boxed()
    }
}

impl Within for u32 {
    fn within(setting: settings::Setting) -> BoxedStrategy<Self> {
        count(setting).boxed()
    }
}

impl Within for Duration {
    fn within(setting: settings::Setting) -> BoxedStrategy<Self> {
        span(setting).boxed()
    }
}

impl Within for BTreeSet<GroupResource> {
    fn within(_: settings::Setting) -> BoxedStrategy<Self> {
        resources().boxed()
    }
}

impl Within for Switch {
    fn within(_: settings::Setting) -> BoxedStrategy<Self> {
        select(vec![Self::On, Self::Off]).boxed()
    }
}

macro_rules! patches {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        pub(crate) fn patch() -> impl Strategy<Value = SettingsPatch> {
            // Boxed one by one: a type that grows with each setting needs more stack than a test has.
            let patches = Just(SettingsPatch::default()).boxed();
            $(let patches = (patches, option::of(<$of>::within(settings::$row)))
                .prop_map(|(patch, $field)| SettingsPatch { $field, ..patch })
                .boxed();)*
            patches
        }
    };
}

synod_model::settings_table!(patches);

pub(crate) fn settings() -> impl Strategy<Value = Settings> {
    (patch(), revision()).prop_map(|(patch, revision)| Settings {
        revision,
        ..patch.applied_to(&Settings::default())
    })
}

pub(crate) fn lease_key() -> impl Strategy<Value = LeaseKey> {
    (
        "[a-z]{1,8}(-[a-z0-9]{1,4})?",
        "[a-z]{1,8}(\\.[a-z0-9]{1,6})?",
    )
        .prop_map(|(namespace, name)| LeaseKey::new(&namespace, &name).unwrap())
}

pub(crate) fn holder() -> impl Strategy<Value = HolderIdentity> {
    "[!-~]{1,20}".prop_map(|text| HolderIdentity::parse(&text).unwrap())
}

pub(crate) fn fencing_token() -> impl Strategy<Value = FencingToken> {
    revision().prop_map(FencingToken::new)
}

pub(crate) fn semantic_version() -> impl Strategy<Value = SemanticVersion> {
    (0..3_u64, 0..40_u64)
        .prop_map(|(major, minor)| SemanticVersion::parse(&format!("{major}.{minor}.0")).unwrap())
}

pub(crate) fn strategy() -> impl Strategy<Value = LeaseStrategy> {
    select(vec!["OldestEmulationVersion", "example.com/Mine"])
        .prop_map(|text| LeaseStrategy::parse(text).unwrap())
}

fn hold() -> impl Strategy<Value = Hold> {
    let given = (holder(), fencing_token(), option::of(revision()), ttl());
    (given, option::of((member_id(), epoch())), any::<u64>()).prop_map(
        |((holder, token, ticket, ttl), member, acquired)| Hold {
            holder,
            token,
            ticket: ticket.map(Ticket::new),
            ttl,
            member,
            acquired: WallTime::from_millis(acquired),
        },
    )
}

pub(crate) fn lease() -> impl Strategy<Value = Lease> {
    let held = (option::of(hold()), any::<u64>(), option::of(holder()));
    (lease_key(), held, metadata()).prop_map(|(key, (hold, transitions, preferred), metadata)| {
        Lease {
            key,
            hold,
            transitions,
            preferred,
            metadata,
        }
    })
}
pub(crate) fn lease_candidate() -> impl Strategy<Value = LeaseCandidate> {
    let versions = (semantic_version(), option::of(semantic_version()));
    (
        lease_key(),
        holder(),
        versions,
        strategy(),
        ttl(),
        metadata(),
    )
        .prop_map(
            |(lease, identity, (binary_version, emulation_version), strategy, ttl, metadata)| {
                LeaseCandidate {
                    lease,
                    identity,
                    binary_version,
                    emulation_version,
                    strategy,
                    ttl,
                    metadata,
                }
            },
        )
}
/// A refusal that is small enough to fit in a status as a whole.
pub(crate) fn refusal() -> impl Strategy<Value = Refusal> {
    let current = prop_oneof![
        Just(None),
        settings().prop_map(|settings| Some(Current::Settings(settings))),
        member().prop_map(|member| Some(Current::Member(member))),
        controller_revision().prop_map(|revision| Some(Current::ControllerRevision(revision))),
        lease().prop_map(|lease| Some(Current::Lease(lease))),
        roster().prop_map(|roster| Some(Current::Roster(Arc::new(roster)))),
    ];
    let violation = ("[a-z]{0,8}", ".{0,20}").prop_map(|(field, rule)| Violation { field, rule });
    (
        select(ErrorKind::ALL.to_vec()),
        ".{0,40}",
        vec(violation, 0..4),
        btree_map("[a-z]{1,8}", ".{0,8}", 0..4),
        current,
    )
        .prop_map(|(kind, message, violations, metadata, current)| Refusal {
            kind,
            message,
            violations,
            metadata,
            current: current.map(Box::new),
        })
}
