//! The metrics of an observer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::round::Round;
use crate::commands::metrics_port::{family, labels};
use crate::commands::now;

/// The metrics of an observer. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Metrics {
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    leads: bool,
    /// By whether everything was read and posted.
    rounds: BTreeMap<&'static str, u64>,
    servers: u64,
    unread: u64,
    /// Resources of the last round, by what was posted of them.
    resources: BTreeMap<&'static str, u64>,
    /// When everything was read and posted last, in seconds since 1970; zero: never.
    whole_at: u64,
}

impl Metrics {
    /// Whether this observer looks, or waits for its turn.
    pub(super) fn leads(&self, leads: bool) {
        self.change(|counts| counts.leads = leads);
    }

    /// What a round has found.
    pub(super) fn looked(&self, round: &Round) {
        self.change(|counts| {
            counts.servers = round.looks.len() as u64;
            let unread = round.looks.iter().filter(|look| !look.faults.is_empty());
            counts.unread = unread.count() as u64;
            counts.resources.clear();
            for posted in &round.posted {
                *counts.resources.entry(posted.outcome.name()).or_default() += 1;
            }
            let outcome = match round.is_whole() {
                true => "whole",
                false => "partial",
            };
            *counts.rounds.entry(outcome).or_default() += 1;
            if round.is_whole() {
                counts.whole_at = now().as_millis() / 1_000;
            }
        });
    }

    /// A round could not begin or end, since the cluster did not answer.
    pub(super) fn failed(&self) {
        self.change(|counts| *counts.rounds.entry("failed").or_default() += 1);
    }

    fn change(&self, by: impl FnOnce(&mut Counts)) {
        by(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The metrics as they are served.
    pub(super) fn text(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let mut gauge = |name: &str, help: &str, value: u64| {
            let sample = [(String::new(), value)].into_iter();
            family(&mut text, (name, "gauge"), help, sample);
        };
        let leads = u64::from(counts.leads);
        gauge(
            "synod_observer_leading",
            "Whether this observer looks: 1, or waits for its turn: 0.",
            leads,
        );
        gauge(
            "synod_observer_servers",
            "API servers that were looked at in the last round.",
            counts.servers,
        );
        gauge(
            "synod_observer_servers_unread",
            "Those of them that could not be read as a whole.",
            counts.unread,
        );
        gauge(
            "synod_observer_whole_round_timestamp_seconds",
            "When everything was read and posted last; 0: never.",
            counts.whole_at,
        );
        let by_outcome =
            |(outcome, value): (&&'static str, &u64)| (labels(&[("outcome", *outcome)]), *value);
        family(
            &mut text,
            ("synod_observer_rounds_total", "counter"),
            "Rounds in which everything was read and posted (whole), or not (partial), or that the cluster did not answer (failed).",
            counts.rounds.iter().map(by_outcome),
        );
        family(
            &mut text,
            ("synod_observer_resources", "gauge"),
            "Resources of the last round, by what was posted of them.",
            counts.resources.iter().map(by_outcome),
        );
        text
    }
}
