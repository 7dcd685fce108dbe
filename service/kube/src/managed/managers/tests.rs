use super::*;

/// An object with its managers, as several write it.
#[derive(Default)]
struct Written {
    object: Value,
    managers: Managers,
}

fn writer(manager: &str, time: u32) -> Writer {
    Writer {
        manager: manager.to_owned(),
        subresource: "",
        api_version: "example.io/v1".to_owned(),
        time: format!("2026-01-01T00:00:{time:02}Z"),
    }
}

impl Written {
    fn new() -> Self {
        Self {
            object: json!({}),
            managers: Managers::default(),
        }
    }

    fn update(&mut self, manager: &str, object: Value) {
        let changes = values::compare(&self.object, &object);
        self.managers.update(&changes, &writer(manager, 1));
        self.object = object;
    }

    /// Applies a configuration; the conflicts if there are any.
    fn apply(&mut self, manager: &str, configuration: Value, is_forced: bool) -> Vec<String> {
        let mut managers = self.managers.clone();
        let by = writer(manager, 2);
        let force = match is_forced {
            true => Force::All,
            false => Force::These(Fields::default()),
        };
        match managers.apply(&self.object, &configuration, &by, &force) {
            Ok(object) => {
                (self.object, self.managers) = (object, managers);
                Vec::new()
            }
            Err(conflicts) => conflicts
                .into_iter()
                .map(|Conflict { manager, path }| format!("{manager} {path}"))
                .collect(),
        }
    }

    /// The paths that each manager has.
    fn managed(&self) -> Vec<String> {
        let entries = self.managers.0.iter();
        let mut told: Vec<String> = entries
            .map(|entry| format!("{}: {}", entry.manager, entry.fields.paths().join(" ")))
            .collect();
        told.sort();
        told
    }
}

#[test]
fn who_applies_has_what_it_says_and_what_it_says_no_more_goes() {
    let mut it = Written::new();
    assert!(
        it.apply("a", json!({"spec": {"x": 1, "y": 1}}), false)
            .is_empty()
    );
    assert!(
        it.apply("b", json!({"spec": {"y": 1, "z": 1}}), false)
            .is_empty()
    );
    assert_eq!(
        it.managed(),
        ["a: .spec .spec.x .spec.y", "b: .spec .spec.y .spec.z"]
    );
    // The one still has y, and nobody has x any more.
    assert!(it.apply("a", json!({"spec": {"w": 1}}), false).is_empty());
    assert_eq!(it.object, json!({"spec": {"w": 1, "y": 1, "z": 1}}));
    assert!(it.apply("b", json!({}), false).is_empty());
    assert_eq!(it.object, json!({"spec": {"w": 1}}));
    assert!(it.apply("a", json!({}), false).is_empty());
    assert_eq!((&it.object, it.managers.are_none()), (&json!({}), true));
}

#[test]
fn what_another_manages_is_changed_by_force_alone() {
    let mut it = Written::new();
    it.apply("a", json!({"spec": {"x": 1, "y": 1}}), false);
    it.update("u", json!({"spec": {"x": 2, "y": 1}}));
    assert_eq!(it.managed(), ["a: .spec .spec.y", "u: .spec.x"]);
    let said = json!({"spec": {"x": 1, "y": 2}});
    assert_eq!(
        it.apply("a", said.clone(), false),
        ["\"u\" using example.io/v1 .spec.x"]
    );
    let conflicts = it.apply("b", said.clone(), false);
    assert_eq!(
        conflicts,
        ["\"a\" .spec.y", "\"u\" using example.io/v1 .spec.x"]
    );
    // Nothing was changed so far.
    assert_eq!(it.object, json!({"spec": {"x": 2, "y": 1}}));
    assert!(it.apply("b", said.clone(), true).is_empty());
    assert_eq!(it.object, said);
    assert_eq!(it.managed(), ["a: .spec", "b: .spec .spec.x .spec.y"]);
    // The same value is shared.
    assert!(it.apply("c", json!({"spec": {"x": 1}}), false).is_empty());
    assert_eq!(
        it.managed(),
        ["a: .spec", "b: .spec .spec.x .spec.y", "c: .spec .spec.x"]
    );
}

#[test]
fn who_updates_has_what_it_changes_and_loses_what_is_gone() {
    let mut it = Written::new();
    it.update("u", json!({"spec": {"x": 1, "y": 1}}));
    it.update("v", json!({"spec": {"x": 1, "y": 2, "l": [1]}}));
    assert_eq!(it.managed(), ["u: .spec .spec.x", "v: .spec.l .spec.y"]);
    it.update("u", json!({"spec": {"x": 1}}));
    assert_eq!(it.managed(), ["u: .spec .spec.x"]);
    // Who updates loses nothing by what it does not change.
    let before = it.managers.clone();
    it.update("u", it.object.clone());
    assert_eq!(it.managers, before);
}

#[test]
fn the_oldest_of_many_who_update_become_one() {
    let mut managers = Managers::default();
    let mut object = json!({});
    for number in 0..12_u32 {
        let mut next = object.clone();
        next[format!("f{number:02}")] = json!(number);
        managers.update(
            &values::compare(&object, &next),
            &writer(&format!("m{number:02}"), number),
        );
        object = next;
    }
    let entries = managers.to_json();
    let names: Vec<&str> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["manager"].as_str().unwrap())
        .collect();
    assert_eq!((names.len(), names[0], names[1]), (10, ANCIENT, "m03"));
    assert_eq!(
        entries[0]["fieldsV1"],
        json!({"f:f00": {}, "f:f01": {}, "f:f02": {}})
    );
}

#[test]
fn what_others_have_written_is_theirs() {
    let mut it = Written::new();
    it.apply("a", json!({"spec": {"x": 1, "y": 1, "z": 1}}), false);
    let digests = values::digests(&it.object);
    it.object = json!({"spec": {"x": 2, "y": 1, "n": 1}});
    let written = values::written_since(&digests, &it.object);
    it.managers
        .overtaken(&values::fields_of(&it.object), written, "example.io/v1");
    assert_eq!(
        it.managed(),
        ["a: .spec .spec.y", "synod.v1: .spec.n .spec.x"]
    );
    let conflicts = it.apply("a", json!({"spec": {"x": 1, "y": 2}}), false);
    assert_eq!(conflicts, ["\"synod.v1\" using example.io/v1 .spec.x"]);
}

#[test]
fn entries_are_read_as_they_are_written_and_no_others() {
    let mut it = Written::new();
    it.apply("a", json!({"spec": {"x": 1}}), false);
    it.update("u", json!({"spec": {"x": 1, "y": 1}}));
    let written = it.managers.to_json();
    let first = json!({
        "manager": "a", "operation": "Apply", "apiVersion": "example.io/v1", "time": "2026-01-01T00:00:02Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {".": {}, "f:x": {}}},
    });
    assert_eq!(written[0], first);
    assert_eq!(Managers::parse(&written), Some(it.managers));
    for (field, value) in [
        ("operation", json!("Sing")),
        ("operation", Value::Null),
        ("fieldsType", json!("FieldsV2")),
        ("fieldsV1", json!([])),
        ("manager", json!(1)),
        ("manager", json!("x".repeat(129))),
        ("manager", json!("x\ny")),
        ("time", json!("yesterday")),
        ("time", json!("")),
        ("time", json!(1)),
    ] {
        let mut wrong = written.clone();
        wrong[0][field] = value;
        assert_eq!(Managers::parse(&wrong), None, "{field}");
    }
    assert_eq!(Managers::parse(&json!(vec![first; ENTRIES_MAX + 1])), None);
}

#[test]
fn of_two_entries_of_one_manager_the_last_counts() {
    let entry = |manager: &str, fields: Value| {
        json!({
            "manager": manager, "operation": "Update", "apiVersion": "example.io/v1", "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        })
    };
    let entries = json!([
        entry("b", json!({"f:a": {}})),
        entry("a", json!({"f:a": {}})),
        entry("b", json!({"f:b": {}})),
        entry("c", json!({"f:c": {}})),
        entry("c", json!({})),
    ]);
    let expected = json!([
        entry("a", json!({"f:a": {}})),
        entry("b", json!({"f:b": {}}))
    ]);
    assert_eq!(Managers::parse(&entries).unwrap().to_json(), expected);
}

#[test]
fn conflicts_are_told_level_by_level() {
    let mut it = Written::new();
    it.apply(
        "a",
        json!({"spec": {"a": {"b": 1}, "c": 1, "d": {"e": 1}}}),
        false,
    );
    let conflicts = it.apply(
        "b",
        json!({"spec": {"a": {"b": 2}, "c": 2, "d": {"e": 2}}}),
        false,
    );
    assert_eq!(
        conflicts,
        ["\"a\" .spec.c", "\"a\" .spec.a.b", "\"a\" .spec.d.e"]
    );
}

#[test]
fn the_oldest_stay_apart_when_somebody_applies() {
    let mut it = Written::new();
    for number in 0..UPDATERS_MAX + 1 {
        let mut next = it.object.clone();
        next[format!("f{number:02}")] = json!(number);
        let manager = format!("m{number:02}");
        let entry = Entry::of(
            &writer(&manager, 1),
            Operation::Update,
            values::compare(&it.object, &next).added,
        );
        it.managers.put(entry);
        it.object = next;
    }
    it.apply("a", json!({"x": 1}), false);
    assert_eq!(it.managed().len(), UPDATERS_MAX + 2);
}
