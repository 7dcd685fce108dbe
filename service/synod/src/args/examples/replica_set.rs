//! Of `synod cluster`.

pub(in crate::args) const CLUSTER: &str = "\
Examples:
  A lost replica 3 is replaced by a fresh one with the number 4:
    on the new host:  synod serve --join --replica-id 4 --data-dir /var/lib/synod ...
    anywhere:         synod cluster replace 3 4 10.0.0.4:4610

  From three replicas to five:
    synod cluster add 4 10.0.0.4:4610 && synod cluster promote 4
    synod cluster add 5 10.0.0.5:4610 && synod cluster promote 5

Numbers are never used again: a replica that was removed, or has lost its data, comes back under a new one.";

pub(in crate::args) const CLUSTER_STATUS: &str = "\
Examples:
  synod cluster status                  which replicas there are, who leads, and what is wrong
  synod cluster status -o wide          also how far each log reaches";

pub(in crate::args) const CLUSTER_ADD: &str = "\
Examples:
  synod cluster add 4 10.0.0.4:4610     where replica 4 was started with `synod serve --join`";

pub(in crate::args) const CLUSTER_PROMOTE: &str = "\
Examples:
  synod cluster promote 4               waits until it has caught up
  synod cluster promote 4 --wait 1h     for longer, where there is much to catch up with";

pub(in crate::args) const CLUSTER_REMOVE: &str = "\
Examples:
  synod cluster remove 3                its data directory can be deleted afterwards";

pub(in crate::args) const CLUSTER_REPLACE: &str = "\
Examples:
  synod cluster replace 3 4 10.0.0.4:4610";

pub(in crate::args) const CLUSTER_TRANSFER_LEADER: &str = "\
Examples:
  synod cluster transfer-leader         to whichever voter holds most of the log
  synod cluster transfer-leader 2";

pub(in crate::args) const CLUSTER_CHECKPOINT: &str = "\
Examples:
  synod cluster checkpoint --endpoints 10.0.0.1:4600,10.0.0.2:4600,10.0.0.3:4600";

pub(in crate::args) const CLUSTER_FORCE_NEW: &str = "\
Examples:
  synod cluster force-new --data-dir old --out new --replica-id 4 --peer 10.0.0.4:4610
  synod cluster force-new --data-dir old --out new --replica-id 4 --peer 10.0.0.4:4610 --yes

Run it first without --yes on every directory that is left, and take the one that has come furthest.
Every replica of the old cluster must be stopped for good: those that are left are refused by the new one.";
