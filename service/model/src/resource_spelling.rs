//! Resources as people type them: `<resource>.<group>`, and the form `<group>.<resource>` of Kubernetes' StorageVersions.

use std::collections::BTreeSet;

use crate::{GroupResource, Topic, Violations};

/// A text that names a resource, with both ways to read it.
///
/// A resource is typed as [`GroupResource::qualified`] prints it, `widgets.example.io`, or as a [`Topic`]. The name of its
/// StorageVersion, `example.io.widgets`, has the same shape, so only the resources that a cluster knows tell the two apart:
/// [`resolve`](Self::resolve).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSpelling {
    text: String,
    /// The text read as `<resource>.<group>` or as a topic.
    written: Result<GroupResource, Violations>,
    /// The text read as `<group>.<resource>`, if that is another resource.
    upstream: Option<GroupResource>,
}

/// The result of looking a text up among the resources that a cluster knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceResolution {
    /// The known resource that is written as it has to be.
    Written(GroupResource),
    /// The one known resource that fits, by the form `<group>.<resource>`.
    Upstream(GroupResource),
    /// Two known resources: one as `<resource>.<group>`, the other one as `<group>.<resource>`.
    Ambiguous(GroupResource, GroupResource),
    /// No known resource; the known one with the nearest name, if a name is near.
    Unknown(Option<GroupResource>),
}

impl ResourceSpelling {
    /// Reads a text, without asking what is known.
    ///
    /// # Errors
    ///
    /// Neither form fits: the rules that the text breaks as `<resource>.<group>`, or as a topic if it has a slash.
    pub fn parse(text: &str) -> Result<Self, Violations> {
        let (written, upstream) = match text.split_once('/') {
            Some((kind, name)) => {
                let topic = Topic::parse(text)?.resource().clone();
                (Ok(topic), upstream_topic(kind, name))
            }
            None => (
                GroupResource::parse_qualified(text),
                GroupResource::parse_storage_version_name(text).ok(),
            ),
        };
        let upstream = upstream.filter(|upstream| Some(upstream) != written.as_ref().ok());
        if let (Err(violations), None) = (&written, &upstream) {
            return Err(violations.clone());
        }
        Ok(Self {
            text: text.to_owned(),
            written,
            upstream,
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The resource as it is written, `<resource>.<group>` or a topic, whether or not anything knows it.
    ///
    /// # Errors
    ///
    /// The rules that the text breaks in this form.
    pub fn as_written(&self) -> Result<GroupResource, Violations> {
        self.written.clone()
    }

    /// The resource of the first form that fits: as it is written, else as `<group>.<resource>`. For checks of what is typed before
    /// a cluster is asked.
    pub fn first_reading(&self) -> &GroupResource {
        let written = self.written.as_ref().ok();
        let first = written.or(self.upstream.as_ref());
        first.expect("a text that fits no form is not parsed")
    }

    /// Finds the resource among those that a cluster knows.
    pub fn resolve(&self, known: &BTreeSet<GroupResource>) -> ResourceResolution {
        let is_known = |resource: &&GroupResource| known.contains(*resource);
        let written = self.written.as_ref().ok().filter(is_known);
        let upstream = self.upstream.as_ref().filter(is_known);
        match (written.cloned(), upstream.cloned()) {
            // A topic is written out in full, so it needs no second reading.
            (Some(written), Some(upstream)) if !self.is_topic() => {
                ResourceResolution::Ambiguous(written, upstream)
            }
            (Some(written), _) => ResourceResolution::Written(written),
            (None, Some(upstream)) => ResourceResolution::Upstream(upstream),
            (None, None) => ResourceResolution::Unknown(self.nearest(known)),
        }
    }

    /// The known resource with the nearest name in any form, at most half of the text away. Of a text without a group, names are
    /// compared without theirs, too.
    fn nearest(&self, known: &BTreeSet<GroupResource>) -> Option<GroupResource> {
        let is_bare = !self.text.contains(['.', '/']);
        let distance = |resource: &GroupResource| {
            let topic = Topic::of(resource).to_string();
            let upstream = resource.storage_version_name();
            let bare = if is_bare {
                resource.resource()
            } else {
                &upstream
            };
            let forms = [resource.qualified(), &upstream, &topic, bare];
            let distances = forms.map(|form| strsim::damerau_levenshtein(&self.text, form));
            distances.into_iter().min()
        };
        let distances = known.iter().map(|known| (distance(known), known));
        let nearest = distances.min_by_key(|(distance, _)| *distance);
        let (distance, nearest) = nearest?;
        (distance? * 2 <= self.text.len()).then(|| nearest.clone())
    }

    fn is_topic(&self) -> bool {
        self.text.contains('/')
    }
}

/// The topic whose name has its resource as `<group>.<resource>`: `keys/apps.deployments`. A feature is of no resource.
fn upstream_topic(kind: &str, name: &str) -> Option<GroupResource> {
    let (version, resource) = match kind {
        "features" => return None,
        "served" => name.split_once('.')?,
        _ => ("", name),
    };
    let resource = GroupResource::parse_storage_version_name(resource).ok()?;
    let parts = [version, resource.qualified()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let topic = Topic::parse(&format!("{kind}/{}", parts.join("."))).ok()?;
    Some(topic.resource().clone())
}

#[cfg(test)]
mod tests;
