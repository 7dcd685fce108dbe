//! The replicated settings as people write them: `write_grace=70s`, `history_bytes=64MiB`.
//!
//! One table has the name, the printer and the parser of each setting, so that every printed value can be typed.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_client::{
    GroupResource, ResourceSpelling, Settings, SettingsPatch, Switch, Violation, Violations,
};
use synod_model::settings::{self as published, SettingForm};

use crate::{duration, named};

/// One replicated setting.
pub(crate) struct Replicated {
    /// The name for people.
    pub(crate) name: &'static str,
    published: &'static published::Setting,
    get: fn(&Settings) -> String,
    set: fn(&mut SettingsPatch, &str) -> Result<(), String>,
}

macro_rules! replicated {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        /// Every replicated setting. The name of its field is its name for people.
        pub(crate) const SETTINGS: &[Replicated] = &[
            $(Replicated {
                name: stringify!($field),
                published: &published::$row,
                get: |settings| settings.$field.text(SettingForm::$form),
                set: |patch, text| {
                    patch.$field = Some(Typed::of_text(text, SettingForm::$form)?);
                    Ok(())
                },
            },)*
        ];
    };
}

synod_model::settings_table!(replicated);

/// The type of a setting's value, which is printed and parsed in one form.
trait Typed: Sized {
    fn text(&self, form: SettingForm) -> String;

    fn of_text(text: &str, form: SettingForm) -> Result<Self, String>;
}

impl Typed for u64 {
    fn text(&self, form: SettingForm) -> String {
        match form {
            SettingForm::Bytes => bytes_text(*self),
            SettingForm::Span => Duration::from_millis(*self).text(form),
            SettingForm::OnOff => if *self == 0 { "off" } else { "on" }.to_owned(),
            SettingForm::Number | SettingForm::Resources => self.to_string(),
        }
    }

    fn of_text(text: &str, form: SettingForm) -> Result<Self, String> {
        if form == SettingForm::Bytes {
            bytes(text)
        } else {
            number(text)
        }
    }
}

impl Typed for u32 {
    fn text(&self, _: SettingForm) -> String {
        self.to_string()
    }

    fn of_text(text: &str, _: SettingForm) -> Result<Self, String> {
        number(text)
    }
}

impl Typed for Duration {
    fn text(&self, _: SettingForm) -> String {
        duration::text(*self)
    }

    fn of_text(text: &str, _: SettingForm) -> Result<Self, String> {
        duration::parse(text)
    }
}

impl Typed for BTreeSet<GroupResource> {
    fn text(&self, _: SettingForm) -> String {
        let names: Vec<String> = self.iter().map(named::text).collect();
        names.join(",")
    }

    fn of_text(text: &str, _: SettingForm) -> Result<Self, String> {
        resources(text)
    }
}

impl Typed for Switch {
    fn text(&self, _: SettingForm) -> String {
        self.as_str().to_owned()
    }

    fn of_text(text: &str, _: SettingForm) -> Result<Self, String> {
        let known = [Self::On, Self::Off];
        let known = known.into_iter().find(|switch| switch.as_str() == text);
        known.ok_or_else(|| "must be on or off".to_owned())
    }
}

impl Replicated {
    /// The value, as it can be typed.
    pub(crate) fn value(&self, settings: &Settings) -> String {
        (self.get)(settings)
    }

    /// The default, the minimum and the maximum. For resources these are their number.
    pub(crate) fn bounds(&self) -> [String; 3] {
        let published::Setting {
            default, min, max, ..
        } = self.published;
        [default, min, max].map(|bound| bound.text(self.published.form))
    }
}

/// Parses `name=value` pairs into a patch, and returns it with the names of the settings.
///
/// # Errors
///
/// Every pair that is at fault, named by its setting.
pub(crate) fn patch(assignments: &[String]) -> Result<(SettingsPatch, Vec<String>), Violations> {
    let mut patch = SettingsPatch::default();
    let mut names: Vec<String> = Vec::new();
    let mut faults = Violations::new();
    for assignment in assignments {
        let Some((given, value)) = assignment.split_once('=') else {
            faults.push(Violation::invalid(
                assignment,
                "must be name=value, as in write_grace=30s",
            ));
            continue;
        };
        let Some(setting) = find(given) else {
            let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
            let rule = format_args!("no setting has this name; there are: {}", known.join(", "));
            faults.push(Violation::invalid(given, rule));
            continue;
        };
        if names.iter().any(|name| name == setting.name) {
            faults.push(Violation::duplicate(value).at(setting.name));
        } else if let Err(rule) = (setting.set)(&mut patch, value) {
            faults.push(Violation::invalid(value, rule).at(setting.name));
        }
        names.push(setting.name.to_owned());
    }
    if faults.is_empty() {
        Ok((patch, names))
    } else {
        Err(faults)
    }
}

/// The name for people of the setting whose field a replica found at fault.
pub(crate) fn typed(field: &str) -> String {
    let name = field.strip_prefix("patch.").unwrap_or(field);
    find(name).map_or(field, |setting| setting.name).to_owned()
}

/// The setting with this name, which may also be written as in the settings' JSON form.
fn find(name: &str) -> Option<&'static Replicated> {
    let plain = name.replace('-', "_");
    SETTINGS
        .iter()
        .find(|setting| setting.name == plain || setting.published.name == name)
}

/// The units of bytes, largest first.
const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("", 1),
];

fn bytes_text(bytes: u64) -> String {
    let unit = UNITS
        .iter()
        .find(|(_, size)| bytes > 0 && bytes.is_multiple_of(*size));
    let (unit, size) = unit.unwrap_or(&("", 1));
    format!("{}{unit}", bytes / size)
}

fn bytes(text: &str) -> Result<u64, String> {
    let (digits, size) = UNITS
        .iter()
        .find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)))
        .unwrap_or((text, &1));
    let count: Option<u64> = digits.parse().ok();
    count
        .and_then(|count| count.checked_mul(*size))
        .ok_or_else(|| "must be a whole number of bytes, KiB, MiB or GiB, as in 64MiB".to_owned())
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| "must be a whole number that fits the setting".to_owned())
}

/// The resources of a list, each by its first reading. [`resource_spellings`] has the names to look up.
fn resources(text: &str) -> Result<BTreeSet<GroupResource>, String> {
    let spellings = spellings(text)?.into_iter();
    Ok(spellings
        .map(|spelling| spelling.first_reading().clone())
        .collect())
}

fn spellings(text: &str) -> Result<Vec<ResourceSpelling>, String> {
    let names = text.split(',').filter(|_| !text.is_empty());
    names
        .map(|name| {
            ResourceSpelling::parse(name).map_err(|faults| {
                let rules = faults.iter().map(|fault| fault.rule.as_str());
                let rules = rules.collect::<Vec<_>>().join("; ");
                rules.replace("Invalid value: ", "")
            })
        })
        .collect()
}

/// The names of resources in the assignments of the setting `enforce_persisted`, if it is assigned.
pub(crate) fn resource_spellings(assignments: &[String]) -> Option<Vec<ResourceSpelling>> {
    let mut assignments = assignments.iter().filter_map(|text| text.split_once('='));
    let names = assignments.find_map(|(name, value)| {
        let setting = find(name)?;
        (setting.published.form == SettingForm::Resources).then_some(value)
    });
    spellings(names?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(assignments: &[&str]) -> Result<(SettingsPatch, Vec<String>), Vec<String>> {
        let assignments: Vec<String> = assignments.iter().map(|&text| text.to_owned()).collect();
        patch(&assignments).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_shown_can_be_typed() {
        let settings = Settings {
            write_grace: Duration::from_millis(1_500),
            history_bytes: (64 << 20) + 1,
            enforce_persisted: resources("deployments.apps,pods,keys/secrets").unwrap(),
            leases: Switch::Off,
            ..Settings::default()
        };
        for setting in SETTINGS {
            let shown = format!("{}={}", setting.name, setting.value(&settings));
            let (patch, _) = patched(&[&shown]).unwrap();
            let applied = patch.applied_to(&Settings::default());
            assert_eq!(setting.value(&applied), setting.value(&settings), "{shown}");
        }
    }

    #[test]
    fn what_was_given_is_changed_and_nothing_else() {
        let (patch, names) = patched(&[
            "write_grace=30s",
            "membersMax=500",
            "state-quota-bytes=2GiB",
        ])
        .unwrap();
        let expected = SettingsPatch {
            write_grace: Some(Duration::from_secs(30)),
            members_max: Some(500),
            state_quota_bytes: Some(2 << 30),
            ..SettingsPatch::default()
        };
        assert_eq!(patch, expected);
        assert_eq!(names, ["write_grace", "members_max", "state_quota_bytes"]);
    }

    #[test]
    fn a_fault_that_a_replica_found_is_told_by_the_name_that_was_typed() {
        assert_eq!(typed("patch.writeGraceMs"), "write_grace");
        assert_eq!(typed("ifRevision"), "ifRevision");
    }

    #[test]
    fn the_names_of_resources_are_found_to_be_looked_up() {
        let found = |assignments: &[&str]| {
            let assignments: Vec<String> = assignments.iter().map(|&it| it.to_owned()).collect();
            let found = resource_spellings(&assignments)?.into_iter();
            Some(found.map(|it| it.as_str().to_owned()).collect::<Vec<_>>())
        };
        let names = found(&["leases=on", "enforcePersisted=pods,apps.deployments"]);
        assert_eq!(names.unwrap(), ["pods", "apps.deployments"]);
        assert_eq!(found(&["enforce_persisted="]), Some(Vec::new()));
        assert_eq!(found(&["leases=on"]), None);
    }

    #[test]
    fn a_set_can_be_emptied() {
        let (patch, _) = patched(&["enforce_persisted="]).unwrap();
        assert_eq!(patch.enforce_persisted, Some(BTreeSet::new()));
    }

    #[test]
    fn every_faulty_assignment_is_named() {
        let faults = patched(&[
            "write_grace",
            "writ_grace=1s",
            "write_grace=1",
            "members_max=-1",
            "history_bytes=1MB",
            "sessions_max=4294967296",
            "enforce_persisted=Pods",
            "leases=no",
            "members_max=1",
        ])
        .unwrap_err();
        let parts = [
            "Invalid value: \"write_grace\": must be name=value",
            "Invalid value: \"writ_grace\": no setting has this name; there are: history_revisions,",
            "write_grace: Invalid value: \"1\": give its unit",
            "members_max: Invalid value: \"-1\": must be a whole number",
            "history_bytes: Invalid value: \"1MB\": must be a whole number of bytes",
            "sessions_max: Invalid value: \"4294967296\": must be a whole number",
            "enforce_persisted: Invalid value: \"Pods\": \"Pods\": ",
            "leases: Invalid value: \"no\": must be on or off",
            "members_max: Duplicate value: \"1\"",
        ];
        assert_eq!(faults.len(), parts.len(), "{faults:#?}");
        for (fault, part) in faults.iter().zip(parts) {
            assert!(fault.starts_with(part), "{fault}");
        }
    }
}
