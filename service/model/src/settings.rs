//! The replicated settings: values that apply depends on and operators can change, the same on
//! every replica.

mod table;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::limits::{REPORT_BYTES_MAX, STATE_RESERVE_BYTES, TTL_MS_MAX, TTL_MS_MIN};
use crate::log_time::whole_millis;
use crate::{Feature, GroupResource, Revision, Switch, Violation, Violations};

macro_rules! define {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        /// The current settings.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $($(#[$doc])* pub $field: $of,)*
            /// The revision of the last change of the settings.
            pub revision: Revision,
        }

        /// New values for some of the settings.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct SettingsPatch {
            $(#[doc = concat!("See [`Settings::", stringify!($field), "`].")] pub $field: Option<$of>,)*
        }

        $(
            #[doc = concat!("See [`Settings::", stringify!($field), "`].")]
            pub const $row: Setting = Setting {
                name: $name,
                form: SettingForm::$form,
                unit: $unit,
                min: $min,
                default: $default,
                max: $max,
            };
        )*

        /// Every setting, as it is published.
        pub const SETTINGS: &[Setting] = &[$($row),*];

        impl Default for Settings {
            /// The settings of a new cluster.
            fn default() -> Self {
                Self {
                    $($field: Value::of_amount($row.default),)*
                    revision: Revision::ZERO,
                }
            }
        }

        impl SettingsPatch {
            /// Every new value that is out of bounds.
            pub fn check(&self) -> Violations {
                let mut violations = Violations::new();
                $($row.check(self.$field.as_ref(), &mut violations);)*
                violations
            }

            /// The settings with the new values in place. Their revision is left to the caller, who
            /// knows whether anything changed.
            #[must_use]
            pub fn applied_to(self, settings: &Settings) -> Settings {
                Settings {
                    $($field: self.$field.unwrap_or_else(|| settings.$field.clone()),)*
                    revision: settings.revision,
                }
            }
        }

        impl From<Settings> for SettingsPatch {
            /// The patch that sets every setting to what it is here.
            fn from(settings: Settings) -> Self {
                Self { $($field: Some(settings.$field),)* }
            }
        }
    };
}

crate::settings_table!(define);

/// A row of the published table of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name in the protocol's JSON form.
    pub name: &'static str,
    /// The form in which people write it.
    pub form: SettingForm,
    /// The unit of the value.
    pub unit: &'static str,
    /// The least that is allowed.
    pub min: u64,
    /// The value in a new cluster.
    pub default: u64,
    /// The most that is allowed.
    pub max: u64,
}

/// The form in which people write a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingForm {
    /// As a number.
    Number,
    /// As bytes: `64MiB`.
    Bytes,
    /// As a span of time: `70s`.
    Span,
    /// As names of resources: `apps.deployments,core.pods`.
    Resources,
    /// As `on` or `off`.
    OnOff,
}

// The history can hold the changes of the largest report, or no watch could ever deliver them.
const _: () = assert!(HISTORY_BYTES.min >= 2 * REPORT_BYTES_MAX as u64);
// The smallest quota has room for some state beside the reserve.
const _: () = assert!(STATE_QUOTA_BYTES.min >= 2 * STATE_RESERVE_BYTES);

/// The value of a setting, as the number that is compared with its bounds.
trait Value: Sized {
    fn amount(&self) -> Result<u64, Violation>;

    /// The value of a number within the bounds; for resources, always the empty set.
    fn of_amount(amount: u64) -> Self;
}

impl Value for u64 {
    fn amount(&self) -> Result<u64, Violation> {
        Ok(*self)
    }

    fn of_amount(amount: u64) -> Self {
        amount
    }
}

impl Value for u32 {
    fn amount(&self) -> Result<u64, Violation> {
        Ok(u64::from(*self))
    }

    fn of_amount(amount: u64) -> Self {
        Self::try_from(amount).expect("the bounds of a setting of 32 bits fit in them")
    }
}

impl Value for Duration {
    fn amount(&self) -> Result<u64, Violation> {
        let millis = whole_millis(*self);
        if Self::from_millis(millis) == *self {
            return Ok(millis);
        }
        let rule = "must be a whole number of milliseconds";
        Err(Violation::invalid(&format!("{self:?}"), rule))
    }

    fn of_amount(amount: u64) -> Self {
        Self::from_millis(amount)
    }
}

impl Value for BTreeSet<GroupResource> {
    fn amount(&self) -> Result<u64, Violation> {
        Ok(self.len() as u64)
    }

    fn of_amount(_: u64) -> Self {
        Self::new()
    }
}

impl Value for Switch {
    fn amount(&self) -> Result<u64, Violation> {
        Ok(u64::from(*self == Self::On))
    }

    fn of_amount(amount: u64) -> Self {
        if amount == 0 { Self::Off } else { Self::On }
    }
}

impl Setting {
    /// Adds a violation if the value is out of bounds.
    fn check<T: Value>(&self, value: Option<&T>, violations: &mut Violations) {
        let checked = value.map_or(Ok(()), |value| {
            let amount = value.amount()?;
            if (self.min..=self.max).contains(&amount) {
                return Ok(());
            }
            let Self { min, max, unit, .. } = self;
            let rule = format_args!("must be between {min} and {max} {unit}");
            Err(Violation::invalid_number(amount, rule))
        });
        if let Err(violation) = checked {
            violations.push(violation.at(self.name));
        }
    }
}

impl Settings {
    /// Every setting that is out of bounds.
    pub fn check(&self) -> Violations {
        SettingsPatch::from(self.clone()).check()
    }

    /// The switch of a feature.
    #[must_use]
    pub const fn switch(&self, feature: Feature) -> Switch {
        match feature {
            Feature::Votes => self.votes,
            Feature::Objects => self.objects,
            Feature::Histories => self.histories,
            Feature::Leases => self.leases,
            Feature::Migrations => self.migrations,
        }
    }

    /// The features that are off.
    pub fn switched_off(&self) -> impl Iterator<Item = Feature> + '_ {
        let features = Feature::ALL.into_iter();
        features.filter(|feature| self.switch(*feature) == Switch::Off)
    }
}

impl SettingsPatch {
    /// The first of the features whose switches it names.
    #[must_use]
    pub fn names_switch_of(&self) -> Option<Feature> {
        let mut named = [
            (Feature::Votes, self.votes),
            (Feature::Objects, self.objects),
            (Feature::Histories, self.histories),
            (Feature::Leases, self.leases),
            (Feature::Migrations, self.migrations),
        ]
        .into_iter();
        named.find_map(|(feature, switch)| switch.map(|_| feature))
    }

    /// Whether it names no setting.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests;
