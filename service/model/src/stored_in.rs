//! Where the objects of a resource are stored: in stores of the members' own, in a collection of this cluster, or in both.

use std::fmt;

/// Where a member stores the objects of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoredIn {
    /// In a store of the member's own. What a collection of this cluster counts proves nothing about it.
    #[default]
    Outside,
    /// In the resource's collection in this cluster, and nowhere else.
    Collection,
}

/// What a migration worker walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Walk {
    /// The resource's collection in this cluster.
    Collection,
    /// The store of the members outside of this cluster.
    Outside,
    /// One after the other.
    Both,
}

impl Walk {
    /// Whether it walks the collection.
    #[must_use]
    pub const fn covers_collection(self) -> bool {
        match self {
            Self::Collection | Self::Both => true,
            Self::Outside => false,
        }
    }

    /// Whether it walks the store outside of this cluster.
    #[must_use]
    pub const fn covers_outside(self) -> bool {
        match self {
            Self::Outside | Self::Both => true,
            Self::Collection => false,
        }
    }

    /// The walk as programs name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Outside => "outside",
            Self::Both => "both",
        }
    }
}

impl fmt::Display for Walk {
    /// What is walked, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Collection => "the collection",
            Self::Outside => "the store outside",
            Self::Both => "the collection and the store outside",
        })
    }
}
