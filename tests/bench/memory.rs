//! Measures what objects take in memory, and what a start does with their checkpoint.
//!
//! Bytes and allocations are those that the program asked for and holds, of the pure state: another process does not
//! change them. The times are of one run; compare them with those of another build in the same hour. The first number
//! after `--` is how many objects there are, 1,000,000 without one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use allocation_counter::{AllocationInfo, measure};
use bytes::Bytes;
use synod_machine::{Command, Envelope, Initialize, LogEntry, State};
use synod_model::{
    ApiVersion, Attributes, ClusterId, CollectionRules, Content, CreateCollection, CreateObject,
    Fences, GroupResource, Kind, Labels, LogTime, MediaType, Namespace, ObjectKey, ObjectName,
    Operation, Settings, Transact, WallTime,
};
use synod_store::checkpoint::{
    CHUNK_BYTES_TARGET, CheckpointHeader, CheckpointStore, RowChunks, Rows, read_state,
};
use synod_store::{LogId, RealDisk};
use tempfile::TempDir;
use tokio::time::Instant;

/// The number of objects, unless another one is asked for.
const MANY: usize = 1_000_000;

/// Bytes of data of each object.
const BYTES: usize = 64;

/// Objects that one transaction creates.
const AT_ONCE: usize = 128;

const CLUSTER: [u8; 16] = [7; 16];

const LEGAL: &str = "every name is legal";

fn main() {
    // Cargo itself passes `--bench`.
    let mut numbers = std::env::args().filter_map(|word| word.parse().ok());
    let objects = numbers.next().unwrap_or(MANY);
    println!("{objects} objects of {BYTES} bytes\n");
    println!("{:<56} {:>10} {:>12}", "", "bytes", "allocations");
    held("each object, and the history of it", objects, || {
        filled(objects, 1, Settings::default(), Attributes::default)
    });
    let forgetful = Settings {
        history_revisions: 1,
        ..Settings::default()
    };
    let without_history =
        |attributes: fn() -> Attributes| filled(objects, 1, forgetful.clone(), attributes);
    held("each object alone", objects, || {
        without_history(Attributes::default)
    });
    held("each object with three labels", objects, || {
        without_history(labelled)
    });
    held(
        "each object, 128 in a transaction, and history",
        objects,
        || filled(objects, AT_ONCE, Settings::default(), Attributes::default),
    );
    println!();
    starts(objects);
}

/// Prints what the state that is made holds for each object.
fn held(name: &str, objects: usize, make: impl FnOnce() -> State) {
    let mut state = None;
    let AllocationInfo {
        bytes_current,
        count_current,
        ..
    } = measure(|| state = Some(make()));
    drop(state);
    let each = |total: i64| total as f64 / objects as f64;
    println!(
        "{name:<56} {:>10.1} {:>12.2}",
        each(bytes_current),
        each(count_current)
    );
}

/// Prints how long it takes to load a checkpoint, in parts and as a start does it.
fn starts(objects: usize) {
    let folder = TempDir::new().expect("there is room for a checkpoint");
    let state = filled(objects, 1, Settings::default(), Attributes::default);
    let digest = state.digest();
    write(folder.path(), &state);
    drop(state);
    let (taken, opened) = timed(|| open(folder.path()));
    print("verify the file", taken);
    let mut reader = opened;
    let (taken, chunks) = timed(|| {
        let mut chunks = Vec::new();
        while let Some(chunk) = reader.next_chunk().expect("it is undamaged") {
            chunks.push(chunk);
        }
        chunks
    });
    print("read its chunks", taken);
    let (taken, rows) = timed(|| {
        let mut rows = Rows::default();
        for chunk in &chunks {
            rows.read(chunk).expect("it is undamaged");
        }
        rows
    });
    print("decode its rows, in one thread", taken);
    drop(chunks);
    let (taken, state) = timed(|| rows.state().expect("it is undamaged"));
    print("make the state of them, in one thread", taken);
    drop(state);
    for _ in 0..3 {
        let mut reader = open(folder.path());
        let (taken, state) = timed(|| read_state(&mut reader).expect("it is undamaged"));
        assert_eq!(state.digest(), digest, "it is the state that was written");
        print("read the state, as a start does", taken);
    }
}

fn print(name: &str, taken: Duration) {
    println!("{name:<56} {:>10.0} ms", taken.as_secs_f64() * 1_000.0);
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let done = work();
    (begin.elapsed(), done)
}

fn write(folder: &Path, state: &State) {
    let (store, _) = CheckpointStore::open(Arc::new(RealDisk), folder, Some(CLUSTER))
        .expect("the folder is ours");
    let last = LogId {
        term: 1,
        leader: 1,
        index: 1,
    };
    let mut writer = store
        .begin(CheckpointHeader {
            cluster_id: CLUSTER,
            last,
            meta: Bytes::new(),
        })
        .expect("the folder is ours");
    for chunk in RowChunks::new(state.rows(), CHUNK_BYTES_TARGET) {
        writer.write_chunk(&chunk).expect("the disk takes it");
    }
    writer.finish().expect("the disk takes it");
}

fn open(folder: &Path) -> synod_store::CheckpointReader {
    let (_, loaded) = CheckpointStore::open(Arc::new(RealDisk), folder, Some(CLUSTER))
        .expect("the folder is ours");
    loaded.reader.expect("it was written")
}

/// A state with this many objects, so many created by each command.
fn filled(
    objects: usize,
    at_once: usize,
    settings: Settings,
    attributes: fn() -> Attributes,
) -> State {
    let mut state = State::new();
    let settings = Settings {
        state_quota_bytes: 64 << 30,
        ..settings
    };
    let cluster = ClusterId::from_bytes(CLUSTER);
    let resource = GroupResource::new("example.io", "widgets").expect(LEGAL);
    apply(
        &mut state,
        vec![
            Command::Initialize(Initialize { cluster, settings }),
            Command::CreateCollection(CreateCollection {
                resource,
                kind: Kind::parse("Widget").expect(LEGAL),
                namespaced: true,
                rules: CollectionRules::default(),
            }),
        ],
    );
    let numbers: Vec<usize> = (0..objects).collect();
    for some in numbers.chunks(at_once) {
        let create = |at: &usize| create(*at, attributes());
        let command = if at_once == 1 {
            Command::CreateObject(create(&some[0]))
        } else {
            Command::Transact(Transact {
                compares: Vec::new(),
                operations: some.iter().map(create).map(Operation::Create).collect(),
                reads: Vec::new(),
                fences: Fences::default(),
            })
        };
        apply(&mut state, vec![command]);
    }
    state
}

/// Applies commands as they come out of the log: nothing of them is shared with those before.
fn apply(state: &mut State, commands: Vec<Command>) {
    let envelopes = commands.into_iter().map(|command| Envelope {
        actor: None,
        request: None,
        command: Arc::new(command),
    });
    let applied = state.apply(&LogEntry {
        log_time: LogTime::from_millis(1),
        lift_deadlines: false,
        wall: WallTime::from_millis(1_795_219_200_000),
        commands: envelopes.collect(),
    });
    for outcome in applied.outcomes {
        assert!(outcome.result.is_ok(), "{outcome:?}");
    }
}

fn create(at: usize, attributes: Attributes) -> CreateObject {
    let namespace = Namespace::parse("default").expect(LEGAL);
    // In no order, as most are created.
    let scattered = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let name = ObjectName::parse(&format!("{scattered:016x}")).expect(LEGAL);
    let resource = GroupResource::new("example.io", "widgets").expect(LEGAL);
    CreateObject {
        key: ObjectKey::new(resource, Some(&namespace), &name),
        attributes,
        content: Content {
            encoding: ApiVersion::parse("example.io/v1").expect(LEGAL),
            media_type: MediaType::parse("application/octet-stream").expect(LEGAL),
            data: Bytes::from(vec![7; BYTES]),
        },
        ttl: None,
        fences: Fences::default(),
    }
}

fn labelled() -> Attributes {
    let pairs = [("app", "web"), ("tier", "front"), ("track", "stable")];
    Attributes {
        labels: Labels::parse(pairs).expect(LEGAL),
        ..Attributes::default()
    }
}
