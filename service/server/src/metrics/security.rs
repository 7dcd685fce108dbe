//! How long certificates are valid, and whether new ones could be used.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use synod_tls::Validities;

use crate::security::Side;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfSide {
    side: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfPart {
    side: &'static str,
    part: &'static str,
}

/// The metrics of transport security. Sides without it have no series but the counters.
#[derive(Debug)]
pub(crate) struct SecurityMetrics {
    valid_until: Family<OfPart, Gauge>,
    renewed: Family<OfSide, Counter>,
    not_renewed: Family<OfSide, Counter>,
    policy_renewed: Counter,
    policy_not_renewed: Counter,
    tokens_remembered: Gauge,
    audit_written: Counter,
    audit_dropped: Counter,
    audit_left_out: Counter,
}

impl SecurityMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            valid_until: Family::default(),
            renewed: Family::default(),
            not_renewed: Family::default(),
            policy_renewed: Counter::default(),
            policy_not_renewed: Counter::default(),
            tokens_remembered: Gauge::default(),
            audit_written: Counter::default(),
            audit_dropped: Counter::default(),
            audit_left_out: Counter::default(),
        };
        registry.register_with_unit(
            "synod_certificates_valid_until_timestamp",
            "When the certificate in use expires, and the last of the trusted CAs, in seconds since 1970",
            Unit::Seconds,
            metrics.valid_until.clone(),
        );
        registry.register(
            "synod_certificates_renewed",
            "How often changed files of certificates were taken into use",
            metrics.renewed.clone(),
        );
        registry.register(
            "synod_certificates_not_renewed",
            "How often changed files of certificates could not be used, so that the old certificates stayed",
            metrics.not_renewed.clone(),
        );
        registry.register(
            "synod_policy_renewed",
            "How often a changed file of the policy, or of the keys that it names, was taken into use",
            metrics.policy_renewed.clone(),
        );
        registry.register(
            "synod_policy_not_renewed",
            "How often a changed file of the policy, or of the keys that it names, could not be used, so that the old one stayed",
            metrics.policy_not_renewed.clone(),
        );
        registry.register(
            "synod_tokens_remembered",
            "Tokens of callers whose signature is not checked again",
            metrics.tokens_remembered.clone(),
        );
        registry.register(
            "synod_audit_lines",
            "Lines written to the audit log",
            metrics.audit_written.clone(),
        );
        registry.register(
            "synod_audit_dropped_lines",
            "Lines of the audit log that were lost: too many waited, or the file could not be written",
            metrics.audit_dropped.clone(),
        );
        registry.register(
            "synod_audit_left_out_lines",
            "Lines of the audit log about callers whom nobody knows that were left out, since there were too many in a second",
            metrics.audit_left_out.clone(),
        );
        for side in Side::ALL {
            drop(metrics.renewed.get_or_create(&of_side(side)));
            drop(metrics.not_renewed.get_or_create(&of_side(side)));
        }
        metrics
    }

    pub(crate) fn valid(&self, side: Side, validities: Validities) {
        let Validities {
            certificate,
            trusted_ca,
        } = validities;
        for (part, validity) in [("certificate", certificate), ("ca", trusted_ca)] {
            let Some(validity) = validity else { continue };
            let side = side.name();
            let series = OfPart { side, part };
            self.valid_until.get_or_create(&series).set(validity.until);
        }
    }

    /// Counts lines of the audit log.
    pub(crate) fn audit_written(&self, lines: usize) {
        self.audit_written.inc_by(lines as u64);
    }

    /// Counts lines of the audit log that were lost.
    pub(crate) fn audit_dropped(&self, lines: usize) {
        self.audit_dropped.inc_by(lines as u64);
    }

    /// Counts a line about a caller whom nobody knows that was left out.
    pub(crate) fn audit_left_out(&self) {
        self.audit_left_out.inc();
    }

    /// Counts a changed policy that was taken into use.
    pub(crate) fn policy_renewed(&self) {
        self.policy_renewed.inc();
    }

    /// Counts a changed policy that could not be used.
    pub(crate) fn policy_not_renewed(&self) {
        self.policy_not_renewed.inc();
    }

    /// Notes how many tokens are remembered.
    pub(crate) fn tokens_remembered(&self, tokens: usize) {
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        self.tokens_remembered.set(tokens);
    }

    /// Counts changed files that were taken into use.
    pub(crate) fn renewed(&self, side: Side) {
        self.renewed.get_or_create(&of_side(side)).inc();
    }

    /// Counts changed files that could not be used.
    pub(crate) fn not_renewed(&self, side: Side) {
        self.not_renewed.get_or_create(&of_side(side)).inc();
    }
}

fn of_side(side: Side) -> OfSide {
    OfSide { side: side.name() }
}
