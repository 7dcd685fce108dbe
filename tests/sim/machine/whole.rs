//! Runs a whole replica as the program does, on simulated connections, clock and disk.

use std::path::PathBuf;

use synod_machine::ReplicaId;
use synod_server::config::{Listen, ReplicaConfig};
use synod_server::replica::{Doors, Replica};

use super::{Boot, CHECKPOINT_ENTRIES, KEPT_ENTRIES};
use crate::net::{client_address, peer_address};
use crate::world::HOSTS;

pub(super) async fn run(boot: Boot) {
    let Boot {
        host,
        seams,
        net,
        started,
        trace,
        may_end,
        joins,
        ended,
    } = boot;
    // Clients and peers come through the `Doors` below; these addresses are not listened on.
    let nowhere = ([127, 0, 0, 1], 0).into();
    let listen = Listen {
        client: nowhere,
        peer: nowhere,
        metrics: None,
        kube: None,
    };
    let first_set = HOSTS.iter().filter(|_| !joins);
    let first_set = first_set.map(|host| (ReplicaId::new(*host), peer_address(*host)));
    let data_dir = PathBuf::from("/data");
    let config = ReplicaConfig {
        checkpoint_entries: CHECKPOINT_ENTRIES,
        kept_entries: KEPT_ENTRIES,
        ..ReplicaConfig::new(
            ReplicaId::new(host),
            "simulated".to_owned(),
            data_dir,
            listen,
            first_set.collect(),
        )
    };
    let doors = Doors {
        client: net.listen(host, &client_address(host)),
        client_address: client_address(host),
        peer: net.listen(host, &peer_address(host)),
        peer_address: peer_address(host),
        metrics: None,
        metrics_address: None,
        kube: None,
        kube_address: None,
    };
    let mut replica = match Replica::start(config, seams, doors).await {
        Ok(replica) => replica,
        Err(error) => return trace.fail(format_args!("{host} cannot start: {error}")),
    };
    *started.lock().unwrap() = Some(replica.handle().consensus().clone());
    let why = replica.wait().await;
    let end = super::End {
        trace,
        host,
        may_end,
        ended,
    };
    super::ended(end, why, replica.handle().consensus().clone()).await;
}
