//! What the callers of a replica may do.
//!
//! A [`Policy`] is a list of grants. A grant gives a [`Role`] to the callers whose proved name matches it, says as which
//! member they act, and may narrow the role to namespaces, collections and leases. What no grant allows is refused. The
//! policy knows neither files nor certificates nor the time: a replica proves who calls, and asks the policy.
//!
//! - [`Policy`]: reads the file, and finds the [`Rights`] of a caller.
//! - [`Rights`]: decides about one call by what it [`Item`]s names.

mod caller;
mod fault;
mod grant;
mod item;
mod pattern;
mod policy;
mod right;
mod rights;
mod tokens;

pub use caller::Caller;
pub use fault::Fault;
pub use grant::Grant;
pub use item::{Item, Spot};
pub use policy::Policy;
pub use right::{Right, Role};
pub use rights::{Denial, Rights};
pub use tokens::Tokens;

/// The collection under whose name ControllerRevisions are granted.
pub const HISTORIES: &str = "controllerrevisions.apps";
