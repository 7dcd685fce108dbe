//! Memberships.

use std::time::Duration;

use crate::client::{Client, millis};
use crate::gate::Gate;
use crate::handle::{handle, methods};

/// How long permits have to come back before a member leaves, by default.
const LEAVE_WITHIN: Duration = Duration::from_secs(30);

methods! {
    Client:

    "Joins the cluster as a member."
    fed join(client, options: String) -> Membership { client.join(&options)? }
        or "The client was closed, or an option breaks a rule."
}

handle! {
    "A membership."
    Membership(synod_bound::Membership)

    "The member's id."
    now(getter) id(membership) -> String { membership.id() }

    "What this process calls itself."
    now(getter) instance(membership) -> String { membership.instance() }

    "The gate that every write has to pass."
    now gate(membership) -> Gate { membership.gate() }

    "How it does."
    now state(membership) -> String { membership.state()? } or "It was closed."

    "How it does, once it does otherwise than now."
    later state_changed(membership) -> String { membership.changed().await? }

    "Why it is over for good, once it is."
    later ended(membership) -> String { membership.ended().await? }

    "Reports all resources of the server."
    later report(membership, entries: String) -> String { membership.report(&entries).await? }

    "Reports one resource."
    later report_change(membership, entry: String) -> String { membership.report_change(&entry).await? }

    "Says that the server is ready."
    later ready(membership) -> () { membership.ready().await? }

    "Leaves the cluster."
    later leave(membership, drain_limit_ms: Option<f64>) -> () {
        membership.leave(millis(drain_limit_ms)?.unwrap_or(LEAVE_WITHIN)).await?
    } or "The limit is no span."
}
