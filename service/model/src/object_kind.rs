//! The kinds of objects that are listed and watched, and their properties.

use std::fmt;

/// The properties of all objects of a kind.
struct Properties {
    name: &'static str,
    word: &'static str,
    about: &'static str,
    labelled: bool,
    namespaced: bool,
    upgrade: bool,
}

macro_rules! object_kinds {
    ($($(#[doc = $doc:literal])* $number:literal $kind:ident $word:literal: $labelled:literal, $namespaced:literal, $upgrade:literal;)*) => {
        /// A kind of object that can be listed and watched. Since 0.1.
        ///
        /// Its number is that of `synod.v1.ObjectKind` and of the stored form.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum ObjectKind {
            $($(#[doc = $doc])* $kind = $number,)*
        }

        impl ObjectKind {
            /// Every kind, by number.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            const fn properties(self) -> Properties {
                match self {
                    $(Self::$kind => Properties {
                        name: stringify!($kind),
                        word: $word,
                        about: concat!($($doc),*),
                        labelled: $labelled,
                        namespaced: $namespaced,
                        upgrade: $upgrade,
                    },)*
                }
            }
        }
    };
}

object_kinds! {
    // Number, kind and word on the command line: whether its objects have labels, whether they live in namespaces,
    // and whether its events are part of the upgrade history.
    /// Members; the name is the member's id.
    1 Member "member": true, false, true;
    /// Storage versions; the name is `<group>.<resource>`.
    2 StorageVersion "storage-version": false, false, true;
    /// What stays of a resource when nobody reports it; the name is `<resource>.<group>`.
    3 StorageState "storage-state": false, false, true;
    /// The replicated settings; the name is `settings`.
    4 Settings "settings": false, false, true;
    /// Collections; the name is `<resource>.<group>`.
    5 Collection "collection": false, false, false;
    /// The objects of collections.
    6 Object "object": true, true, false;
    /// The snapshots of controllers; the name is that in the namespace.
    7 ControllerRevision "controller-revision": true, true, false;
    /// Leases; the name is that in the namespace.
    8 Lease "lease": false, true, false;
    /// Candidates for leases; the name is their identity, the namespace that of the lease.
    9 LeaseCandidate "lease-candidate": false, true, false;
    /// Migrations; the name is `<resource>.<group>-<revision>`.
    10 Migration "migration": false, false, true;
    /// Rosters; the name is the scope.
    11 Roster "roster": false, false, true;
}

impl ObjectKind {
    /// Its number in the protocol and in the stored form. It never changes.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Its name, as in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.properties().name
    }

    /// The word for it on the command line, such as `storage-version`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.properties().word
    }

    /// What its objects are and how they are named, as a sentence.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.properties().about.trim_ascii()
    }

    /// Whether its objects have labels.
    #[must_use]
    pub const fn is_labelled(self) -> bool {
        self.properties().labelled
    }

    /// Whether its objects can live in namespaces.
    #[must_use]
    pub const fn is_namespaced(self) -> bool {
        self.properties().namespaced
    }

    /// Returns whether events of the kind are part of the upgrade history, which has a floor of its own. Other kinds
    /// change as often as clients write, and an upgrade is read about for longer.
    #[must_use]
    pub const fn is_in_upgrade_history(self) -> bool {
        self.properties().upgrade
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
