use super::*;

/// Sets one setting to a number.
type Set = fn(u64) -> SettingsPatch;

macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        /// How each setting of the table is set, by a patch with nothing else in it.
        const SETTERS: &[(Setting, Set)] = &[
            $(($row, |n| SettingsPatch { $field: Some(<$of>::of_size(n)), ..none() }),)*
        ];
    };
}

crate::settings_table!(setters);

/// A value of a setting that counts as so many.
trait OfSize: Value {
    fn of_size(amount: u64) -> Self {
        Self::of_amount(amount)
    }
}

impl OfSize for u64 {}

impl OfSize for u32 {}

impl OfSize for Duration {}

impl OfSize for Switch {}

impl OfSize for BTreeSet<GroupResource> {
    fn of_size(amount: u64) -> Self {
        (0..amount)
            .map(|i| GroupResource::new("", &format!("r{i}")).unwrap())
            .collect()
    }
}

fn none() -> SettingsPatch {
    SettingsPatch::default()
}

#[test]
fn the_table_names_every_setting_once() {
    let names: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(names.len(), SETTINGS.len());
}

#[test]
fn each_setting_is_held_to_its_bounds() {
    // A switch has no other values than its two.
    let bounded = SETTERS.iter();
    for (setting, set) in bounded.filter(|(setting, _)| setting.form != SettingForm::OnOff) {
        for legal in [
            setting.min,
            setting.min + 1,
            setting.default,
            setting.max - 1,
            setting.max,
        ] {
            assert!(set(legal).check().is_empty(), "{} = {legal}", setting.name);
        }
        let below = setting.min.checked_sub(1);
        for illegal in below.into_iter().chain([setting.max + 1]) {
            let violations = set(illegal).check();
            let Setting {
                name,
                unit,
                min,
                max,
                ..
            } = setting;
            assert_eq!(
                violations.to_string(),
                format!("{name}: Invalid value: {illegal}: must be between {min} and {max} {unit}")
            );
        }
    }
}

#[test]
fn all_bad_settings_are_named_at_once() {
    let patch = SettingsPatch {
        members_max: Some(0),
        history_bytes: Some(0),
        ..none()
    };
    let fields: Vec<String> = patch
        .check()
        .iter()
        .map(|found| found.field.clone())
        .collect();
    assert_eq!(fields, ["historyBytes", "membersMax"]);
}

#[test]
fn a_span_that_the_log_could_not_carry_is_refused() {
    let patch = SettingsPatch {
        write_grace: Some(Duration::from_micros(1_500_500)),
        ..none()
    };
    assert_eq!(
        patch.check().to_string(),
        r#"writeGraceMs: Invalid value: "1.5005s": must be a whole number of milliseconds"#
    );
    let endless = SettingsPatch {
        write_grace: Some(Duration::MAX),
        ..none()
    };
    assert_eq!(endless.check().len(), 1);
}

#[test]
fn a_new_cluster_has_the_published_defaults_within_bounds() {
    let settings = Settings::default();
    assert!(settings.check().is_empty());
    for (setting, set) in SETTERS {
        assert_eq!(
            set(setting.default).applied_to(&settings),
            settings,
            "{}",
            setting.name
        );
    }
    assert_eq!(settings.write_grace, Duration::from_secs(70));
    assert_eq!(
        (settings.history_revisions, settings.history_bytes),
        (10_000, 64 << 20)
    );
}

#[test]
fn a_patch_changes_what_it_names_and_nothing_else() {
    let settings = Settings {
        revision: Revision::new(9),
        ..Settings::default()
    };
    assert_eq!(none().applied_to(&settings), settings);
    assert!(none().is_empty());
    for (setting, set) in SETTERS {
        // Another value than in a new cluster.
        let other = if setting.form == SettingForm::OnOff {
            setting.min
        } else {
            setting.max
        };
        let patch = set(other);
        assert!(!patch.is_empty());
        let changed = patch.clone().applied_to(&settings);
        assert_ne!(changed, settings, "{}", setting.name);
        assert_eq!(
            set(setting.default).applied_to(&changed),
            settings,
            "{}",
            setting.name
        );
    }
}

#[test]
fn the_patch_of_settings_makes_any_settings_these() {
    let settings = Settings {
        members_max: 7,
        enforce_persisted: BTreeSet::of_size(2),
        ..Settings::default()
    };
    let patch = SettingsPatch::from(settings.clone());
    assert_eq!(patch.applied_to(&Settings::default()), settings);
}

#[test]
fn everything_is_on_in_a_new_cluster_and_each_switch_turns_off_what_it_is_named_after() {
    let settings = Settings::default();
    assert_eq!(settings.switched_off().next(), None);
    assert_eq!(none().names_switch_of(), None);
    for feature in Feature::ALL {
        let (_, set) = SETTERS
            .iter()
            .find(|(setting, _)| setting.name == feature.setting())
            .expect("each feature has a setting of its name");
        let patch = set(0);
        assert_eq!(patch.names_switch_of(), Some(feature));
        let off: Vec<Feature> = patch.applied_to(&settings).switched_off().collect();
        assert_eq!(off, [feature]);
    }
}

#[test]
fn settings_without_a_switch_that_is_off_are_stored_as_before_there_were_switches() {
    let settings = Settings::default();
    let bytes = crate::stored::to_bytes(&settings);
    // The revision and the thirteen settings before the resources, which are none.
    assert_eq!(bytes[0], 14);
    let off = Settings {
        votes: Switch::Off,
        ..settings
    };
    let bytes = crate::stored::to_bytes(&off);
    assert_eq!(bytes[0], 16);
    assert_eq!(crate::stored::from_bytes::<Settings>(&bytes).unwrap(), off);
}
