//! A server that encrypts what it stores.

use std::collections::BTreeSet;

use std::sync::Arc;
use std::time::Duration;

use synod_client::{
    ApiVersion, Client, JoinOptions, Kind, MemberId, Membership, ReportEntry, Stance, StoredIn,
    Topic, apiserver_id,
};
use tokio::time::sleep;

use crate::Failed;
use crate::keyring::{Keyring, Secret};
use crate::store::Store;

pub(crate) struct Server {
    name: String,
    topic: Topic,
    keyring: Arc<Keyring>,
    store: Store,
    membership: Membership,
}

impl Server {
    /// Joins, and reports the keys that it holds. It would write with the last.
    pub(crate) async fn start(
        client: &Client,
        topic: &Topic,
        store: &Store,
        name: &str,
        secrets: &[&Secret],
    ) -> Result<Self, Failed> {
        let keyring = Keyring::holding(secrets)?;
        let preferred = secrets.last().ok_or("a server holds a key")?.name().clone();
        let held = || secrets.iter().map(|secret| secret.name().clone()).collect();
        let entry = ReportEntry {
            resource: topic.resource().clone(),
            kind: Kind::parse("Secret")?,
            decodable: held(),
            served: held(),
            serve_until: None,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
            stance: Stance::Voting { preferred },
        };
        let membership = client.join(JoinOptions::new(apiserver_id(name))).await?;
        // Refused if objects may be encrypted with a key that this server lacks.
        membership.report(vec![entry]).await?;
        membership.ready().await?;
        Ok(Self {
            name: name.to_owned(),
            topic: topic.clone(),
            keyring: Arc::new(keyring),
            store: store.clone(),
            membership,
        })
    }

    /// Stores an object, encrypted with the key that the permit names.
    pub(crate) async fn write(&self, name: &str, text: &str) -> Result<(), Failed> {
        let permit = self.membership.gate().permit(self.topic.resource()).await?;
        let sealed = self
            .keyring
            .seal(permit.encoding(), name, text.as_bytes())?;
        // Right before the store: the permit may have become void since it was given.
        permit.check()?;
        self.store.put(name, sealed);
        // If the store might not have answered, this would be `unknown_outcome`.
        permit.done();
        Ok(())
    }

    /// Reads an object. Reads need no permit.
    pub(crate) fn read(&self, name: &str) -> Result<String, Failed> {
        let sealed = self.store.get(name).ok_or("there is no such object")?;
        Ok(String::from_utf8(self.keyring.open(name, &sealed)?)?)
    }

    /// Waits until permits name this key: the server learns of the choice by a watch, a moment later.
    pub(crate) async fn writes_with(&self, key: &ApiVersion) -> Result<(), Failed> {
        loop {
            let permit = self.membership.gate().permit(self.topic.resource()).await?;
            if permit.encoding() == key {
                return Ok(());
            }
            // Given back, as the server moves to the new key once no write with the old one is under way.
            permit.done();
            sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) fn id(&self) -> &MemberId {
        self.membership.id()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Ends without a word, as a process does that is killed: the cluster has to assume that it may still write.
    pub(crate) fn kill(self) {
        drop(self);
    }

    pub(crate) async fn stop(self) -> Result<(), Failed> {
        // No permit is out any more, so this need not wait.
        Ok(self.membership.leave(Duration::from_secs(5)).await?)
    }
}
