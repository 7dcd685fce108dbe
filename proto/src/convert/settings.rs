use std::collections::BTreeSet;

use synod_model::{GroupResource, Revision, Settings, SettingsPatch, Violations};

use crate::v1;
use crate::wire::{Wire, read, sound};

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

macro_rules! convert {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        impl From<&Settings> for v1::Settings {
            fn from(settings: &Settings) -> Self {
                Self {
                    resource_version: settings.revision.to_wire(),
                    $($wire: settings.$field.to_wire(),)*
                }
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
                Some(v1::SettingsPatch { $($wire: self.$field.to_wire(),)* })
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
