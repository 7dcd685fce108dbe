//! Judges what was found: a function of it alone, so that every judgement is a test without a cluster.

mod endpoints;
mod replicas;
mod whole;

#[cfg(test)]
mod tests;

use super::found::Found;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It is as it should be.
    Ok,
    /// It works, and somebody should look at it.
    Warning,
    /// It does not work, or is about to lose what it should keep.
    Fault,
}

/// One thing that was looked at, and what of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What was looked at, by a word that does not change.
    pub(crate) check: &'static str,
    /// Of whom: an endpoint, a replica, the cluster, or this client.
    pub(crate) place: String,
    pub(crate) verdict: Verdict,
    /// What was found.
    pub(crate) what: String,
    /// What to do; empty if nothing is.
    pub(crate) advice: String,
}

impl Verdict {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// The findings, in the order in which one depends on another: the client, the endpoints, the cluster, its replicas.
pub(crate) fn judge(found: &Found) -> Vec<Finding> {
    let mut findings = Findings::default();
    endpoints::client(found, &mut findings);
    for endpoint in &found.endpoints {
        endpoints::endpoint(endpoint, found.now, &mut findings);
    }
    whole::cluster(found, &mut findings);
    for answered in found.answers() {
        replicas::replica(answered, &mut findings);
    }
    findings.0
}

/// The findings so far.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(
        &mut self,
        (check, place): (&'static str, &str),
        verdict: Verdict,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.0.push(Finding {
            check,
            place: place.to_owned(),
            verdict,
            what: what.into(),
            advice: advice.into(),
        });
    }

    fn ok(&mut self, at: (&'static str, &str), what: impl Into<String>) {
        self.add(at, Verdict::Ok, what, "");
    }

    fn warning(
        &mut self,
        at: (&'static str, &str),
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(at, Verdict::Warning, what, advice);
    }

    fn fault(
        &mut self,
        at: (&'static str, &str),
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(at, Verdict::Fault, what, advice);
    }
}

/// A place for findings about the cluster as a whole.
const CLUSTER: &str = "cluster";

fn replica_name(id: u64) -> String {
    format!("replica {id}")
}
