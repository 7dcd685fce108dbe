//! Counts the queries to the index that a search makes, instead of measuring its time.

use std::cell::Cell;

use synod_model::ObjectName;

use super::*;

fn name(namespace: &str, number: usize) -> NamespacedName {
    let namespace = Namespace::parse(namespace).unwrap();
    let name = ObjectName::parse(&format!("widget-{number:04}")).unwrap();
    NamespacedName::new(Some(&namespace), &name)
}

fn index<'a>(
    named: impl IntoIterator<Item = (NamespacedName, Vec<(&'a str, String)>)>,
) -> LabelIndex {
    let mut index = LabelIndex::default();
    for (name, labels) in named {
        let labels = labels.iter().map(|(key, value)| (*key, value.as_str()));
        index.insert(&Labels::parse(labels).unwrap(), &name);
    }
    index
}

/// One page of the names that the selector finds after a name, and the number of queries it took.
fn page(
    index: &LabelIndex,
    selector: &str,
    namespace: Option<&str>,
    after: Option<&NamespacedName>,
    size: usize,
) -> (Vec<NamespacedName>, usize) {
    let namespace = namespace.map(|namespace| Namespace::parse(namespace).unwrap());
    let from = match after {
        Some(after) => Bound::Excluded(after.clone()),
        None => Bound::Included(NamespacedName::before_all_of(namespace.as_ref())),
    };
    let asked = Cell::new(0);
    let ask = |line| {
        asked.set(asked.get() + 1);
        index.next(line)
    };
    let wanted = Wanted::all_of(&LabelSelector::parse(selector).unwrap());
    let found = Search::new(ask, wanted, namespace, from).take(size);
    (found.collect(), asked.get())
}

// Guarantee: R-01
#[test]
fn a_page_of_those_that_have_a_label_costs_what_is_on_it() {
    let named = (0..1_000).map(|i| {
        let label = if i % 2 == 0 { "app" } else { "other" };
        (name("a", i), vec![(label, format!("value-{}", 999 - i))])
    });
    let index = index(named);
    let (mut found, mut last) = (Vec::new(), None);
    loop {
        let (names, asked) = page(&index, "app", None, last.as_ref(), 10);
        assert!(asked <= names.len() + 1, "{asked} for {}", names.len());
        let Some(end) = names.last() else { break };
        last = Some(end.clone());
        found.extend(names);
    }
    let expected: Vec<_> = (0..1_000).step_by(2).map(|i| name("a", i)).collect();
    assert_eq!(found, expected);
}

// Guarantee: R-01
#[test]
fn what_is_in_other_namespaces_costs_nothing() {
    // After the namespace the two labels alternate, and no object has both.
    let others = (0..1_000).map(|i| {
        let label = if i % 2 == 0 { "app" } else { "tier" };
        (name("b", i), vec![(label, "x".to_owned())])
    });
    let both = vec![("app", "x".to_owned()), ("tier", "x".to_owned())];
    let one = (name("a", 7), both);
    let index = index(others.chain([one]));
    for selector in ["app=x,tier=x", "app,tier=x", "app in (x,y),tier in (x,z)"] {
        let (names, asked) = page(&index, selector, Some("a"), None, 10);
        assert_eq!(names, [name("a", 7)]);
        assert!(asked <= 6, "{asked} for {selector}");
        let (names, asked) = page(&index, selector, Some("0"), None, 10);
        assert!(names.is_empty() && asked <= 4, "{asked} for {selector}");
    }
}

// Guarantee: R-01
#[test]
fn many_values_cost_a_question_each_and_not_one_for_each_result() {
    let named = (0..1_000).map(|i| {
        let size = if i % 100 == 0 { "rare" } else { "usual" };
        let labels = vec![("id", format!("{}", i % 500)), ("size", size.to_owned())];
        (name("a", i), labels)
    });
    let index = index(named);
    let values: Vec<String> = (0..500).map(|i| i.to_string()).collect();
    let selector = format!("id in ({})", values.join(","));
    let (names, asked) = page(&index, &selector, None, None, 400);
    assert_eq!(names.len(), 400);
    assert!(asked <= 500 + 400, "{asked}");
    let (names, asked) = page(&index, &format!("size=rare,{selector}"), None, None, 400);
    assert_eq!(names.len(), 10);
    // One query for each value, and one for each object of it that is skipped.
    assert!(asked <= 500 + 1_000 + 2 * 10, "{asked}");
}

#[test]
fn what_has_no_such_label_is_found_out_at_once() {
    let named = (0..1_000).map(|i| (name("a", i), vec![("app", "x".to_owned())]));
    let mut index = index(named);
    for selector in ["zone", "zone=x", "app=y", "app=x,zone", "ap"] {
        let (names, asked) = page(&index, selector, None, None, 10);
        assert!(names.is_empty() && asked <= 2, "{asked} for {selector}");
    }
    let labels = Labels::parse([("app", "x")]).unwrap();
    (0..1_000).for_each(|i| index.remove(&labels, &name("a", i)));
    assert!(index.0.is_empty(), "no line is left behind");
}
