//! The exact number of objects in each version is what a list of them says.

use std::collections::BTreeMap;

use synod_model::{ApiVersion, LabelSelector};
use synod_server::consensus::Published;

use crate::net::Host;

/// Looking at everything after every step would take most of the time of a run.
const EVERY: u64 = 100;

/// How often each replica was looked at.
#[derive(Default)]
pub(crate) struct Counts(BTreeMap<Host, u64>);

impl Counts {
    pub(crate) fn look(&mut self, host: Host, published: &Published) {
        let steps = self.0.entry(host).or_default();
        *steps += 1;
        if !steps.is_multiple_of(EVERY) {
            return;
        }
        let (present, all) = (published.state.present(), LabelSelector::default());
        for collection in present.collections(None) {
            let resource = &collection.resource;
            let mut listed: BTreeMap<ApiVersion, u64> = BTreeMap::new();
            for object in present.objects(resource, None, &all, None) {
                *listed.entry(object.content.encoding.clone()).or_default() += 1;
            }
            let counted = present.object_counts(resource);
            assert_eq!(counted, listed, "{host} counts {resource} otherwise");
        }
    }
}
