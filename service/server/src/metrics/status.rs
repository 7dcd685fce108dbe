//! Metrics of the present log and state, set when metrics are collected.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use synod_machine::Aftermath;
use synod_model::{Feature, Switch};

use super::gauge_value;
use crate::consensus::{Consensus, Position, ReplicaId};

/// The label of a feature: the name of its setting.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FeatureLabel {
    feature: &'static str,
}

/// The gauges of the log and the state.
#[derive(Debug, Default)]
pub(crate) struct StatusMetrics {
    has_leader: Gauge,
    is_leader: Gauge,
    term: Gauge,
    leader_changes: Counter,
    committed: Gauge,
    applied: Gauge,
    last_log: Gauge,
    checkpoint: Gauge,
    in_doubt: Gauge,
    not_voting: Gauge,
    went_back: Gauge,
    damaged_checkpoint: Gauge,
    low_on_disk: Gauge,
    at_quota: Gauge,
    switched_off: Family<FeatureLabel, Gauge>,
    switch_unfinished: Family<FeatureLabel, Gauge>,
    digests_kept: Gauge,
    revision: Gauge,
    oldest_revision: Gauge,
    history_bytes: Gauge,
    state_bytes: Gauge,
    quota_bytes: Gauge,
    members: Gauge,
    sessions: Gauge,
    storage_versions: Gauge,
    disagreements: Gauge,
    log_time_ms: Gauge,
}

impl StatusMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        metrics.register_log(registry);
        metrics.register_faults(registry);
        metrics.register_state(registry);
        metrics
    }

    fn register_log(&self, registry: &mut Registry) {
        let mut gauge = |name, help, gauge: &Gauge| registry.register(name, help, gauge.clone());
        gauge(
            "etcd_server_has_leader",
            "Whether a leader is known that was heard of lately; 1 or 0",
            &self.has_leader,
        );
        gauge(
            "etcd_server_is_leader",
            "Whether this replica leads; 1 or 0",
            &self.is_leader,
        );
        gauge("synod_raft_term", "The Raft term", &self.term);
        gauge(
            "etcd_server_proposals_committed_total",
            "The last log index known to be committed",
            &self.committed,
        );
        gauge(
            "etcd_server_proposals_applied_total",
            "The last log index applied",
            &self.applied,
        );
        gauge(
            "synod_raft_last_log_index",
            "The last log index stored",
            &self.last_log,
        );
        gauge(
            "synod_raft_checkpoint_index",
            "The last log index that the newest checkpoint holds",
            &self.checkpoint,
        );
        gauge(
            "synod_digests_kept",
            "Digests of past states kept to be compared",
            &self.digests_kept,
        );
        registry.register(
            "etcd_server_leader_changes_seen",
            "How often a leader was seen to be elected",
            self.leader_changes.clone(),
        );
    }

    /// What alarms are raised for, beside what other metrics show.
    fn register_faults(&self, registry: &mut Registry) {
        let mut gauge = |name, help, gauge: &Gauge| registry.register(name, help, gauge.clone());
        gauge(
            "synod_in_doubt",
            "Whether the replicas' states differ and no majority agrees; 1 or 0",
            &self.in_doubt,
        );
        gauge(
            "synod_not_voting",
            "Whether the end of the log was cut off, so that this replica does not vote before it has caught up with a leader; 1 or 0",
            &self.not_voting,
        );
        gauge(
            "synod_replicas_gone_back",
            "Replicas that this one refuses because their data directories lack what they had acknowledged",
            &self.went_back,
        );
        gauge(
            "synod_damaged_checkpoint",
            "Whether a checkpoint failed its check and still lies aside, or one of the leader's did; 1 or 0",
            &self.damaged_checkpoint,
        );
        gauge(
            "synod_replicas_low_on_disk",
            "Replicas that have announced that their disk is nearly full",
            &self.low_on_disk,
        );
        gauge(
            "synod_state_at_quota",
            "Whether only the reserve is left of the state's quota, so that it may not grow; 1 or 0",
            &self.at_quota,
        );
        registry.register(
            "synod_switched_off",
            "Whether a feature is switched off by the setting of its name; 1 or 0",
            self.switched_off.clone(),
        );
        registry.register(
            "synod_switch_unfinished",
            "Whether more has to follow from the last move of a feature's switch, which the leader sees to; 1 or 0",
            self.switch_unfinished.clone(),
        );
    }

    fn register_state(&self, registry: &mut Registry) {
        let mut gauge = |name, help, gauge: &Gauge| registry.register(name, help, gauge.clone());
        gauge(
            "etcd_debugging_mvcc_current_revision",
            "The revision",
            &self.revision,
        );
        gauge(
            "etcd_debugging_mvcc_compact_revision",
            "The newest revision that the history no longer holds",
            &self.oldest_revision,
        );
        gauge(
            "synod_history_bytes",
            "Bytes of history kept",
            &self.history_bytes,
        );
        gauge(
            "etcd_mvcc_db_total_size_in_use_in_bytes",
            "Bytes of the state",
            &self.state_bytes,
        );
        gauge(
            "etcd_server_quota_backend_bytes",
            "Bytes the state may have",
            &self.quota_bytes,
        );
        gauge("synod_members", "Members", &self.members);
        gauge("synod_sessions", "Open sessions", &self.sessions);
        gauge(
            "synod_storage_versions",
            "Resources that are reported",
            &self.storage_versions,
        );
        gauge(
            "synod_disagreements",
            "Reported resources on whose version there is no agreement",
            &self.disagreements,
        );
        gauge(
            "synod_log_time_ms",
            "The log time, in milliseconds",
            &self.log_time_ms,
        );
    }

    /// Counts a change of the leader.
    pub(crate) fn leader_changed(&self) {
        self.leader_changes.inc();
    }

    /// Sets all gauges from the present log and state, and from who is proved to lead.
    pub(crate) fn observe(&self, consensus: &Consensus, leader: Option<ReplicaId>) {
        let index = |position: Option<Position>| gauge_value(position.map_or(0, |at| at.index));
        let status = consensus.status();
        self.has_leader.set(leader.is_some().into());
        self.is_leader.set(status.leadership.is_me.into());
        self.term.set(gauge_value(status.leadership.term.get()));
        self.committed.set(index(status.committed));
        self.applied.set(index(status.applied));
        self.last_log
            .set(gauge_value(status.last_log_index.unwrap_or_default()));
        self.checkpoint.set(index(status.checkpoint));
        self.in_doubt.set(consensus.in_doubt().into());
        self.not_voting.set((!consensus.may_vote()).into());
        self.went_back.set(gauge_value(consensus.went_back().len()));
        self.damaged_checkpoint
            .set(consensus.damaged_checkpoint().is_some().into());
        self.digests_kept
            .set(gauge_value(consensus.digests().len()));

        let published = consensus.published();
        let state = &published.state;
        self.low_on_disk
            .set(gauge_value(state.low_on_disk().count()));
        self.at_quota.set(state.is_at_quota().into());
        for feature in Feature::ALL {
            let label = FeatureLabel {
                feature: feature.setting(),
            };
            let is_off = state.settings().switch(feature) == Switch::Off;
            self.switched_off.get_or_create(&label).set(is_off.into());
            let mut unfinished = state.aftermaths().map(Aftermath::feature);
            let unfinished = unfinished.any(|it| it == feature);
            let gauge = self.switch_unfinished.get_or_create(&label);
            gauge.set(unfinished.into());
        }
        self.revision.set(gauge_value(state.revision().get()));
        self.oldest_revision
            .set(gauge_value(state.history().floor().get()));
        self.history_bytes
            .set(gauge_value(state.history().all_bytes()));
        self.state_bytes.set(gauge_value(state.bytes()));
        self.quota_bytes
            .set(gauge_value(state.settings().state_quota_bytes));
        self.members.set(gauge_value(state.member_count()));
        self.sessions.set(gauge_value(state.session_count()));
        self.storage_versions
            .set(gauge_value(state.storage_version_count()));
        self.disagreements
            .set(gauge_value(state.disagreement_count()));
        self.log_time_ms
            .set(gauge_value(state.log_time().as_millis()));
    }
}
