//! What the clients of other languages share: the Rust client, without types of its own at the border.
//!
//! Everything that crosses the border is a text, a number or a handle. A text is a document in protobuf's JSON form of the
//! messages of `synod.v1`: keys in lowerCamelCase, 64-bit numbers as decimal strings, bytes in base64, enums by their full
//! names. So a language needs no conversion for each message, and all of them see the same.
//!
//! - [`Bound`] is a client: [`Bound::call`] calls any method by its name, the others open handles.
//! - [`Failure`] is why something was not done, with all that a program may decide by.
//! - [`Feed`] is how results come: wait until one is [`ready`](Feed::ready), then [`pop`](Feed::pop) it. A waiter that is
//!   cancelled loses nothing: neither an event nor a permit nor a lock.
//! - [`Membership`], [`Gate`] and [`Permit`]; [`Watch`] and [`Reflector`]; [`Lock`] and [`Election`]; [`Objects`] with
//!   [`Updater`] and [`Creator`]; [`Migrator`]: the handles, each a thin cover of what it is called after in the client.
//! - [`counts()`] says how many handles there are, for tests that look for leaks.
//!
//! There is no rule here, and no retry: what a handle does is decided in the client, or in the cluster.
//!
//! Every future here is polled, and every handle dropped, by a program that has a tokio runtime. Handles may be dropped
//! outside of it.

mod bound;
mod counts;
mod failure;
mod feed;
mod gate;
pub mod generate;
mod lock;
mod membership;
mod migrator;
mod objects;
mod options;
mod reflector;
mod task;
mod watch;

pub use bound::Bound;
pub use counts::{Counts, counts};
pub use failure::{Details, Failure, Fault, RequestKey};
pub use feed::{Feed, Taken};
pub use gate::{Admitted, Door, Gate, Permit};
pub use lock::{Election, LeadingEnd, Lock};
pub use membership::Membership;
pub use migrator::Migrator;
pub use objects::{Creator, Objects, Step, Updater};
pub use reflector::Reflector;
pub use task::Task;
pub use watch::Watch;
