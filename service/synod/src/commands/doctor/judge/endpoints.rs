//! Judges this client's own certificate, and the way to each endpoint: from the socket up to a linearizable read.

use std::time::Duration;

use synod_client::{ErrorKind, WallTime};
use synod_tls::{ShownCertificate, Validity};

use super::super::found::{EndpointFound, Found, Shown, Unanswered};
use super::{Findings, Verdict};
use crate::output::age;

/// A linearizable read that takes longer is slow: within one data center it takes a few milliseconds.
const READ_SLOW: Duration = Duration::from_millis(250);

/// The files of this client.
pub(super) fn client(found: &Found, findings: &mut Findings) {
    let at = ("client-certificate", "client");
    match &found.own {
        None => findings.ok(at, "none: connections are not encrypted"),
        Some(Err(fault)) => findings.fault(
            at,
            fault,
            "give files that can be used by --cacert, --cert and --key",
        ),
        Some(Ok(validities)) => {
            let renew = "renew it, and replace its file: each new connection reads it again";
            match validities.certificate {
                None => findings.ok(at, "none is shown to the replicas"),
                Some(validity) => valid(at, "it", validity, found.now, renew, findings),
            }
            if let Some(validity) = validities.trusted_ca {
                let renew = "add the CA's successor to the file of --cacert";
                valid(
                    ("trusted-ca", "client"),
                    "the CA",
                    validity,
                    found.now,
                    renew,
                    findings,
                );
            }
        }
    }
}

/// Everything between this machine and an answer of the replica there.
pub(super) fn endpoint(found: &EndpointFound, now: WallTime, findings: &mut Findings) {
    let place = found.endpoint.as_str();
    match &found.connected {
        Ok(took) => findings.ok(
            ("reachable", place),
            format!("connected in {}", millis(*took)),
        ),
        Err(why) => {
            let advice = "check that the replica runs and listens there, and that no network policy or firewall is between";
            findings.fault(("reachable", place), why, advice);
        }
    }
    if let Some(shown) = &found.shown {
        certificate(shown, place, now, findings);
    }
    let is_agreed = found
        .shown
        .as_ref()
        .is_none_or(|shown| shown.agreed.is_ok());
    match &found.answer {
        Some(Ok(answered)) => {
            let what = format!(
                "replica {}, version {}, in {}",
                answered.status.header.replica_id,
                answered.status.version,
                millis(answered.round_trip)
            );
            findings.ok(("answers", place), what);
        }
        // Why there is no connection was told above.
        Some(Err(_)) if !is_agreed => {}
        Some(Err(unanswered)) => {
            findings.fault(("answers", place), &unanswered.message, advice(unanswered));
        }
        None => {}
    }
    if let Some(read) = &found.read {
        reads(read, place, findings);
    }
    if let Some(Ok(readiness)) = &found.readiness {
        let failed = readiness
            .lines()
            .filter_map(|line| line.strip_prefix("[-]"));
        let failed: Vec<&str> = failed.collect();
        if failed.is_empty() {
            findings.ok(("ready", place), "all checks of /readyz pass");
        } else {
            let advice = "what it depends on is judged below";
            findings.fault(("ready", place), failed.join("; "), advice);
        }
    }
}

fn reads(read: &Result<Duration, Unanswered>, place: &str, findings: &mut Findings) {
    let at = ("reads", place);
    match read {
        Ok(took) if *took > READ_SLOW => {
            let advice = "compare the latencies of the network between the replicas and of their disks, below";
            findings.warning(
                at,
                format!("a linearizable read took {}", millis(*took)),
                advice,
            );
        }
        Ok(took) => findings.ok(at, format!("a linearizable read took {}", millis(*took))),
        Err(unanswered) => {
            let what = format!("no linearizable read: {}", unanswered.message);
            findings.fault(at, what, advice(unanswered));
        }
    }
}

/// What a server shows, and whether this client takes it.
fn certificate(shown: &Shown, place: &str, now: WallTime, findings: &mut Findings) {
    let at = ("certificate", place);
    match (&shown.certificate, &shown.agreed) {
        (Some(certificate), agreed) => {
            let is_valid = is_valid(certificate.validity, now);
            if let Err(why) = agreed
                && is_valid
            {
                let what = format!("{why}; it shows {}", described(certificate));
                findings.fault(at, what, untrusted(why));
            } else {
                let what = described(certificate);
                let renew = "renew the replica's certificate, and replace its files: it reads them again by itself";
                valid(at, &what, certificate.validity, now, renew, findings);
            }
        }
        (None, Ok(())) => findings.ok(at, "agreed"),
        (None, Err(why)) => {
            let advice = "check that the replica was started with --cert-file, and that this is its port for clients";
            findings.fault(at, why, advice);
        }
    }
}

/// What to do if one end refuses the other.
fn untrusted(why: &str) -> &'static str {
    if why.contains("NotValidForName") || why.contains("not valid for name") {
        "call the replica by a name that its certificate has, or give that name by --tls-server-name"
    } else if why.contains("UnknownIssuer") || why.contains("BadSignature") {
        "give the CA that has signed it by --cacert"
    } else {
        "the replica may refuse this client's certificate: give one by --cert and --key that its --trusted-ca-file has signed"
    }
}

fn described(certificate: &ShownCertificate) -> String {
    let ShownCertificate {
        subject,
        issuer,
        names,
        ..
    } = certificate;
    format!("{subject:?} of {issuer:?} for {}", names.join(", "))
}

/// Judges how long a certificate is valid.
fn valid(
    at: (&'static str, &str),
    what: &str,
    validity: Validity,
    now: WallTime,
    renew: &str,
    findings: &mut Findings,
) {
    let seconds = seconds(now);
    let span = |from: i64, to: i64| age(millis_of(from), millis_of(to));
    if validity.until < seconds {
        let what = format!("{what}: expired {} ago", span(validity.until, seconds));
        findings.fault(at, what, renew);
    } else if validity.from > seconds {
        let what = format!(
            "{what}: not valid before {} from now",
            span(seconds, validity.from)
        );
        findings.fault(
            at,
            what,
            "check the clocks of this machine and of the one that signs",
        );
    } else {
        let is_ending = validity.is_ending(seconds);
        let verdict = if is_ending {
            Verdict::Warning
        } else {
            Verdict::Ok
        };
        let what = format!("{what}: expires in {}", span(seconds, validity.until));
        findings.add(at, verdict, what, if is_ending { renew } else { "" });
    }
}

fn is_valid(validity: Validity, now: WallTime) -> bool {
    (validity.from..=validity.until).contains(&seconds(now))
}

/// What to do about a call that was not answered.
fn advice(unanswered: &Unanswered) -> &'static str {
    match unanswered.kind {
        ErrorKind::PermissionDenied | ErrorKind::Unauthenticated => {
            "give a certificate by --cert and --key that the replica's policy lets read"
        }
        ErrorKind::InvalidArgument => "correct the settings of this client",
        ErrorKind::Overloaded => {
            "wait, or find out who calls so much: the metrics of the replica tell"
        }
        // The header of an answer lacks the id of a cluster that was never formed.
        ErrorKind::UnknownOutcome => {
            "start all replicas if the cluster was never formed: they must meet once; else take a client of the replica's release"
        }
        _ => "look at the replica's log, and whether a quorum of the replicas runs",
    }
}

/// A wall-clock time in seconds, as certificates say it.
fn seconds(time: WallTime) -> i64 {
    i64::try_from(time.as_millis() / 1_000).unwrap_or(i64::MAX)
}

fn millis_of(seconds: i64) -> u64 {
    u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000)
}

fn millis(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1_000.0)
}
