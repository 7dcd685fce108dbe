//! What is sent to a test's cluster: the numbers of members' statements and of requests.

use std::cell::RefCell;
use std::collections::BTreeMap;

use synod_machine::Command;
use synod_model::{
    Adopt, Epoch, ForgetResource, MemberId, Report, RequestId, Revision, Sequence, SessionId,
    StatementNumber,
};

use crate::cluster::Server;
use crate::entry::{Says, resource};

thread_local! {
    /// The highest number of each epoch of this test's cluster.
    static SAID: RefCell<BTreeMap<(MemberId, Epoch), u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// Forgets the numbers of an earlier cluster.
pub(crate) fn nothing_is_said() {
    SAID.with_borrow_mut(BTreeMap::clear);
}

/// The number of the server's next statement.
pub(crate) fn next(server: &Server) -> u64 {
    let key = (server.id.clone(), server.epoch);
    SAID.with_borrow(|said| said.get(&key).map_or(1, |last| last + 1))
}

/// As [`next`], and counts the number as used.
pub(crate) fn next_number(server: &Server) -> StatementNumber {
    let at = next(server);
    says(server, at);
    statement(at)
}

fn says(server: &Server, at: u64) {
    let key = (server.id.clone(), server.epoch);
    SAID.with_borrow_mut(|said| {
        let last = said.entry(key).or_insert(at);
        *last = (*last).max(at);
    });
}

pub(crate) fn numbered_report(server: &Server, at: u64, what: &[Says], replace: bool) -> Command {
    says(server, at);
    Command::Report(Report {
        member: server.id.clone(),
        epoch: server.epoch,
        number: statement(at),
        entries: what.iter().map(Says::entry).collect(),
        replace,
    })
}

pub(crate) fn numbered_adopt(
    server: &Server,
    at: u64,
    name: &str,
    selected_revision: Revision,
) -> Command {
    says(server, at);
    Command::Adopt(Adopt {
        member: server.id.clone(),
        epoch: server.epoch,
        number: statement(at),
        resource: resource(name),
        selected_revision,
    })
}

pub(crate) fn statement(number: u64) -> StatementNumber {
    StatementNumber::new(number).expect("a statement is numbered from 1")
}

/// The command that forgets a resource.
pub(crate) fn forget(name: &str) -> Command {
    Command::ForgetResource(ForgetResource {
        resource: resource(name),
        if_revision: None,
    })
}

pub(crate) fn request(session: SessionId, sequence: u64, lowest_unanswered: u64) -> RequestId {
    RequestId::new(session, number(sequence), number(lowest_unanswered))
        .expect("the story uses legal numbers")
}

pub(crate) fn number(sequence: u64) -> Sequence {
    Sequence::new(sequence).expect("the story uses legal numbers")
}
