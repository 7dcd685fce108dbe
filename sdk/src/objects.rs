//! Objects: as bytes, and as values of one type.

mod codec;
mod guaranteed;
mod pages;
mod raw;
mod reflector;
mod stored;
mod typed;
mod watch;

pub use codec::{Codec, CodecError};
pub(crate) use codec::{not_decoded, not_encoded};
pub use guaranteed::Draft;
pub use pages::{ListObjects, ObjectPages};
pub use raw::RawObjects;
pub use reflector::ObjectReflector;
pub use stored::{Patched, Stored, Updated};
pub use typed::{NewObject, Objects};
pub use watch::{ObjectEvent, ObjectMessage, ObjectWatch, WatchObjects};
