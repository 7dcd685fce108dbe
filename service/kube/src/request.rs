//! What a request asks for: its place, its query, and how it names them.

use percent_encoding::percent_decode_str;
use synod_model::{LabelSelector, Namespace};

use crate::kinds::Verb;
use crate::selectors::FieldSelector;
use crate::status::Fault;

/// The place that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Version,
    /// `/api`: the versions of the core group.
    CoreVersions,
    Groups,
    Group(String),
    GroupVersion(String, String),
    OpenApiV2,
    OpenApiV3,
    OpenApiDocument(String, String),
    /// A namespace, which is a part of a name and nothing else.
    Namespace(Namespace),
    /// `/livez` and `/healthz`: that the process answers; `/readyz`: that the replica can serve, or one of the checks alone.
    Probe(Probed),
    /// `/metrics`.
    Metrics,
    /// Where a caller asks about itself.
    Review(Review),
    Resource(ResourcePlace),
}

/// What a probe asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    Live,
    Ready(Option<String>),
}

/// What a caller may ask about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Review {
    /// Who it is.
    Subject,
    /// Whether it may do something.
    Access,
    /// What it may do.
    Rules,
}

/// The place of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourcePlace {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl Place {
    /// The place of a path; `None` if nothing can be there.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let path = path.strip_prefix('/')?;
        // Clients of Python end paths with a slash.
        let path = path.strip_suffix('/').unwrap_or(path);
        let parts: Option<Vec<String>> = path.split('/').map(decoded).collect();
        let parts = parts?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let own = |text: &str| text.to_owned();
        Some(match parts.as_slice() {
            ["version"] => Self::Version,
            ["livez" | "healthz"] => Self::Probe(Probed::Live),
            ["readyz"] => Self::Probe(Probed::Ready(None)),
            ["readyz", check] => Self::Probe(Probed::Ready(Some(own(check)))),
            ["metrics"] => Self::Metrics,
            ["api"] => Self::CoreVersions,
            ["api", version] => Self::GroupVersion(String::new(), own(version)),
            ["api", "v1", "namespaces", name] => Self::Namespace(Namespace::parse(name).ok()?),
            ["api", version, rest @ ..] => Self::Resource(ResourcePlace::of("", version, rest)?),
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group(own(group)),
            ["apis", group, version] => Self::GroupVersion(own(group), own(version)),
            ["openapi", "v2"] => Self::OpenApiV2,
            ["openapi", "v3"] => Self::OpenApiV3,
            ["openapi", "v3", "api", version] => Self::OpenApiDocument(String::new(), own(version)),
            ["openapi", "v3", "apis", group, version] => {
                Self::OpenApiDocument(own(group), own(version))
            }
            ["apis", "authentication.k8s.io", "v1", "selfsubjectreviews"] => {
                Self::Review(Review::Subject)
            }
            [
                "apis",
                "authorization.k8s.io",
                "v1",
                "selfsubjectaccessreviews",
            ] => Self::Review(Review::Access),
            [
                "apis",
                "authorization.k8s.io",
                "v1",
                "selfsubjectrulesreviews",
            ] => Self::Review(Review::Rules),
            ["apis", group, version, rest @ ..] => {
                Self::Resource(ResourcePlace::of(group, version, rest)?)
            }
            _ => return None,
        })
    }
}

impl ResourcePlace {
    fn of(group: &str, version: &str, rest: &[&str]) -> Option<Self> {
        let (namespace, rest) = match rest {
            // With two parts it is the kind of this name.
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            rest => (None, rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (plural, None, None),
            [plural, name] => (plural, Some(name), None),
            [plural, name, subresource] => (plural, Some(name), Some(subresource)),
            _ => return None,
        };
        let own = |text: &&str| (*text).to_owned();
        Some(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.map(str::to_owned),
            plural: own(plural),
            name: name.map(own),
            subresource: subresource.map(own),
        })
    }
}

/// A part of a path; `None` if it is empty or no text.
fn decoded(part: &str) -> Option<String> {
    let text = percent_decode_str(part).decode_utf8().ok()?;
    (!text.is_empty() && !text.contains('/')).then(|| text.into_owned())
}

/// The query of a request. Parameters that nobody knows are ignored, as Kubernetes does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

/// What a list or watch is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) labels: LabelSelector,
    pub(crate) label_text: String,
    pub(crate) fields: FieldSelector,
}

/// At which revision a read is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The newest, proved to be so.
    Newest,
    /// At least this one.
    NotOlderThan(u64),
    /// Exactly this one.
    Exact(u64),
}

/// What is to be done about fields that would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

impl Query {
    pub(crate) fn of(query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The value of a parameter; `None` if it is missing or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Whether a parameter is there, with a value or without.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Whether a parameter is true, which it also is without a value, as in Kubernetes.
    pub(crate) fn is(&self, name: &str) -> Result<bool, Fault> {
        match self.get(name) {
            None => Ok(self.has(name)),
            Some("false" | "0" | "f" | "F") => Ok(false),
            Some("true" | "1" | "t" | "T") => Ok(true),
            Some(other) => Err(Fault::bad_request(format!(
                "{name}: \"{other}\" is not true or false"
            ))),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Fault> {
        let parsed = self.get(name).map(|text| {
            // Kubernetes' own numbers are signed, and no revision is as large.
            let number = text.parse::<i64>().ok();
            let number = number.and_then(|number| u64::try_from(number).ok());
            number.ok_or_else(|| {
                Fault::bad_request(format!(
                    "{name}: Invalid value: \"{text}\": must be a number"
                ))
            })
        });
        parsed.transpose()
    }

    /// The revision that a client has seen, and goes on from.
    pub(crate) fn seen(&self) -> Option<u64> {
        let revision = self.number("resourceVersion").ok().flatten();
        revision.filter(|revision| *revision > 0)
    }

    /// What a list or watch selects, of events or of another kind.
    pub(crate) fn selection(&self, is_of_events: bool) -> Result<Selection, Fault> {
        let text = self.get("labelSelector").unwrap_or_default();
        let labels = LabelSelector::parse(text).map_err(|fault| {
            Fault::bad_request(format!("unable to parse requirement: {}", fault.rule))
        })?;
        Ok(Selection {
            labels,
            label_text: text.to_owned(),
            fields: FieldSelector::parse(
                self.get("fieldSelector").unwrap_or_default(),
                is_of_events,
            )?,
        })
    }

    /// The revision of a list or a single read.
    pub(crate) fn asked(&self) -> Result<Asked, Fault> {
        let revision = self.number("resourceVersion")?;
        let rule = match (self.get("resourceVersionMatch"), revision) {
            (None, None | Some(0)) | (Some("NotOlderThan"), Some(0)) => return Ok(Asked::Newest),
            (None | Some("NotOlderThan"), Some(revision)) => {
                return Ok(Asked::NotOlderThan(revision));
            }
            (Some("Exact"), Some(revision)) if revision > 0 => return Ok(Asked::Exact(revision)),
            (Some("Exact"), Some(_)) => {
                "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""
                    .to_owned()
            }
            (Some("Exact" | "NotOlderThan"), None) => {
                "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
                    .to_owned()
            }
            (Some(other), _) => {
                format!(
                    "Unsupported value: \"{other}\": supported values: \"Exact\", \"NotOlderThan\""
                )
            }
        };
        Err(Fault::of_options(Verb::List, "resourceVersionMatch", &rule))
    }

    /// Whether nothing is to be stored.
    pub(crate) fn is_dry_run(&self, verb: Verb) -> Result<bool, Fault> {
        let given = self.0.iter().filter(|(name, _)| name == "dryRun");
        let given = given.map(|(_, value)| value.as_str());
        is_dry(given.filter(|value| !value.is_empty()), verb)
    }

    pub(crate) fn field_validation(&self, verb: Verb) -> Result<FieldValidation, Fault> {
        Ok(match self.get("fieldValidation") {
            None | Some("Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                let rule = format!(
                    "Unsupported value: \"{other}\": supported values: \"Ignore\", \"Strict\", \"Warn\""
                );
                return Err(Fault::of_options(verb, "fieldValidation", &rule));
            }
        })
    }
}

/// Whether nothing is to be stored, by all that is said of it.
pub(crate) fn is_dry<'a>(given: impl Iterator<Item = &'a str>, verb: Verb) -> Result<bool, Fault> {
    let mut is_dry = false;
    for value in given {
        if value != "All" {
            let rule = format!("Unsupported value: \"{value}\": supported values: \"All\"");
            return Err(Fault::of_options(verb, "dryRun", &rule));
        }
        is_dry = true;
    }
    Ok(is_dry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_is_asked_for_by_each_value_or_not_at_all() {
        let is_dry = |query: &str| Query::of(Some(query)).is_dry_run(Verb::Create).ok();
        assert_eq!(is_dry("dryRun="), Some(false));
        assert_eq!(is_dry("dryRun=All&dryRun=All"), Some(true));
        assert_eq!(is_dry("dryRun=All&dryRun=None"), None);
    }

    #[test]
    fn a_parameter_without_a_value_is_true() {
        let is = |query: &str| Query::of(Some(query)).is("watch").ok();
        for (query, expected) in [
            ("watch", Some(true)),
            ("watch=&limit=1", Some(true)),
            ("watch=1", Some(true)),
            ("watch=false", Some(false)),
            ("limit=1", Some(false)),
            ("watch=maybe", None),
        ] {
            assert_eq!(is(query), expected, "{query}");
        }
    }

    #[test]
    fn a_path_names_its_place() {
        let resource = |path: &str| match Place::of(path) {
            Some(Place::Resource(place)) => {
                let part = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
                let ResourcePlace {
                    group,
                    version,
                    namespace,
                    plural,
                    name,
                    subresource,
                } = place;
                [
                    group,
                    version,
                    part(namespace),
                    plural,
                    part(name),
                    part(subresource),
                ]
                .join(" ")
            }
            other => format!("{other:?}"),
        };
        assert_eq!(resource("/apis/g/v1/things"), "g v1 - things - -");
        assert_eq!(resource("/apis/g/v1/things/"), "g v1 - things - -");
        assert_eq!(
            resource("/apis/g/v1/things/a/status"),
            "g v1 - things a status"
        );
        assert_eq!(
            resource("/apis/g/v1/namespaces/n/things/a%2Eb"),
            "g v1 n things a.b -"
        );
        assert_eq!(resource("/apis/g/v1/namespaces/n"), "g v1 - namespaces n -");
        assert_eq!(resource("/api/v1/events"), " v1 - events - -");
        assert_eq!(
            resource("/api/v1/namespaces/default/events/a.1"),
            " v1 default events a.1 -"
        );
        assert_eq!(Place::of("/version/"), Some(Place::Version));
        for nothing in [
            "",
            "/",
            "/apis/g/v1/a/b/c/d",
            "/apis//v1/a",
            "/apis/g/v1/a%2Fb",
            "/x",
        ] {
            assert_eq!(Place::of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_revision_is_asked_for_as_kubernetes_does() {
        let asked = |query: &str| Query::of(Some(query)).asked().ok();
        assert_eq!(asked(""), Some(Asked::Newest));
        assert_eq!(asked("resourceVersion=0"), Some(Asked::Newest));
        assert_eq!(asked("resourceVersion=7"), Some(Asked::NotOlderThan(7)));
        assert_eq!(
            asked("resourceVersion=7&resourceVersionMatch=Exact"),
            Some(Asked::Exact(7))
        );
        for no in [
            "resourceVersion=x",
            "resourceVersion=-1",
            "resourceVersion=9223372036854775808",
            "resourceVersion=18446744073709551615",
            "resourceVersionMatch=Exact",
            "resourceVersion=0&resourceVersionMatch=Exact",
            "resourceVersionMatch=NotOlderThan",
            "resourceVersion=1&resourceVersionMatch=Never",
        ] {
            assert_eq!(asked(no), None, "{no}");
        }
    }
}
