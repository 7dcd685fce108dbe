//! What a member says, each under its number.

use synod_machine::Command;
use synod_model::{Adopt, Report, Revision, StatementNumber};

use crate::cluster::Server;
use crate::entry::{Says, resource};

pub(crate) fn numbered_report(server: &Server, at: u64, says: &[Says], replace: bool) -> Command {
    Command::Report(Report {
        member: server.id.clone(),
        epoch: server.epoch,
        number: statement(at),
        entries: says.iter().map(Says::entry).collect(),
        replace,
    })
}

pub(crate) fn numbered_adopt(
    server: &Server,
    at: u64,
    name: &str,
    selected_revision: Revision,
) -> Command {
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
