//! Measures the state machine alone, with a thousand objects and with a thousand times as many.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Command, Envelope, Expire, Initialize, LogEntry, State};
use synod_model::{
    ApiVersion, Attributes, ClusterId, CollectionRules, CreateCollection, CreateObject,
    DeleteObject, Kind, LabelSelector, Labels, LogTime, ObjectName, OwnerReference,
    OwnerReferences, Preconditions, Settings, Ttl, TtlChange, UpdateObject, WallTime,
};
use tokio::time::Instant;

use crate::sample::print_time;
use crate::sample::resident_kib;
use crate::stored::{LEGAL, content, key, resource};
use crate::{BYTES, FEW, MANY};

/// How often each query is timed.
const ROUNDS: usize = 101;

/// How many objects each of the small groups has.
const GROUP: usize = 10;

/// A query of a state, with its name.
type Deed = (&'static str, Box<dyn Fn(&State) -> usize>);

pub(crate) fn machine() {
    println!("the machine alone, objects of {BYTES} bytes of data\n");
    let (few, _) = measured_state(FEW, true);
    let (plain, kib) = measured_state(MANY, false);
    let bytes = |kib: f64| kib * 1_024.0 / MANY as f64;
    let name = "memory of an object";
    println!("{name:<64} {:>10.0} B", bytes(kib));
    let (many, kib) = measured_state(MANY, true);
    let name = "memory of an object with a label";
    println!("{name:<64} {:>10.0} B", bytes(kib));
    let begin = Instant::now();
    assert_eq!(many.recompute_digest(), many.digest());
    print_time("digest of the whole state, computed anew", begin.elapsed());
    drop(plain);
    println!("\n{:<64} {:>12} {:>12} {:>8}", "", FEW, MANY, "ratio");
    for (name, deed) in deeds() {
        let (small, large) = (median(&few, &deed), median(&many, &deed));
        println!(
            "{name:<64} {:>9.1} us {:>9.1} us {:>8.2}",
            micros(small),
            micros(large),
            large.as_secs_f64() / small.as_secs_f64()
        );
    }
    println!();
}

fn micros(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1_000_000.0
}

fn median(state: &State, deed: &dyn Fn(&State) -> usize) -> Duration {
    let mut taken: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            let touched = deed(state);
            let taken = begin.elapsed();
            assert!(touched > 0, "there is something to find");
            taken
        })
        .collect();
    taken.sort();
    taken[ROUNDS / 2]
}

fn deeds() -> Vec<Deed> {
    let change = |name, command: fn(&State) -> Command| -> Deed {
        let deed = move |state: &State| {
            let command = command(state);
            apply(&mut state.clone(), vec![command])
        };
        (name, Box::new(deed))
    };
    let select = |name, selector: &'static str, page: usize| -> Deed {
        let selector = LabelSelector::parse(selector).expect(LEGAL);
        let deed = move |state: &State| {
            let past = state.present();
            let found = past.objects(&resource(), None, &selector, None);
            found.take(page).count()
        };
        (name, Box::new(deed))
    };
    vec![
        (
            "read an object",
            Box::new(|state| state.present().object(&key(0)).iter().count()),
        ),
        change("update an object", |_| update(17)),
        change("delete an owner with its ten dependents", |_| {
            Command::DeleteObject(DeleteObject {
                key: key(0),
                propagation: None,
                preconditions: Preconditions::default(),
                fences: Default::default(),
            })
        }),
        change("expire ten objects", |state| {
            let due = state.due(long_after(), 1_000);
            let mut expire = Expire::default();
            for holder in due.holders {
                if let synod_machine::Holder::Object(key) = holder {
                    expire.objects.insert(key);
                }
            }
            assert_eq!(expire.objects.len(), GROUP);
            Command::Expire(expire)
        }),
        select("list the ten of a label", "rare=yes", 500),
        select("list the ten that have a label", "rare", 500),
        select(
            "list the ten of two labels, one of which all have",
            "app=web,rare",
            500,
        ),
        select("a page of 500 of a label that all have", "app=web", 500),
        select("a page of 500 that have a label that all have", "app", 500),
        select("a page of 500 of all", "", 500),
        (
            "find a name in ten namespaces",
            Box::new(|state| {
                let name = ObjectName::parse(key(5).name.name()).expect(LEGAL);
                state
                    .present()
                    .objects_named(&resource(), &name, None)
                    .count()
            }),
        ),
    ]
}

fn update(at: usize) -> Command {
    Command::UpdateObject(UpdateObject {
        key: key(at),
        attributes: Attributes::default(),
        content: content(1, BYTES),
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Default::default(),
    })
}

/// A state with this many objects, and by how many KiB this process has grown with it.
fn measured_state(objects: usize, labelled: bool) -> (State, f64) {
    let before = resident_kib(std::process::id());
    let begin = Instant::now();
    let state = state(objects, labelled);
    if objects == MANY {
        print_time("apply of 1,000,000 creates", begin.elapsed());
    }
    let grown = resident_kib(std::process::id()) - before;
    (state, grown)
}

fn state(objects: usize, labelled: bool) -> State {
    let mut state = State::new();
    let settings = Settings {
        state_quota_bytes: 8 << 30,
        // Little history, since the memory of the present state is measured.
        history_revisions: 100,
        ..Settings::default()
    };
    let cluster = ClusterId::from_bytes([7; 16]);
    apply(
        &mut state,
        vec![Command::Initialize(Initialize { cluster, settings })],
    );
    apply(
        &mut state,
        vec![Command::CreateCollection(CreateCollection {
            resource: resource(),
            kind: kind(),
            namespaced: true,
            rules: CollectionRules {
                unconditional_update: true,
                ..CollectionRules::default()
            },
        })],
    );
    let mut at = 0;
    while at < objects {
        let end = (at + 128).min(objects);
        let creates = (at..end).map(|at| create(&state, at, labelled)).collect();
        assert_eq!(apply(&mut state, creates), end - at);
        at = end;
    }
    state
}

/// Object 0 owns a group of objects; another group has a TTL, and another one the rare label.
fn create(state: &State, at: usize, labelled: bool) -> Command {
    let namespaced = |index: usize| index * crate::NAMESPACES;
    let mut labels = Vec::new();
    if labelled {
        labels.push(("app", "web"));
    }
    let group = at.is_multiple_of(namespaced(1));
    let group = group
        .then_some(at / namespaced(1) / GROUP)
        .filter(|_| at > namespaced(GROUP));
    if labelled && group == Some(3) {
        labels.push(("rare", "yes"));
    }
    let mut attributes = Attributes {
        labels: Labels::parse(labels).expect(LEGAL),
        ..Attributes::default()
    };
    // The owner was created in an earlier entry.
    if group == Some(2)
        && let Some(owner) = state.present().object(&key(0))
    {
        let reference = OwnerReference {
            api_version: ApiVersion::parse("example.io/v1").expect(LEGAL),
            kind: kind(),
            name: ObjectName::parse(owner.key.name.name()).expect(LEGAL),
            uid: owner.metadata.uid,
            controller: true,
            block_owner_deletion: false,
        };
        attributes.owners = OwnerReferences::new(vec![reference]).expect(LEGAL);
    }
    Command::CreateObject(CreateObject {
        key: key(at),
        attributes,
        content: content(at as u64, BYTES),
        ttl: (group == Some(4)).then_some(Ttl::MIN),
        fences: Default::default(),
    })
}

fn kind() -> Kind {
    Kind::parse("Widget").expect(LEGAL)
}

fn long_after() -> LogTime {
    LogTime::from_millis(1_000_000)
}

/// Applies commands as one entry, and returns how many of them changed something.
fn apply(state: &mut State, commands: Vec<Command>) -> usize {
    let expires = matches!(commands.first(), Some(Command::Expire(_)));
    let envelopes = commands.into_iter().map(|command| Envelope {
        actor: None,
        request: None,
        command: Arc::new(command),
    });
    let entry = LogEntry {
        log_time: if expires {
            long_after()
        } else {
            LogTime::from_millis(1)
        },
        lift_deadlines: false,
        wall: WallTime::from_millis(1_795_219_200_000),
        commands: envelopes.collect(),
    };
    let applied = state.apply(&entry);
    let changed = applied.outcomes.iter().filter(|outcome| outcome.changed);
    changed.count()
}
