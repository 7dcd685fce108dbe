//! etcd by its third API.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::Streaming;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

use crate::audience::Audience;
use crate::etcd::call;
use crate::etcd::messages::{
    Compare, Compared, LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest,
    LeaseKeepAliveResponse, Op, PutRequest, PutResponse, RangeRequest, RangeResponse, RequestOp,
    TARGET_MOD, TxnRequest, TxnResponse, WatchCreate, WatchRequest, WatchResponse,
};
use crate::session::{
    Answered, Key, Keys, Place, Reading, Session, Swap, TTL, Version, dial, stream_of,
};

/// The number of requests for watches that may wait to be sent.
const CREATES_MAX: usize = 64;

const RANGE: &str = "/etcdserverpb.KV/Range";
const TXN: &str = "/etcdserverpb.KV/Txn";

pub(crate) struct Etcd {
    client: Grpc<Channel>,
    renewals: Option<Renewals>,
}

struct Renewals {
    requests: mpsc::Sender<LeaseKeepAliveRequest>,
    responses: Streaming<LeaseKeepAliveResponse>,
}

impl Etcd {
    async fn stream<Q, A>(
        &mut self,
        path: &'static str,
        queue: mpsc::Receiver<Q>,
    ) -> Answered<Streaming<A>>
    where
        Q: Message + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        self.client.ready().await?;
        let codec: ProstCodec<Q, A> = ProstCodec::default();
        let request = tonic::Request::new(stream_of(queue));
        let path = PathAndQuery::from_static(path);
        Ok(self
            .client
            .streaming(request, path, codec)
            .await?
            .into_inner())
    }

    /// The versions of all keys of a set, in the order of those.
    pub(crate) async fn versions(&mut self, keys: Keys) -> Answered<Vec<Version>> {
        let (key, range_end) = all_of(keys);
        let request = RangeRequest {
            key,
            range_end,
            serializable: false,
        };
        let range: RangeResponse = call(&mut self.client, RANGE, request).await?;
        let versions = range
            .kvs
            .iter()
            .map(|kv| Version::try_from(kv.mod_revision));
        Ok(versions.collect::<Result<_, _>>()?)
    }

    /// Writes all of the keys in one transaction. Returns whether each was still at its version.
    pub(crate) async fn swap_all(&mut self, swaps: Vec<(Key, Version, Bytes)>) -> Answered<bool> {
        let mut request = TxnRequest::default();
        for (key, version, value) in swaps {
            request.compare.push(is_at(key, version)?);
            request.success.push(op(Op::Put(put(key, value))));
        }
        let response: TxnResponse = call(&mut self.client, TXN, request).await?;
        Ok(response.succeeded)
    }

    /// Opens the stream with its first request: etcd answers nothing before.
    async fn renewals(&mut self, first: LeaseKeepAliveRequest) -> Answered<&mut Renewals> {
        if let Some(renewals) = &self.renewals {
            renewals.requests.send(first).await?;
        } else {
            let (requests, queue) = mpsc::channel(1);
            requests.send(first).await?;
            let responses = self
                .stream("/etcdserverpb.Lease/LeaseKeepAlive", queue)
                .await?;
            self.renewals = Some(Renewals {
                requests,
                responses,
            });
        }
        Ok(self.renewals.as_mut().expect("it is there now"))
    }
}

fn put(key: Key, value: Bytes) -> PutRequest {
    let key = key.path().into();
    PutRequest { key, value }
}

fn range(key: Key, reading: Reading) -> RangeRequest {
    RangeRequest {
        key: key.path().into(),
        range_end: Bytes::new(),
        serializable: reading == Reading::Serializable,
    }
}

fn is_at(key: Key, version: Version) -> Answered<Compare> {
    Ok(Compare {
        target: TARGET_MOD,
        key: key.path().into(),
        compared: Some(Compared::ModRevision(i64::try_from(version)?)),
    })
}

fn op(op: Op) -> RequestOp {
    RequestOp { op: Some(op) }
}

/// The range of all keys of a set: from its name and a slash to the name and what follows a slash.
fn all_of(keys: Keys) -> (Bytes, Bytes) {
    let bound = |end| format!("{}{end}", keys.name()).into();
    (bound('/'), bound('0'))
}

fn version_in(range: &RangeResponse) -> Answered<Version> {
    let found = range.kvs.first().ok_or("a key is missing")?;
    Ok(Version::try_from(found.mod_revision)?)
}

impl Session for Etcd {
    type Lease = i64;

    async fn open(place: &Place) -> Answered<Self> {
        Ok(Self {
            client: Grpc::new(dial(place).await?),
            renewals: None,
        })
    }

    fn beside(&self) -> Self {
        Self {
            client: self.client.clone(),
            renewals: None,
        }
    }

    async fn put(&mut self, key: Key, value: Bytes) -> Answered<()> {
        let request = put(key, value);
        let _: PutResponse = call(&mut self.client, "/etcdserverpb.KV/Put", request).await?;
        Ok(())
    }

    async fn get(&mut self, key: Key, reading: Reading) -> Answered<Version> {
        let request = range(key, reading);
        version_in(&call(&mut self.client, RANGE, request).await?)
    }

    async fn swap(&mut self, key: Key, version: Version, value: Bytes) -> Answered<Swap> {
        let request = TxnRequest {
            compare: vec![is_at(key, version)?],
            success: vec![op(Op::Put(put(key, value)))],
            failure: vec![op(Op::Range(range(key, Reading::Linearizable)))],
        };
        let response: TxnResponse = call(&mut self.client, TXN, request).await?;
        if response.succeeded {
            let header = response.header.ok_or("an answer has no header")?;
            return Ok(Swap::Done(Version::try_from(header.revision)?));
        }
        let range = response.responses.first().and_then(|op| op.range.as_ref());
        Ok(Swap::Lost(version_in(range.ok_or("a range is missing")?)?))
    }

    async fn grant(&mut self) -> Answered<i64> {
        let request = LeaseGrantRequest {
            ttl_seconds: i64::try_from(TTL.as_secs())?,
        };
        let path = "/etcdserverpb.Lease/LeaseGrant";
        let response: LeaseGrantResponse = call(&mut self.client, path, request).await?;
        Ok(response.id)
    }

    async fn renew(&mut self, lease: &i64) -> Answered<()> {
        let renewals = self.renewals(LeaseKeepAliveRequest { id: *lease }).await?;
        match renewals.responses.message().await? {
            Some(response) if response.id == *lease && response.ttl_seconds > 0 => Ok(()),
            other => Err(format!("a renewal was answered by {other:?}").into()),
        }
    }

    async fn watch(&mut self, watches: u64, audience: Arc<Audience>) -> Answered<JoinSet<()>> {
        let (requests, queue) = mpsc::channel(CREATES_MAX);
        let (key, range_end) = all_of(Keys::Watched);
        let create = WatchRequest {
            create: Some(WatchCreate { key, range_end }),
        };
        requests.send(create.clone()).await?;
        let mut stream: Streaming<WatchResponse> =
            self.stream("/etcdserverpb.Watch/Watch", queue).await?;
        for created in 1..=watches {
            let response = stream.message().await?.ok_or("a watch ended")?;
            if !response.created {
                return Err("a watch was not created".into());
            }
            if created < watches {
                requests.send(create.clone()).await?;
            }
        }
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // Without a sender the stream would end.
            let _requests = requests;
            while let Ok(Some(response)) = stream.message().await
                && !response.canceled
            {
                for written in response.events.into_iter().filter_map(|event| event.kv) {
                    audience.saw(&written.value, 1);
                }
            }
        });
        Ok(tasks)
    }
}
