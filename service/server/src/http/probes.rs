//! The checks behind `/readyz`, and the form of the answers.

use std::fmt::Write as _;

use axum::http::StatusCode;

use crate::access::Access;
use crate::consensus::Consensus;
use crate::health::Health;

/// What the checks go by.
#[derive(Clone)]
pub(crate) struct Probed {
    pub(crate) consensus: Consensus,
    pub(crate) health: Health,
    /// Who may read the metrics.
    pub(crate) access: Access,
}

/// One check: its name, and what is wrong if it fails.
struct Check {
    name: &'static str,
    fault: Option<&'static str>,
}

/// What can be probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe<'a> {
    /// `/livez`: that the process answers.
    Live,
    /// `/readyz`: that the replica can serve; `/readyz/NAME`: that this check alone passes.
    Ready(Option<&'a str>),
}

/// What a probe asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    verbose: bool,
    excluded: Vec<String>,
}

impl Probed {
    /// The answer of a probe with this query; `None` if there is no such check.
    pub(crate) fn answer(
        &self,
        probe: Probe<'_>,
        query: Option<&str>,
    ) -> Option<(StatusCode, String)> {
        let asked = Asked::parse(query);
        match probe {
            Probe::Live => Some(report("livez", &asked, Vec::new())),
            Probe::Ready(None) => Some(report("readyz", &asked, self.checks())),
            Probe::Ready(Some(name)) => {
                let mut checks = self.checks();
                checks.retain(|check| check.name == name);
                (!checks.is_empty()).then(|| report(name, &asked, checks))
            }
        }
    }

    /// The answer of `/readyz?verbose`.
    pub(crate) fn readiness(&self) -> String {
        let asked = Asked {
            verbose: true,
            ..Asked::default()
        };
        report("readyz", &asked, self.checks()).1
    }

    fn checks(&self) -> Vec<Check> {
        let Self {
            consensus, health, ..
        } = self;
        let check = |name, passes: bool, fault| Check {
            name,
            fault: (!passes).then_some(fault),
        };
        let is_formed = consensus.published().state.cluster().is_some();
        vec![
            check("cluster", is_formed, "no cluster was formed yet"),
            check(
                "leader",
                health.leader().is_some(),
                "no leader is known, or it was not heard of lately",
            ),
            check(
                "quorum",
                health.is_proved(),
                "a quorum has not proved lately that the state is current",
            ),
            check(
                "digest",
                consensus.doubt().is_none(),
                "the states of the replicas differ",
            ),
            check("serving", health.serves(), "it does not serve, or ends"),
        ]
    }
}

impl Asked {
    fn parse(query: Option<&str>) -> Self {
        let mut asked = Self::default();
        for part in query.unwrap_or_default().split('&') {
            match part.split_once('=') {
                Some(("exclude", names)) => {
                    asked.excluded.extend(names.split(',').map(str::to_owned))
                }
                None if part == "verbose" => asked.verbose = true,
                Some(("verbose", value)) => asked.verbose = value != "false",
                _ => {}
            }
        }
        asked
    }
}

/// The answer of the probe `name`.
fn report(name: &str, asked: &Asked, checks: Vec<Check>) -> (StatusCode, String) {
    let (excluded, checks): (Vec<Check>, Vec<Check>) = checks
        .into_iter()
        .partition(|check| asked.excluded.iter().any(|name| name == check.name));
    let passes = checks.iter().all(|check| check.fault.is_none());
    let status = if passes {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    if passes && !asked.verbose {
        return (status, "ok\n".to_owned());
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    for Check { name, fault } in &checks {
        let _ = match fault {
            None => writeln!(text, "[+]{name} ok"),
            Some(fault) => writeln!(text, "[-]{name} failed: {fault}"),
        };
    }
    for Check { name, .. } in &excluded {
        let _ = writeln!(text, "[+]{name} excluded: ok");
    }
    let ended = if passes { "passed" } else { "failed" };
    let _ = writeln!(text, "{name} check {ended}");
    (status, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Vec<Check> {
        let check = |name, fault| Check { name, fault };
        vec![check("leader", None), check("quorum", Some("it is gone"))]
    }

    fn told(query: &str) -> (u16, String) {
        let (status, text) = report("readyz", &Asked::parse(Some(query)), checks());
        (status.as_u16(), text)
    }

    #[test]
    fn a_probe_answers_as_kubernetes_api_servers_do() {
        let all = "[+]leader ok\n[-]quorum failed: it is gone\nreadyz check failed\n";
        assert_eq!(told(""), (503, all.to_owned()));
        assert_eq!(told("exclude=quorum"), (200, "ok\n".to_owned()));
        let verbose = "[+]leader ok\n[+]quorum excluded: ok\nreadyz check passed\n";
        assert_eq!(told("verbose&exclude=quorum"), (200, verbose.to_owned()));
        let live = report("livez", &Asked::parse(None), Vec::new());
        assert_eq!(live, (StatusCode::OK, "ok\n".to_owned()));
    }
}
