use std::collections::BTreeSet;
use std::time::Duration;

use synod_model::{GroupResource, Revision, Settings, SettingsPatch, Violations};

use crate::fields::{list, millis, sound};
use crate::v1;

/// A value of a setting as it goes over the wire.
trait OverWire<W>: Sized {
    fn to_wire(&self) -> W;

    fn of_wire(pb: W, field: &str, found: &mut Violations) -> Self;
}

impl<N: Copy> OverWire<N> for N {
    fn to_wire(&self) -> N {
        *self
    }

    fn of_wire(pb: N, _: &str, _: &mut Violations) -> Self {
        pb
    }
}

impl OverWire<u64> for Duration {
    fn to_wire(&self) -> u64 {
        millis(*self)
    }

    fn of_wire(pb: u64, _: &str, _: &mut Violations) -> Self {
        Self::from_millis(pb)
    }
}

impl OverWire<Vec<v1::GroupResource>> for BTreeSet<GroupResource> {
    fn to_wire(&self) -> Vec<v1::GroupResource> {
        self.iter().map(Into::into).collect()
    }

    fn of_wire(pb: Vec<v1::GroupResource>, field: &str, found: &mut Violations) -> Self {
        let resources = found.parsed(field, list(pb, GroupResource::try_from));
        resources.unwrap_or_default()
    }
}

impl OverWire<v1::GroupResourceList> for BTreeSet<GroupResource> {
    fn to_wire(&self) -> v1::GroupResourceList {
        v1::GroupResourceList {
            items: self.to_wire(),
        }
    }

    fn of_wire(pb: v1::GroupResourceList, field: &str, found: &mut Violations) -> Self {
        Self::of_wire(pb.items, &format!("{field}.items"), found)
    }
}

macro_rules! convert {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        impl From<&Settings> for v1::Settings {
            fn from(settings: &Settings) -> Self {
                Self {
                    resource_version: settings.revision.get(),
                    $($wire: settings.$field.to_wire(),)*
                }
            }
        }

        impl TryFrom<v1::Settings> for Settings {
            type Error = Violations;

            fn try_from(pb: v1::Settings) -> Result<Self, Violations> {
                let mut found = Violations::new();
                let settings = Self {
                    $($field: <$of>::of_wire(pb.$wire, $name, &mut found),)*
                    revision: Revision::new(pb.resource_version),
                };
                found.extend_at("", settings.check());
                sound(settings, found)
            }
        }

        impl From<&SettingsPatch> for v1::SettingsPatch {
            fn from(patch: &SettingsPatch) -> Self {
                Self { $($wire: patch.$field.as_ref().map(OverWire::to_wire),)* }
            }
        }

        impl TryFrom<v1::SettingsPatch> for SettingsPatch {
            type Error = Violations;

            fn try_from(pb: v1::SettingsPatch) -> Result<Self, Violations> {
                let mut found = Violations::new();
                let patch = Self {
                    $($field: pb.$wire.map(|value| <$of>::of_wire(value, $name, &mut found)),)*
                };
                found.extend_at("", patch.check());
                sound(patch, found)
            }
        }
    };
}

synod_model::settings_table!(convert);
