//! Objects: as bytes, and as values of one type.

mod codec;
mod creator;
mod encoding;
mod guaranteed;
mod pages;
mod raw;
mod reflector;
mod stored;
mod typed;
mod updater;
mod watch;

pub use codec::{Codec, CodecError};
pub(crate) use codec::{not_decoded, not_encoded};
pub use creator::Creator;
pub use encoding::EncodingVersion;
pub use guaranteed::Draft;
pub use pages::ListObjects;
pub use raw::RawObjects;
pub use reflector::ObjectReflector;
pub use stored::{ObjectPatch, Patched, Stored, Updated};
pub use typed::{NewObject, Objects};
pub use updater::{UpdateStep, Updater};
pub use watch::{ObjectEvent, ObjectMessage, ObjectWatch, WatchObjects};
