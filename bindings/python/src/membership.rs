//! Memberships, their gates, and permits to write.

use pyo3::prelude::*;
use synod_bound::Admitted;

use crate::handle::{Of, handle};
use crate::runtime::Home;
use crate::span::seconds;

handle! {
    /// A membership.
    Membership(synod_bound::Membership) {
        now id(membership) -> String { membership.id().to_owned() }
        now instance(membership) -> String { membership.instance().to_owned() }
        now state(membership) -> String { membership.state()? }
        later changed(membership, seen: String) -> String { membership.changed_from(&seen).await? }
        later ended(membership) -> &'static str { membership.ended().await? }
        later report(membership, entries: String) -> String { membership.report(&entries).await? }
        later report_change(membership, entry: String) -> String { membership.report_change(&entry).await? }
        later ready(membership) -> () { membership.ready().await? }
        later leave(membership, drain_limit: f64) -> () { membership.leave(seconds(drain_limit)).await? }
        now gate(membership) -> Gate { membership.gate() }
        now close(membership) -> () { membership.close() }
    }
}

handle! {
    /// The gate of a membership.
    Gate(synod_bound::Gate) {
        fed permit(gate, resource: &str, wait: Option<f64>) -> Permit { gate.permit(resource, wait.map(seconds))? }
        now try_permit(gate, resource: &str) -> Permit { gate.try_permit(resource)? }
        now waits_for(gate) -> Option<String> { gate.waits_for() }
        now discovery(gate, resource: &str) -> String { gate.discovery(resource)? }
        now is_drained(gate) -> bool { gate.is_drained() }
        now door(gate, wait: f64, not_stored: &str) -> Door { gate.door(seconds(wait), not_stored)? }
    }
}

handle! {
    /// The gate's rule for HTTP requests.
    Door(synod_bound::Door) {
        /// Answers a permit or `None`, or what to answer in place of the server: code, content type and body.
        fed admit(door, method: &str, target: &str) -> Admission { door.admit(method, target) }
    }
}

/// What becomes of an HTTP request.
#[derive(IntoPyObject)]
enum Admission {
    Passed(Option<Permit>),
    Refused(u16, &'static str, String),
}

impl Of<Admitted> for Admission {
    fn of(admitted: Admitted, home: &Home) -> Self {
        match admitted {
            Admitted::Pass => Self::Passed(None),
            Admitted::Permitted(permit) => Self::Passed(Some(Permit::of(permit, home))),
            Admitted::Refused {
                code,
                content_type,
                body,
            } => Self::Refused(code, content_type, body),
        }
    }
}

handle! {
    /// A permit to write.
    Permit(synod_bound::Permit) {
        now resource(permit) -> String { permit.resource() }
        now encoding(permit) -> String { permit.encoding() }
        now epoch(permit) -> u64 { permit.epoch() }
        now revision(permit) -> u64 { permit.revision() }
        now check(permit) -> () { permit.check()? }
        now done(permit) -> () { permit.done() }
        now unknown_outcome(permit) -> () { permit.unknown_outcome() }
    }

    fn give_back(&self) -> PyResult<()> {
        self.held.let_go("the permit was given back")
    }
}

handle! {
    /// The agreements that a member knows of, which a fence in its store is held against.
    FenceGuard(synod_bound::FenceGuard) {}

    /// Refuses if a write under this permit may not be sent on condition that the fence key holds `present`.
    #[pyo3(signature = (permit, present))]
    fn check(&self, py: Python<'_>, permit: &Permit, present: Option<&[u8]>) -> PyResult<()> {
        let permit = permit.held.bound()?;
        self.held.now(py, |guard| guard.check(&permit, present))
    }

    fn close(&self) -> PyResult<()> {
        self.held.let_go("the guard was closed")
    }
}
