//! Synod by single calls, and by a stream for each watch and each client that renews.

use std::sync::Arc;

use bytes::Bytes;
use synod_proto::status::from_status;
use synod_proto::v1;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::objects_client::ObjectsClient;
use synod_proto::v1::watch_client::WatchClient;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::Streaming;
use tonic::transport::Channel;

use super::objects;
use crate::audience::Audience;
use crate::session::{Answered, Key, Place, Reading, Session, Swap, Version, dial, stream_of};

pub(crate) struct Unary {
    channel: Channel,
    objects: ObjectsClient<Channel>,
    leases: LeasesClient<Channel>,
    renewals: Option<Renewals>,
}

struct Renewals {
    requests: mpsc::Sender<v1::LeasesRenewRequest>,
    responses: Streaming<v1::LeasesRenewResponse>,
}

impl Unary {
    fn on(channel: Channel) -> Self {
        Self {
            objects: ObjectsClient::new(channel.clone()),
            leases: LeasesClient::new(channel.clone()),
            channel,
            renewals: None,
        }
    }

    async fn renewals(&mut self) -> Answered<&mut Renewals> {
        if self.renewals.is_none() {
            let (requests, queue) = mpsc::channel(1);
            let responses = self.leases.renew(stream_of(queue)).await?.into_inner();
            self.renewals = Some(Renewals {
                requests,
                responses,
            });
        }
        Ok(self.renewals.as_mut().expect("it is there now"))
    }
}

impl Session for Unary {
    type Lease = v1::LeasesRenewRequest;

    async fn open(place: &Place) -> Answered<Self> {
        Ok(Self::on(dial(place).await?))
    }

    fn beside(&self) -> Self {
        Self::on(self.channel.clone())
    }

    async fn put(&mut self, key: Key, value: Bytes) -> Answered<()> {
        self.objects
            .update(objects::update(key, value, None))
            .await?;
        Ok(())
    }

    async fn get(&mut self, key: Key, reading: Reading) -> Answered<Version> {
        let response = self.objects.get(objects::get(key, reading)).await?;
        objects::version(response.into_inner())
    }

    async fn swap(&mut self, key: Key, version: Version, value: Bytes) -> Answered<Swap> {
        let request = objects::update(key, value, Some(version));
        match self.objects.update(request).await {
            Ok(response) => Ok(Swap::Done(response.into_inner().resource_version)),
            Err(status) => objects::lost(&from_status(&status)),
        }
    }

    async fn grant(&mut self) -> Answered<Self::Lease> {
        let request = objects::acquire();
        let lease = request.lease.clone();
        let response = self.leases.acquire(request).await?;
        objects::renewal(lease, response.into_inner())
    }

    async fn renew(&mut self, lease: &Self::Lease) -> Answered<()> {
        let renewals = self.renewals().await?;
        renewals.requests.send(lease.clone()).await?;
        let response = renewals.responses.message().await?;
        objects::renewed(response.ok_or("the renewals ended")?)
    }

    async fn watch(&mut self, watches: u64, audience: Arc<Audience>) -> Answered<JoinSet<()>> {
        let mut tasks = JoinSet::new();
        let mut client = WatchClient::new(self.channel.clone());
        for _ in 0..watches {
            let mut stream = client.watch(objects::watch()).await?.into_inner();
            // The first message is a bookmark: what comes after it is seen.
            stream.message().await?.ok_or("a watch ended")?;
            let audience = Arc::clone(&audience);
            tasks.spawn(async move {
                while let Ok(Some(response)) = stream.message().await {
                    objects::show(response, 1, &audience);
                }
            });
        }
        Ok(tasks)
    }
}
