//! A client of Kubernetes-style API servers.
//!
//! - [`Kubeconfig`] says how to reach which server as whom; [`Access`] is what it says of one context, or what a pod has.
//! - [`ApiServer`] calls one server. A connection is made with the files of certificates as they are then, and each request
//!   with the token as it is then; a request that the server refuses for who calls is made once more as whom the files and
//!   plugins say by then.
//! - [`Resource`] is where a server serves the objects of a resource, as its discovery says, and [`Page`] some of them.
//!
//! Nothing here retries otherwise, and every wait has a deadline: what to do about an answer is for the caller.

mod access;
mod client;
mod connect;
mod discovery;
mod fault;
mod identity;
mod impersonation;
mod kubeconfig;
mod list;
mod reply;
mod trust;

pub use access::{Access, Address, Proxy};
pub use client::ApiServer;
pub use discovery::Resource;
pub use fault::{Fault, Misconfigured};
pub use identity::{ExecPlugin, Identity, Login};
pub use impersonation::Impersonation;
pub use kubeconfig::Kubeconfig;
pub use list::{Item, Page};
pub use reply::{Details, Metadata, Reply, Status, may_pass};
pub use trust::Trust;
