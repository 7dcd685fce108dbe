//! The stored numbers of objects in each version are those that a list gives.

use std::collections::BTreeMap;

use synod_model::{ApiVersion, LabelSelector};
use synod_server::consensus::Published;

use crate::net::Host;

/// Checks every 100th step only, since looking at the whole state takes most of the time of a run.
const EVERY: u64 = 100;

/// The number of steps, for each replica.
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
            let objects = present.objects(resource, None, &all, None);
            let listed = objects.map(|object| object.content.encoding.clone());
            let checked = check(&present.object_counts(resource), listed);
            checked.unwrap_or_else(|fault| panic!("{host}, {resource}: {fault}"));
        }
    }
}

/// Checks that the counts of each version agree with a list.
fn check(
    counted: &BTreeMap<ApiVersion, u64>,
    listed: impl Iterator<Item = ApiVersion>,
) -> Result<(), String> {
    let mut expected: BTreeMap<ApiVersion, u64> = BTreeMap::new();
    for version in listed {
        *expected.entry(version).or_default() += 1;
    }
    (*counted == expected)
        .then_some(())
        .ok_or_else(|| format!("{counted:?} are counted, and {expected:?} are listed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> ApiVersion {
        ApiVersion::parse(text).unwrap()
    }

    fn checked(counted: &[(&str, u64)], listed: &[&str]) -> Result<(), String> {
        let counted = counted.iter().map(|(text, count)| (version(text), *count));
        check(&counted.collect(), listed.iter().map(|text| version(text)))
    }

    #[test]
    fn a_count_that_no_list_bears_out_is_found() {
        let listed = ["v1", "v2", "v1"];
        checked(&[("v1", 2), ("v2", 1)], &listed).unwrap();
        checked(&[], &[]).unwrap();
        for wrong in [
            // One too many, one too few, one in another version, a listed version without a count, and a count of zero.
            &[("v1", 3), ("v2", 1)][..],
            &[("v1", 1), ("v2", 1)],
            &[("v1", 1), ("v2", 2)],
            &[("v1", 2)],
            &[("v1", 2), ("v2", 1), ("v3", 0)],
        ] {
            let fault = checked(wrong, &listed).unwrap_err();
            assert!(fault.contains("are listed"), "{fault}");
        }
    }
}
