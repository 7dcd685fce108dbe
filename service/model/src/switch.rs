//! What can be switched off, and the switch of each.

use std::fmt;

use crate::stored::{Source, Stored, StoredFault, Tables};

/// Whether a feature works. One that nothing was said of is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Switch {
    /// It works.
    #[default]
    On,
    /// What it would do is refused. What is there is kept, and time goes on for it.
    Off,
}

/// The machine version that brought the switches: replicas of an older one can neither read nor apply them.
pub const SWITCHES_SINCE: u32 = 2;

/// What can be switched off: each by the setting of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Votes move what is selected.
    Votes,
    /// Collections and their objects change.
    Objects,
    /// Histories of ControllerRevisions change.
    Histories,
    /// Leases are given and renewed, and candidates stand for them.
    Leases,
    /// Migrations are started and worked at.
    Migrations,
}

impl Feature {
    /// Every feature, in the order of declaration.
    pub const ALL: [Self; 5] = [
        Self::Votes,
        Self::Objects,
        Self::Histories,
        Self::Leases,
        Self::Migrations,
    ];

    /// The name of its setting.
    #[must_use]
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Votes => "votes",
            Self::Objects => "objects",
            Self::Histories => "histories",
            Self::Leases => "leases",
            Self::Migrations => "migrations",
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.setting())
    }
}

impl Switch {
    /// How people write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// As a flag that is set where it is off, so that on is left out where nothing follows it: what was stored before there were
/// switches keeps its bytes and its digest.
impl Stored for Switch {
    fn store(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self == Self::Off));
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let is_off = bool::load(from)?;
        Ok(if is_off { Self::Off } else { Self::On })
    }

    fn missing() -> Option<Self> {
        Some(Self::On)
    }

    fn is_missing(&self) -> bool {
        *self == Self::On
    }

    fn shape(_: &mut Tables) -> String {
        "flag".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::{from_bytes, to_bytes};

    #[test]
    fn a_switch_is_stored_as_one_byte_and_is_on_where_it_was_not_stored() {
        for (switch, byte) in [(Switch::On, 0), (Switch::Off, 1)] {
            assert_eq!(to_bytes(&switch), [byte].as_slice());
            assert_eq!(from_bytes::<Switch>(&to_bytes(&switch)).unwrap(), switch);
        }
        assert!(from_bytes::<Switch>(&vec![2].into()).is_err());
        assert_eq!(Switch::missing(), Some(Switch::On));
    }
}
