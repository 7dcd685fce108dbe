//! Resources as they are typed, and the one place where a typed name is looked up among those that the cluster knows.
//!
//! A resource is typed as `<resource>.<group>` or as a topic; [`ResourceSpelling`] has the rules. A command parses all that is
//! typed before it connects, and looks names up with a [`Resolver`] after that.

use std::collections::BTreeSet;

use synod_client::{
    Client, ErrorKind, GroupResource, ListCollections, ReadOptions, ResourceResolution,
    ResourceScope, ResourceSpelling, ScopeSpelling, Topic, Violation, Violations,
};

use crate::failure::Failure;
use crate::output::{printable, warn};

/// How to go on where nothing is known of a name.
const ADVICE: &str = "type resources as <resource>.<group>, as `synod storage-versions list --unreported` prints them";
const ADVICE_OR_NEW: &str = "type resources as <resource>.<group>, as `synod storage-versions list --unreported` prints them, or \
     give --new for a name that nothing knows yet";
const ADVICE_OF_MANIFESTS: &str = "type resources as <resource>.<group>, as `synod storage-versions list --unreported` prints them, and \
     mark what the binary brings with `new: true`, or give --new for a name that nothing knows yet";
const ADVICE_OF_COLLECTIONS: &str =
    "type collections as <resource>.<group>, as `synod collections` prints them";

/// Reads the text of a resource that stands at this place, without asking what is known.
pub(crate) fn spelling(text: &str, place: &str) -> Result<ResourceSpelling, Violations> {
    ResourceSpelling::parse(text).map_err(|faults| faults.at(place))
}

/// Looks typed names up, and collects those that name no resource.
#[derive(Debug)]
pub(crate) struct Resolver {
    /// `None`: every name is taken as it is written.
    known: Option<BTreeSet<GroupResource>>,
    advice: &'static str,
    faults: Vec<Violation>,
    /// Whether a name fits nothing, rather than too much.
    has_unknown: bool,
}

impl Resolver {
    /// Looks up among all that the cluster knows.
    pub(crate) async fn load(client: &Client) -> Result<Self, Failure> {
        let known = client.known_resources(ReadOptions::linearizable()).await?;
        Ok(Self::with_known(Some(known), ADVICE))
    }

    /// Looks up among all that the cluster knows; with `--new`, takes every name as it is written.
    pub(crate) async fn load_unless_new(client: &Client, is_new: bool) -> Result<Self, Failure> {
        if is_new {
            return Ok(Self::with_known(None, ADVICE_OR_NEW));
        }
        let known = client.known_resources(ReadOptions::linearizable()).await?;
        Ok(Self::with_known(Some(known), ADVICE_OR_NEW))
    }

    /// Looks up the names of a manifest, in which a new resource has a mark of its own; with `--new`, takes every name as it is
    /// written.
    pub(crate) async fn load_for_manifest(client: &Client, is_new: bool) -> Result<Self, Failure> {
        let resolver = Self::load_unless_new(client, is_new).await?;
        Ok(Self {
            advice: ADVICE_OF_MANIFESTS,
            ..resolver
        })
    }

    /// Looks up among the collections.
    pub(crate) async fn load_collections(client: &Client) -> Result<Self, Failure> {
        let list = ListCollections::new();
        let page = client.collections().list(&list).all().await?;
        let items = page.items.into_iter();
        let known = items.map(|item| item.collection.resource).collect();
        Ok(Self::with_known(Some(known), ADVICE_OF_COLLECTIONS))
    }

    fn with_known(known: Option<BTreeSet<GroupResource>>, advice: &'static str) -> Self {
        Self {
            known,
            advice,
            faults: Vec::new(),
            has_unknown: false,
        }
    }

    /// The resource of a name at this place, or `None` and a fault. A name in the form `<group>.<resource>` is reported on
    /// standard error.
    pub(crate) fn resolve(
        &mut self,
        place: &str,
        spelling: &ResourceSpelling,
    ) -> Option<GroupResource> {
        let Some(known) = &self.known else {
            return self.take_as_written(place, spelling);
        };
        let rule = match spelling.resolve(known) {
            ResourceResolution::Written(resource) => return Some(resource),
            ResourceResolution::Upstream(resource) => {
                warn_of_spelling(spelling, &resource);
                return Some(resource);
            }
            ResourceResolution::Ambiguous(written, upstream) => format!(
                "Invalid value: \"{}\": is {written}, and {upstream} if it is read as <group>.<resource>: write {} or {}",
                spelling.as_str(),
                Topic::of(&written),
                Topic::of(&upstream),
                written = describe(&written),
                upstream = describe(&upstream),
            ),
            ResourceResolution::Unknown(nearest) => {
                self.has_unknown = true;
                let nearest = nearest.map(|nearest| text(&nearest));
                let nearest = nearest.map_or_else(
                    || "no name that is known is near".to_owned(),
                    |nearest| format!("the nearest name that is known is {nearest}"),
                );
                format!("Not found: \"{}\": {nearest}", spelling.as_str())
            }
        };
        self.faults.push(Violation {
            field: place.to_owned(),
            rule,
        });
        None
    }

    /// The resource of a name at this place as it is written, whether or not anything knows it.
    pub(crate) fn take_as_written(
        &mut self,
        place: &str,
        spelling: &ResourceSpelling,
    ) -> Option<GroupResource> {
        let mut faults = Violations::new();
        let written = faults.parsed(place, spelling.as_written());
        self.faults.extend(faults.iter().cloned());
        written
    }

    /// The scope of a name at this place, or `None` and a fault.
    pub(crate) fn resolve_scope(
        &mut self,
        place: &str,
        scope: &ScopeSpelling,
    ) -> Option<ResourceScope> {
        match scope {
            ScopeSpelling::Many(scope) => Some(scope.clone()),
            ScopeSpelling::One(spelling) => {
                let resource = self.resolve(place, spelling)?;
                Some(ResourceScope::Resource(resource))
            }
        }
    }

    /// Returns whether nothing is known of a group of which a scope has all resources.
    pub(crate) fn is_over_nothing(&self, scope: &ResourceScope) -> bool {
        let is_group = matches!(scope, ResourceScope::Group(_));
        let known = self.known.as_ref().filter(|_| is_group);
        known.is_some_and(|known| !known.iter().any(|resource| scope.covers(resource)))
    }

    /// Ends with what was looked up, unless a name has a fault.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Failure> {
        let (kind, message) = match self.has_unknown {
            true => (ErrorKind::NotFound, "nothing is known of what is named"),
            false => (ErrorKind::InvalidArgument, "this names no one resource"),
        };
        let failure = || Failure::of(kind, message).with_violations(self.faults.clone());
        let value = value.filter(|_| self.faults.is_empty());
        value.ok_or_else(|| match self.has_unknown {
            true => failure().with_advice(self.advice),
            false => failure(),
        })
    }

    /// The resource of the only name of a command that declares it: as it is written, where nothing is known of it.
    pub(crate) fn resolve_or_take(
        self,
        place: &str,
        spelling: &ResourceSpelling,
    ) -> Result<GroupResource, Failure> {
        let known = self.known.as_ref();
        let resolution = known.map(|known| spelling.resolve(known));
        match resolution {
            Some(ResourceResolution::Unknown(_)) => {
                Self::with_known(None, self.advice).resolve_one(place, spelling)
            }
            _ => self.resolve_one(place, spelling),
        }
    }

    /// The resource of the only name of a command.
    pub(crate) fn resolve_one(
        mut self,
        place: &str,
        spelling: &ResourceSpelling,
    ) -> Result<GroupResource, Failure> {
        let resource = self.resolve(place, spelling);
        self.finish(resource)
    }
}

/// A resource as the commands take it: as `<resource>.<group>`, or as the topic that it is.
pub(crate) fn text(resource: &GroupResource) -> String {
    let topic = Topic::of(resource);
    match topic.kind() {
        synod_client::TopicKind::Encoding => resource.qualified().to_owned(),
        _ => topic.to_string(),
    }
}

/// A resource, and its group in words: for a sentence about two that are easily taken for each other.
fn describe(resource: &GroupResource) -> String {
    match resource.group() {
        "" => format!("{} of the core group", resource.resource()),
        group => format!("{} of the group {group}", resource.resource()),
    }
}

fn warn_of_spelling(spelling: &ResourceSpelling, resource: &GroupResource) {
    let (typed, resource) = (printable(spelling.as_str()), text(resource));
    warn(&format!(
        "{typed} is taken for {resource}, the one resource that fits: resources are typed as <resource>.<group>\n"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolver(known: &[&str]) -> Resolver {
        let known = known
            .iter()
            .map(|name| GroupResource::parse_qualified(name));
        Resolver::with_known(Some(known.collect::<Result<_, _>>().unwrap()), ADVICE)
    }

    fn look_up(known: &[&str], name: &str) -> Result<GroupResource, Failure> {
        resolver(known).resolve_one("NAME", &ResourceSpelling::parse(name).unwrap())
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_and_what_to_do() {
        let failure = look_up(&["widgets.example.io"], "widgets.exampel.io").unwrap_err();
        assert_eq!(
            failure.to_string(),
            "error: NOT_FOUND: nothing is known of what is named\n\
             \x20 NAME: Not found: \"widgets.exampel.io\": the nearest name that is known is widgets.example.io\n\
             what to do: type resources as <resource>.<group>, as `synod storage-versions list --unreported` prints them\n"
        );
        assert_eq!(failure.exit(), crate::exit::Exit::NotFound);
        let failure = look_up(&[], "keys/secrets").unwrap_err().to_string();
        assert!(
            failure.contains("no name that is known is near"),
            "{failure}"
        );
    }

    #[test]
    fn a_name_of_two_known_resources_is_refused_with_how_to_write_each() {
        let failure = look_up(&["pods", "core.pods"], "core.pods").unwrap_err();
        assert_eq!(failure.exit(), crate::exit::Exit::Usage);
        let failure = failure.to_string();
        let parts = [
            "NAME: Invalid value: \"core.pods\": is core of the group pods, and pods of the core group",
            "write encoding/core.pods or encoding/pods",
        ];
        for part in parts {
            assert!(failure.contains(part), "{part} in {failure}");
        }
    }

    #[test]
    fn every_name_that_is_not_known_is_told() {
        let mut resolver = resolver(&["pods"]);
        for (place, name) in [
            ("NAMES[0]", "pod"),
            ("NAMES[1]", "pods"),
            ("NAMES[2]", "jobs"),
        ] {
            resolver.resolve(place, &ResourceSpelling::parse(name).unwrap());
        }
        let failure = resolver.finish(Some(())).unwrap_err().to_string();
        for (place, is_told) in [("NAMES[0]", true), ("NAMES[1]", false), ("NAMES[2]", true)] {
            assert_eq!(failure.contains(place), is_told, "{place} in {failure}");
        }
    }

    #[test]
    fn a_new_name_is_taken_as_it_is_written() {
        let new = || Resolver::with_known(None, ADVICE_OR_NEW);
        let typed = |name: &str| ResourceSpelling::parse(name).unwrap();
        let resource = new()
            .resolve_one("NAME", &typed("example.io.widgets"))
            .unwrap();
        assert_eq!(
            (resource.group(), resource.resource()),
            ("io.widgets", "example")
        );
        let failure = new()
            .resolve_one("NAME", &typed("3com.widgets"))
            .unwrap_err();
        assert!(failure.to_string().contains("NAME"), "{failure}");
        assert_eq!(failure.exit(), crate::exit::Exit::Usage);
    }

    #[test]
    fn a_scope_of_a_group_is_over_nothing_where_nothing_of_it_is_known() {
        let resolver = resolver(&["widgets.example.io"]);
        for (scope, is_over_nothing) in [
            ("*", false),
            ("example.io.*", false),
            ("exampel.io.*", true),
        ] {
            let scope = ResourceScope::parse(scope).unwrap();
            assert_eq!(resolver.is_over_nothing(&scope), is_over_nothing, "{scope}");
        }
    }

    #[test]
    fn a_resource_is_printed_as_it_can_be_typed() {
        for (name, printed) in [
            ("pods", "pods"),
            ("widgets.example.io", "widgets.example.io"),
            ("secrets.keys.synod", "keys/secrets"),
        ] {
            assert_eq!(
                text(&GroupResource::parse_qualified(name).unwrap()),
                printed
            );
        }
    }
}
