use super::*;

fn revision(number: u64) -> Revision {
    Revision::new(number)
}

/// An object that was created at 2, changed at 4 and deleted at 6.
fn changes() -> Changes {
    let changes = [(2, Some(1)), (4, Some(2)), (6, None)];
    let changes = changes.map(|(number, value)| (revision(number), value));
    BTreeMap::from([("card".to_owned(), changes.into())])
}

fn change(base: Option<u64>, value: Option<u64>) -> Asked {
    Asked::Change(vec![Step {
        name: "card".to_owned(),
        base: base.map(revision),
        value,
    }])
}

fn call(floor: u64, asked: Asked, told: Told) -> Call {
    Call {
        floor: revision(floor),
        asked,
        told,
    }
}

fn read(floor: u64, at: u64, seen: Option<(u64, u64)>) -> Call {
    let seen = seen.map(|(since, value)| (revision(since), value));
    call(
        floor,
        Asked::Read("card".to_owned()),
        Told::Seen(revision(at), seen),
    )
}

fn done(number: u64) -> Told {
    Told::Done(revision(number))
}

/// Calls with the answers that these changes give.
fn good() -> Vec<Call> {
    vec![
        call(0, change(None, Some(1)), done(2)),
        call(2, change(Some(2), Some(2)), Told::Unknown),
        call(4, change(Some(4), None), done(6)),
    ]
}

#[test]
fn answers_that_are_right_at_their_revisions_pass() {
    let mut calls = good();
    calls.extend([
        read(2, 3, Some((2, 1))),
        read(4, 5, Some((4, 2))),
        read(6, 7, None),
        call(2, change(None, Some(8)), Told::Lost),
        call(2, change(Some(2), Some(9)), Told::NotStored),
        call(6, change(None, Some(10)), Told::Unknown),
    ]);
    assert_eq!(check(&calls, &changes()), Ok(()));
}

#[test]
fn each_way_to_be_wrong_is_found() {
    let wrong = [
        ("a stale read", read(4, 3, Some((2, 1)))),
        ("a read of what was before", read(0, 5, Some((2, 1)))),
        ("a read of nothing", read(0, 5, None)),
        ("a read of what went", read(0, 7, Some((4, 2)))),
        (
            "a change that is lost",
            call(6, change(None, Some(3)), done(7)),
        ),
        (
            "one of another value",
            call(0, change(None, Some(3)), done(2)),
        ),
        (
            "one that was made on something else",
            call(2, change(Some(3), Some(2)), done(4)),
        ),
        (
            "one older than what was known",
            call(5, change(Some(2), Some(2)), done(4)),
        ),
        (
            "one that was done after all",
            call(2, change(Some(2), Some(2)), Told::NotStored),
        ),
        (
            "a refusal without a reason",
            call(6, change(None, Some(3)), Told::Lost),
        ),
    ];
    for (what, call) in wrong {
        let mut calls = good();
        calls.push(call);
        assert!(check(&calls, &changes()).is_err(), "{what} was not found");
    }
}

#[test]
fn a_change_that_nobody_asked_for_is_found() {
    for left_out in 0..3 {
        let mut calls = good();
        calls.remove(left_out);
        let found = check(&calls, &changes()).unwrap_err();
        assert!(found.starts_with("nobody changed card"), "{found}");
    }
}

#[test]
fn a_change_of_two_objects_that_came_to_one_of_them_is_found() {
    let step = |name: &str, value| Step {
        name: name.to_owned(),
        base: None,
        value: Some(value),
    };
    let both = Asked::Change(vec![step("card", 1), step("other", 1)]);
    let found = check(&[call(0, both, done(2))], &changes()).unwrap_err();
    assert!(found.starts_with("lost"), "{found}");
}
