use std::convert::Infallible;
use std::path::Path;
use std::pin::pin;

use bytes::Bytes;
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use synod_store::identity::Claim;
use synod_store::peers::Remembered;
use synod_store::{DataDirectory, Disk, LogConfig, SimDisk};

use super::*;
use crate::consensus::types::leader_id;
use crate::consensus::{DirectoryId, Term};
use crate::peer::{Acquaintance, LogEnd, PeerIdentity, Refusal};
use crate::seams::{Connection, Dial};

/// Dials a replica that accepts every call, and reads and answers nothing.
struct Mute;

impl Dial for Mute {
    fn dial(&self, address: String) -> BoxFuture<'static, std::io::Result<Connection>> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let answer = |_: hyper::Request<Incoming>| async {
            let nothing = futures::stream::pending::<Result<Frame<Bytes>, Infallible>>();
            let response = hyper::Response::builder().header("content-type", "application/grpc");
            response.body(StreamBody::new(nothing))
        };
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        tokio::spawn(server.serve_connection(TokioIo::new(theirs), service_fn(answer)));
        Box::pin(async move { Ok(Connection::new(ours, address)) })
    }
}

struct Stranger;

impl Acquaintance for Stranger {
    fn log_end(&self) -> LogEnd {
        LogEnd::Empty
    }

    fn remembered(&self, _: DirectoryId) -> Option<Remembered> {
        None
    }

    fn accepts(&self, _: DirectoryId, _: Option<Remembered>, _: LogEnd) -> bool {
        true
    }

    fn refused(&self, _: ReplicaId, _: Refusal) {}
}

fn link() -> Link {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
    let claim = Claim {
        cluster_name: "test".to_owned(),
        replica_id: 1,
        directory_id: [7; 16],
    };
    let directory = DataDirectory::open(Arc::clone(&disk), Path::new("/data"), &claim).unwrap();
    let config = LogConfig::new([7; 16]);
    let (log, _) = Log::open(Arc::clone(&disk), &directory.wal_path(), config).unwrap();
    let (checkpoints, _) = Checkpoints::load(&disk, &directory.checkpoints_path(), None).unwrap();
    let me = PeerIdentity {
        cluster: "test".to_owned(),
        replica: ReplicaId::new(1),
        directory: DirectoryId::from_bytes([7; 16]),
    };
    let peers = PeerClients::new(me, Arc::new(Mute), Stranger);
    let address = ReplicaAddress {
        peer: "replica:2".to_owned(),
        directory: DirectoryId::from_bytes([8; 16]),
    };
    let (two, acknowledgements) = (ReplicaId::new(2), Arc::new(Acknowledgements::new()));
    Link {
        conflicts: Arc::default(),
        target: two,
        peer: peers.link(two, &address),
        log,
        checkpoints,
        offload: Offload::Inline,
        heartbeats: Heartbeats::new(two, &acknowledgements, &Arc::default()),
        acknowledgements,
    }
}

#[tokio::test]
async fn requests_end_with_the_answers() {
    let request = AppendEntriesRequest {
        vote: Vote {
            leader_id: leader_id(Term::new(1), ReplicaId::new(1)),
            committed: true,
        },
        prev_log_id: None,
        entries: Vec::new(),
        leader_commit: None,
    };
    let (held, released) = oneshot::channel::<()>();
    let requests = futures::stream::iter([request]).chain(futures::stream::pending().inspect(
        move |_: &AppendEntriesRequest<TypeConfig>| {
            let _ = &held;
        },
    ));
    let mut link = link();
    let option = RPCOption::new(Duration::from_secs(1));
    let answers = link
        .stream_append(Box::pin(requests), option)
        .await
        .unwrap();
    let mut released = pin!(released);
    assert!(futures::poll!(released.as_mut()).is_pending());
    drop(answers);
    let ended = tokio::time::timeout(Duration::from_secs(10), released).await;
    assert!(
        ended.is_ok(),
        "openraft's requests are held by a call without a reader"
    );
}
