//! Consensus alone, without the services around it: clients propose to it directly.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use synod_machine::{Command, Initialize, ReplicaId};
use synod_model::{ClusterId, Settings};
use synod_server::consensus::{self, ConsensusConfig};
use synod_server::peer::messages::{ForwardRequest, ForwardResponse};
use synod_server::peer::{self, Formation, ForwardHandler};

use super::{Boot, CHECKPOINT_ENTRIES, KEPT_ENTRIES};
use crate::net::{Host, peer_address};
use crate::proposals::entry;
use crate::world::HOSTS;

pub(super) async fn run(boot: Boot) {
    let Boot {
        host,
        seams,
        net,
        started,
        trace,
        may_end,
        joins: _,
        ended,
    } = boot;
    let consensus = match consensus::start(config(host), seams).await {
        Ok(consensus) => consensus,
        Err(error) => return trace.fail(format_args!("{host} cannot start: {error}")),
    };
    *started.lock().unwrap() = Some(consensus.clone());
    let incoming = net.listen(host, &peer_address(host));
    let forever = std::future::pending();
    tokio::spawn(peer::serve(
        consensus.clone(),
        Arc::new(NoForward),
        incoming,
        forever,
    ));
    let replicas = HOSTS
        .map(|host| (ReplicaId::new(host), peer_address(host)))
        .into();
    let formation = Formation {
        replicas,
        first_entry: Box::new(first_entry),
    };
    tokio::spawn(peer::form(consensus.clone(), formation));
    let fatal = consensus.fatal().await;
    let end = super::End {
        trace,
        host,
        may_end,
        ended,
    };
    super::ended(end, fatal, consensus).await;
}

/// The entry that names the cluster.
fn first_entry(cluster: ClusterId) -> Bytes {
    entry(Command::Initialize(Initialize {
        cluster,
        settings: Settings::default(),
    }))
}

fn config(host: Host) -> ConsensusConfig {
    let data_dir = PathBuf::from("/data");
    ConsensusConfig {
        checkpoint_entries: CHECKPOINT_ENTRIES,
        kept_entries: KEPT_ENTRIES,
        segment_bytes: 64 << 10,
        ..ConsensusConfig::new(data_dir, ReplicaId::new(host), "simulated".to_owned())
    }
}

struct NoForward;

impl ForwardHandler for NoForward {
    fn forward(
        &self,
        _: ReplicaId,
        _: BoxStream<'static, ForwardRequest>,
    ) -> BoxStream<'static, ForwardResponse> {
        futures::stream::empty().boxed()
    }
}
