//! The paths of a change through the crates: what its message costs until it is a command, what it costs to write and read
//! the command, and what it costs to apply it. What a replica does besides is counted in `service/server/src/costs.rs`.

use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use prost::{Message, Name};
use synod_machine::{Command, LogEntry, Outcome, State};
use synod_model::stored;
use synod_proto::{Change, LeaseRenewal, codec, v1};
use synod_store::{Disk as _, Log, LogConfig, LogId, LogRecord, RealDisk};
use tempfile::TempDir;

use crate::counted::Count;
use crate::workload::{self, Scale};

/// The kind of commands whose entries are appended to a log: the log does not look into them.
const APPENDED: &str = "update";

/// Goes through all paths of each kind of command.
pub(crate) fn paths(scale: Scale, count: &mut Count<'_>) {
    workload::run(scale, &mut |state, kind, commands| {
        receive(count, kind, &commands);
        let operations = commands.len();
        let entries = workload::entries(commands);
        let mut envelopes = Vec::with_capacity(operations);
        count(&format!("propose {kind}"), operations, &mut || {
            let all = entries.iter().flat_map(|entry| &entry.commands);
            envelopes.extend(all.map(stored::to_bytes));
        });
        let written: Vec<Bytes> = entries.iter().map(stored::to_bytes).collect();
        if kind == APPENDED {
            append(count, &written);
        }
        let mut read = Vec::new();
        count(&format!("read {kind}"), operations, &mut || {
            read = workload::read(&written);
        });
        let mut outcomes = Vec::with_capacity(operations);
        count(&format!("apply {kind}"), operations, &mut || {
            apply(state, &read, &mut outcomes);
        });
        outcomes
    });
}

/// Applies the entries. A clone of the state is held, as readers hold one.
fn apply(state: &mut State, entries: &[LogEntry], outcomes: &mut Vec<Outcome>) {
    let mut held = state.clone();
    for entry in entries {
        let applied = state.apply(entry);
        held = state.clone();
        outcomes.extend(applied.outcomes);
    }
    drop(held);
}

/// The messages that ask for the commands of one kind.
macro_rules! messages {
    ($commands:expr, $of:ident, $message:expr) => {
        $commands
            .iter()
            .map(|command| match command {
                Command::$of(request) => $message(request.clone()),
                other => panic!("all commands of a kind are alike, not {other:?}"),
            })
            .collect()
    };
}

/// Reads and checks the messages that ask for these commands.
fn receive(count: &mut Count<'_>, kind: &str, commands: &[Command]) {
    match &commands[0] {
        Command::UpdateObject(_) => {
            let sent = messages!(commands, UpdateObject, |it| (&Change::new(it)).into());
            received::<v1::ObjectsUpdateRequest, Change<_>>(count, kind, sent);
        }
        Command::CreateObject(_) => {
            let sent = messages!(commands, CreateObject, |it| (&Change::new(it)).into());
            received::<v1::ObjectsCreateRequest, Change<_>>(count, kind, sent);
        }
        Command::AcquireLease(_) => {
            let sent = messages!(commands, AcquireLease, |it| (&Change::new(it)).into());
            received::<v1::LeasesAcquireRequest, Change<_>>(count, kind, sent);
        }
        Command::RenewLease(_) => {
            let renewal = |renew| LeaseRenewal::Lease {
                renew,
                cluster: None,
            };
            let sent = messages!(commands, RenewLease, |it| v1::LeasesRenewRequest::of(
                &renewal(it),
                1
            ));
            received::<_, LeaseRenewal>(count, kind, sent);
        }
        Command::Join(_) => {
            let sent = messages!(commands, Join, |it| (&Change::new(it)).into());
            received::<v1::MembershipJoinRequest, Change<_>>(count, kind, sent);
        }
        Command::Renew(_) => {
            let sent = messages!(commands, Renew, |it| v1::MembershipRenewRequest::of(
                &Change::new(it),
                1
            ));
            received::<_, Change<_>>(count, kind, sent);
        }
        Command::Report(_) => {
            let sent = messages!(commands, Report, |it| (&Change::new(it)).into());
            received::<v1::StorageVersionsReportRequest, Change<_>>(count, kind, sent);
        }
        other => panic!("a new kind of command needs its message here: {other:?}"),
    }
}

fn received<M, T>(count: &mut Count<'_>, kind: &str, sent: Vec<M>)
where
    M: Message + Name + Default,
    T: TryFrom<M, Error: std::fmt::Debug>,
{
    let mut bytes = BytesMut::new();
    for message in &sent {
        message.encode(&mut bytes).expect("there is room");
    }
    // What came in together lies in one buffer, and each message is a part of it.
    let mut bytes = bytes.freeze();
    let lengths = sent.iter().map(Message::encoded_len);
    let messages: Vec<Bytes> = lengths.map(|length| bytes.split_to(length)).collect();
    let read = |message| codec::decode::<M>(message).expect("it is a message");
    // The first message of a type also makes the guard against large ones.
    read(messages[0].clone());
    let mut messages = messages.into_iter();
    let mut decoded = Vec::with_capacity(sent.len());
    count(&format!("decode {kind}"), sent.len(), &mut || {
        decoded.extend(messages.by_ref().map(read));
    });
    let mut typed = Vec::with_capacity(sent.len());
    count(&format!("validate {kind}"), sent.len(), &mut || {
        let checked = decoded
            .drain(..)
            .map(|message| T::try_from(message).expect("it is sound"));
        typed.extend(checked);
    });
}

/// Appends entries to a log on the disk, one to a batch and then all at once.
fn append(count: &mut Count<'_>, written: &[Bytes]) {
    let folder = TempDir::new().expect("there is room for a log");
    let log = open(folder.path());
    let mut records = Vec::new();
    for (payload, index) in written.iter().chain(written).zip(0..) {
        let (term, leader) = (1, 1);
        records.push(LogRecord {
            id: LogId {
                term,
                leader,
                index,
            },
            payload: payload.clone(),
        });
    }
    let at_once = records.split_off(written.len());
    let append = |records| {
        log.enqueue_append(records, Box::new(|result| result.expect("it is written")))
            .expect("the log takes it");
        log.flush().expect("the disk takes it");
    };
    let alone: Vec<Vec<LogRecord>> = records.into_iter().map(|record| vec![record]).collect();
    let mut batches = alone.into_iter();
    let operations = written.len();
    count("append an entry", operations, &mut || {
        batches.by_ref().for_each(append);
    });
    let mut batch = Some(at_once);
    count("append an entry, many at once", operations, &mut || {
        batch.take().into_iter().for_each(append);
    });
}

fn open(folder: &Path) -> Log {
    let directory = folder.join("wal");
    let (disk, config) = (RealDisk, LogConfig::new([7; 16]));
    disk.create_directory(&directory)
        .expect("the folder is ours");
    Log::format(&disk, &directory, config.directory_id).expect("the folder is ours");
    let (log, _) = Log::open(Arc::new(disk), &directory, config).expect("it was formatted");
    log
}
