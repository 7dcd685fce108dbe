//! What a call names and a grant may limit.

use std::fmt;

/// Something that a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// The member as which the caller acts.
    Member(&'a str),
    /// The holder, the candidate or the worker as which the caller acts.
    Holder(&'a str),
    /// A resource, as `widgets.example.io`; empty: all.
    Collection(&'a str),
    /// Objects and ControllerRevisions.
    Objects(Spot<'a>),
    /// Leases.
    Leases(Spot<'a>),
}

/// Where something is. What is empty means all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot<'a> {
    /// The resource, as `widgets.example.io`. Leases have none.
    pub collection: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// The name, of a lease.
    pub name: &'a str,
}

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => write!(f, "member \"{name}\""),
            Self::Holder(name) => write!(f, "holder \"{name}\""),
            Self::Collection("") => f.write_str("all collections"),
            Self::Collection(name) => write!(f, "collection \"{name}\""),
            Self::Objects(spot) => {
                match spot.collection {
                    "" => f.write_str("objects of all collections")?,
                    collection => write!(f, "objects of \"{collection}\"")?,
                }
                in_namespace(f, spot.namespace)
            }
            Self::Leases(spot) => {
                match spot.name {
                    "" => f.write_str("all leases")?,
                    name => write!(f, "lease \"{name}\"")?,
                }
                in_namespace(f, spot.namespace)
            }
        }
    }
}

fn in_namespace(f: &mut fmt::Formatter<'_>, namespace: &str) -> fmt::Result {
    match namespace {
        "" => f.write_str(" outside of namespaces or in all of them"),
        namespace => write!(f, " in namespace \"{namespace}\""),
    }
}
