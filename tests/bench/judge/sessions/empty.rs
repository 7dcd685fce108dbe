//! The empty service, which knows reads alone.

use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinSet;
use tonic::client::Grpc;
use tonic::transport::Channel;

use crate::audience::Audience;
use crate::empty::{Answer, METHOD, Question};
use crate::etcd::call;
use crate::session::{Answered, Key, Place, Reading, Session, Swap, Version, dial, lacking};

pub(crate) struct Empty(Grpc<Channel>);

impl Session for Empty {
    type Lease = ();

    async fn open(place: &Place) -> Answered<Self> {
        Ok(Self(Grpc::new(dial(place).await?)))
    }

    fn beside(&self) -> Self {
        Self(self.0.clone())
    }

    async fn put(&mut self, _: Key, _: Bytes) -> Answered<()> {
        // There is nothing to prepare for reads.
        Ok(())
    }

    async fn get(&mut self, key: Key, _: Reading) -> Answered<Version> {
        let key = key.path().into();
        let _: Answer = call(&mut self.0, METHOD, Question { key }).await?;
        Ok(0)
    }

    async fn swap(&mut self, _: Key, _: Version, _: Bytes) -> Answered<Swap> {
        lacking("compare-and-set")
    }

    async fn grant(&mut self) -> Answered<()> {
        lacking("lease")
    }

    async fn renew(&mut self, (): &()) -> Answered<()> {
        lacking("lease")
    }

    async fn watch(&mut self, _: u64, _: Arc<Audience>) -> Answered<JoinSet<()>> {
        lacking("watch")
    }
}
