use std::collections::BTreeSet;

use synod_model::{GroupResource, Revision, Settings, SettingsPatch, Switch, Violations};

use crate::wire::{Wire, read, sound};
use crate::{v1, wire_enums};

/// A set in a message of its own, so that a set that is left out differs from an empty one.
impl Wire<v1::GroupResourceList> for BTreeSet<GroupResource> {
    fn to_wire(&self) -> v1::GroupResourceList {
        v1::GroupResourceList {
            items: self.to_wire(),
        }
    }

    fn of_wire(pb: v1::GroupResourceList) -> Result<Self, Violations> {
        Self::of_wire(pb.items).map_err(|faults| faults.at("items"))
    }
}

wire_enums! {
    v1::Switch = Switch { On = On, Off = Off }
}

/// A switch that a replica of an older release leaves out is on: there it cannot be anything else.
impl Wire<Option<i32>> for Switch {
    fn to_wire(&self) -> Option<i32> {
        Some(self.to_wire())
    }

    fn of_wire(pb: Option<i32>) -> Result<Self, Violations> {
        pb.map_or(Ok(Self::On), Self::of_wire)
    }
}

macro_rules! convert {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        impl From<&Settings> for v1::Settings {
            fn from(settings: &Settings) -> Self {
                // One after the other: a build of an older machine version does not know all of them.
                let mut pb = Self::default();
                pb.resource_version = settings.revision.to_wire();
                $(pb.$wire = settings.$field.to_wire();)*
                pb
            }
        }

        impl TryFrom<v1::Settings> for Settings {
            type Error = Violations;

            fn try_from(pb: v1::Settings) -> Result<Self, Violations> {
                let mut found = Violations::new();
                let all = SettingsPatch {
                    $($field: read(&mut found, stringify!($wire), Wire::of_wire(pb.$wire)),)*
                };
                found.extend_at("", all.check());
                let settings = Self {
                    revision: Revision::new(pb.resource_version),
                    ..all.applied_to(&Self::default())
                };
                sound(settings, found)
            }
        }

        impl Wire<Option<v1::SettingsPatch>> for SettingsPatch {
            fn to_wire(&self) -> Option<v1::SettingsPatch> {
                let mut pb = v1::SettingsPatch::default();
                $(pb.$wire = self.$field.to_wire();)*
                Some(pb)
            }

            fn of_wire(pb: Option<v1::SettingsPatch>) -> Result<Self, Violations> {
                let pb = pb.unwrap_or_default();
                let mut found = Violations::new();
                let patch = Self {
                    $($field: read(&mut found, stringify!($wire), Wire::of_wire(pb.$wire)).flatten(),)*
                };
                found.extend_at("", patch.check());
                sound(patch, found)
            }
        }
    };
}

synod_model::settings_table!(convert);
