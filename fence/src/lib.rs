//! Fences in a server's own store: no write that comes too late undoes a migration.
//!
//! A server asks Synod's gate in which version to encode, and then calls its store. A call that is held up for longer than
//! `write_grace` may land behind a migration worker and put an old version back, where nobody looks for one. A store that
//! compares and writes in one step keeps that out. Beside the objects of a resource it holds a fence key; the worker raises
//! it to the agreement of its migration before it lists ([`synod_client::Fenced`]), and every write of a server compares it.
//!
//! - [`KeyStore`] is what a store has to do: read a key, list keys, and write a key if conditions on keys hold.
//! - [`Etcd`] is one: etcd, over its JSON gateway. Other stores implement the trait; so does an etcd that is reached by a
//!   client which the server already has, with its transport security and its users.
//! - [`FencedWriter`] is the server's side: each write is made on condition that the fence is one that the server may
//!   write behind.
//! - [`FencedObjects`] is the worker's side: with a [`Recoder`], which knows where objects are and how they are encoded.
//! - [`Fault`] is what may come of a call: it was not executed, it was refused, or nobody knows. A permit of the gate is
//!   given back by that, so that a write of unknown outcome is waited for.
//!
//! A delete leaves no old version behind, so it needs no fence.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use synod_client::{Client, GroupResource, Membership};
//! use synod_fence::{Etcd, FencedWriter};
//!
//! # async fn example(client: Client, membership: Membership) -> Result<(), Box<dyn std::error::Error>> {
//! let etcd = Etcd::new("http://127.0.0.1:2379");
//! let writer = FencedWriter::new(&client, membership.id().clone(), etcd, "/fences/").await?;
//! let widgets = GroupResource::new("example.io", "widgets")?;
//! writer
//!     .update(&membership.gate(), &widgets, "/objects/widgets/one", Duration::from_secs(10), |_, encoding| {
//!         Ok(format!(r#"{{"apiVersion":"{encoding}","size":1}}"#).into_bytes())
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```

mod etcd;
mod fault;
mod fence_key;
mod key_store;
mod objects;
mod writer;

pub use etcd::Etcd;
pub use fault::Fault;
pub use key_store::{Condition, KeyStore, Page, Pair};
pub use objects::{FencedObjects, Recoder};
pub use writer::{FencedWriter, Prepared, Written};
