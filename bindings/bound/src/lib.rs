//! The Rust client without Rust types at its interface: the common base of the Python and Node clients.
//!
//! Everything that crosses the interface is a text, a number or a handle. A text is a document in protobuf's JSON form
//! of the messages of `synod.v1`: keys in lowerCamelCase, 64-bit numbers as decimal strings, bytes in base64, enums by
//! their full names. So a language needs no conversion for each message, and all languages see the same values.
//!
//! - [`Bound`] is a client: [`Bound::call`] calls any method by its name, the other functions open handles.
//! - [`Failure`] is the error of every function, with everything that a program may decide by.
//! - [`Feed`] hands over results: wait until one is [`ready`](Feed::ready), then [`pop`](Feed::pop) it. A cancelled
//!   waiter loses nothing: neither an event nor a permit nor a lock.
//! - [`Membership`], [`Gate`] and [`Permit`]; [`Watch`] and [`Reflector`]; [`Lock`] and [`Election`]; [`Objects`] with
//!   [`Updater`] and [`Creator`], and [`ObjectReflector`]; [`Migrator`] and [`FenceGuard`]: the handles, each a thin
//!   wrapper of the client's type of that name.
//! - [`topic()`] and [`topic_of`] tell what a topic is, by its text and by its resource.
//! - [`Caller`] is the span of the program in which something is asked for: the replicas' spans are below it, and what was
//!   asked in it is noted. [`request_of`] is what a function of a handle asks, which a language names its span after.
//! - [`counts()`] returns how many handles are alive, for tests that look for leaks.
//!
//! This crate has no rules and no retries of its own: the client or the cluster decides what a handle does.
//!
//! Futures of this crate must be polled within a tokio runtime. Handles may be dropped outside of it.

mod backup;
mod bound;
mod caller;
mod counts;
mod failure;
mod feed;
mod fence;
mod gate;
pub mod generate;
mod lock;
mod membership;
mod migrator;
mod object_reflector;
mod objects;
mod options;
mod reflector;
mod task;
mod tls;
mod topic;
mod watch;

pub use bound::Bound;
pub use caller::{Asked, Caller, FailedTry, grpc_status_of, request_of};
pub use counts::{Counts, counts};
pub use failure::{Details, Failure, Fault, RequestKey};
pub use feed::{Feed, Taken};
pub use fence::FenceGuard;
pub use gate::{Admitted, Door, Gate, Permit};
pub use lock::{Election, LeadingEnd, Lock};
pub use membership::Membership;
pub use migrator::{Asking, Migrator};
pub use object_reflector::{ObjectReflector, Pulled};
pub use objects::{Creator, Objects, Step, Updater};
pub use reflector::Reflector;
pub use task::Task;
pub use topic::{topic, topic_of};
pub use watch::Watch;
