//! ZooKeeper by its own protocol, with many calls under way on one connection.
//!
//! A put is `setData`, a linearizable read `sync` and `getData` sent together, a swap `setData` with a version. Its watches
//! fire once and its leases are sessions, so neither is compared.

use std::sync::Arc;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

#[path = "zookeeper/connection.rs"]
mod connection;

use crate::audience::Audience;
use crate::session::{Answered, Key, Place, Reading, Session, Swap, Version, lacking};
use connection::{Connection, Reply};

const CREATE: i32 = 1;
const GET_DATA: i32 = 4;
const SET_DATA: i32 = 5;
const SYNC: i32 = 9;

const DONE: i32 = 0;
const NOT_THERE: i32 = -101;
const BAD_VERSION: i32 = -103;
const THERE_ALREADY: i32 = -110;

const ANY_VERSION: i32 = -1;

/// Where a stat holds the version of the data.
const VERSION_IN_STAT: std::ops::Range<usize> = 32..36;

pub(crate) struct ZooKeeper(Arc<Connection>);

fn put_bytes(body: &mut BytesMut, bytes: &[u8]) {
    body.put_i32(i32::try_from(bytes.len()).expect("values are short"));
    body.put_slice(bytes);
}

fn path(key: Key) -> BytesMut {
    let mut body = BytesMut::new();
    put_bytes(&mut body, format!("/{}", key.path()).as_bytes());
    body
}

fn version_in(stat: &[u8]) -> Answered<Version> {
    let mut version = stat.get(VERSION_IN_STAT).ok_or("a stat is too short")?;
    Ok(Version::try_from(version.get_i32())?)
}

fn refused(what: &str, error: i32) -> Box<dyn std::error::Error + Send + Sync> {
    format!("{what} was refused with {error}").into()
}

impl ZooKeeper {
    async fn call(&self, operation: i32, body: BytesMut) -> Answered<Reply> {
        Ok(self.send(operation, body).await?.await?)
    }

    async fn send(&self, operation: i32, body: BytesMut) -> Answered<oneshot::Receiver<Reply>> {
        self.0.send(operation, body.freeze()).await
    }

    async fn set(&self, key: Key, value: &[u8], version: i32) -> Answered<Reply> {
        let mut body = path(key);
        put_bytes(&mut body, value);
        body.put_i32(version);
        self.call(SET_DATA, body).await
    }

    /// Creates the key below its set, which is created too.
    async fn create(&self, key: Key, value: &[u8]) -> Answered<()> {
        let set = format!("/{}", key.keys.name());
        let own = format!("/{}", key.path());
        for (path, data) in [(set, &[][..]), (own, value)] {
            let mut body = BytesMut::new();
            put_bytes(&mut body, path.as_bytes());
            put_bytes(&mut body, data);
            // One entry of an access list: all rights for everybody. Then no flags: it stays.
            body.put_i32(1);
            body.put_i32(31);
            put_bytes(&mut body, b"world");
            put_bytes(&mut body, b"anyone");
            body.put_i32(0);
            match self.call(CREATE, body).await?.error {
                DONE | THERE_ALREADY => {}
                error => return Err(refused("create", error)),
            }
        }
        Ok(())
    }
}

impl Session for ZooKeeper {
    type Lease = ();

    async fn open(place: &Place) -> Answered<Self> {
        Ok(Self(Arc::new(Connection::open(place.address).await?)))
    }

    fn beside(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    async fn put(&mut self, key: Key, value: Bytes) -> Answered<()> {
        match self.set(key, &value, ANY_VERSION).await?.error {
            DONE => Ok(()),
            NOT_THERE => self.create(key, &value).await,
            error => Err(refused("setData", error)),
        }
    }

    async fn get(&mut self, key: Key, reading: Reading) -> Answered<Version> {
        let sync = match reading {
            Reading::Linearizable => Some(self.send(SYNC, path(key)).await?),
            Reading::Serializable => None,
        };
        let mut body = path(key);
        // No watch.
        body.put_u8(0);
        let mut data = self.call(GET_DATA, body).await?;
        if let Some(sync) = sync {
            let synced = sync.await?;
            if synced.error != DONE {
                return Err(refused("sync", synced.error));
            }
        }
        if data.error != DONE {
            return Err(refused("getData", data.error));
        }
        let length = usize::try_from(data.body.try_get_i32()?)?;
        version_in(data.body.get(length..).ok_or("an answer is too short")?)
    }

    async fn swap(&mut self, key: Key, version: Version, value: Bytes) -> Answered<Swap> {
        let reply = self.set(key, &value, i32::try_from(version)?).await?;
        match reply.error {
            DONE => Ok(Swap::Done(version_in(&reply.body)?)),
            // The refusal does not say what is there.
            BAD_VERSION => Ok(Swap::Lost(self.get(key, Reading::Serializable).await?)),
            error => Err(refused("setData", error)),
        }
    }

    async fn grant(&mut self) -> Answered<()> {
        lacking("lease")
    }

    async fn renew(&mut self, (): &()) -> Answered<()> {
        lacking("lease")
    }

    async fn watch(&mut self, _: u64, _: Arc<Audience>) -> Answered<JoinSet<()>> {
        lacking("watch that stays")
    }
}
