//! Objects that Python encodes and decodes.

use pyo3::prelude::*;
use synod_bound::Step;

use crate::handle::handle;

handle! {
    /// The objects of a collection.
    Objects(synod_bound::Objects) {
        now version(objects) -> String { objects.version() }
        now encode_in(objects, version: &str) -> () { objects.encode_in(version)? }
        now updater(objects, key: &str, cached: Option<&str>) -> Updater { objects.updater(key, cached)? }
        now creator(objects, options: &str) -> Creator { objects.creator(options)? }
    }
}

/// The next step: the object and the version to encode it in. At the end there is no version, and the two flags say
/// whether the object was changed, and whether it is gone.
type StepTuple = (String, Option<String>, bool, bool);

fn told(step: Step) -> StepTuple {
    match step {
        Step::Change { object, version } => (object, Some(version), false, false),
        Step::Done {
            object,
            changed,
            deleted,
        } => (object, None, changed, deleted),
    }
}

handle! {
    /// A change on its way.
    Updater(synod_bound::Updater) {
        later begin(updater) -> StepTuple { told(updater.begin().await?) }
        later failed(updater) -> Option<StepTuple> { updater.failed().await?.map(told) }

        later write(updater, attributes: String, content: String, same: bool) -> StepTuple {
            told(updater.write(&attributes, &content, Some(same)).await?)
        }
    }
}

handle! {
    /// A new object on its way.
    Creator(synod_bound::Creator) {
        later version(creator) -> String { creator.version().await }
        later write(creator, content: String) -> Option<String> { creator.write(&content).await? }
    }
}
