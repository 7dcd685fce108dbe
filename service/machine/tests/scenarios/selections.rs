//! Selections by label: the index finds the same objects as a check of every object.

use synod_model::{Attributes, LabelSelector, Namespace, NamespacedName, ObjectName, Revision};

use crate::cluster::Cluster;
use crate::entry::resource;
use crate::shelf::{WIDGETS, content, labelled, widget};

fn selector(text: &str) -> LabelSelector {
    LabelSelector::parse(text).expect("legal")
}

fn selected(cluster: &Cluster, at: Revision, namespace: Option<&str>, text: &str) -> Vec<String> {
    let past = cluster.state.at(at).expect("it is kept");
    let namespace = namespace.map(|namespace| Namespace::parse(namespace).expect("legal"));
    let selector = selector(text);
    let found = past.objects(&resource(WIDGETS), namespace.as_ref(), &selector, None);
    found.map(|object| object.key.name.to_string()).collect()
}

const SELECTORS: [&str; 12] = [
    "",
    "color=red",
    "color=red,size=big",
    "color in (red,blue)",
    "color in (red,green),size in (big,small)",
    "color",
    "!color",
    "color!=red",
    "color,size!=big",
    "size=big,!color",
    "color=red,color=blue",
    "color=nothing",
];

/// Objects with every combination of colors and sizes in two namespaces.
fn motley() -> Cluster {
    let mut cluster = Cluster::with_widgets();
    let colors = [None, Some("red"), Some("blue"), Some("green")];
    let sizes = [None, Some("big"), Some("small")];
    for (i, color) in colors.iter().enumerate() {
        for (j, size) in sizes.iter().enumerate() {
            let color = color.map(|color| ("color", color));
            let size = size.map(|size| ("size", size));
            let labels: Vec<_> = color.into_iter().chain(size).collect();
            let namespace = ["a", "b"][(i + j) % 2];
            let name = format!("{namespace}/{i}-{j}");
            cluster.stores(&widget(&name), labelled(&labels));
        }
    }
    cluster
}

/// The names that a check of every object finds.
fn looked_for(cluster: &Cluster, at: Revision, namespace: Option<&str>, text: &str) -> Vec<String> {
    let past = cluster.state.at(at).expect("it is kept");
    let (all, selector) = (LabelSelector::default(), selector(text));
    past.objects(&resource(WIDGETS), None, &all, None)
        .filter(|object| namespace.is_none_or(|wanted| object.key.name.namespace() == Some(wanted)))
        .filter(|object| selector.matches(&object.attributes.labels))
        .map(|object| object.key.name.to_string())
        .collect()
}

// Guarantee: R-02
#[test]
fn a_selection_is_what_a_look_at_every_object_finds_at_any_revision() {
    let mut cluster = motley();
    let first = cluster.revision();
    cluster.updates(
        &widget("b/1-0"),
        labelled(&[("color", "blue")]),
        content("v1", "{}"),
    );
    cluster.updates(
        &widget("a/0-0"),
        labelled(&[("color", "red")]),
        content("v1", "{}"),
    );
    cluster.deletes(&widget("a/1-1"), None);
    cluster.updates(
        &widget("a/1-1"),
        labelled(&[("size", "big")]),
        content("v1", "{}"),
    );
    cluster.stores(
        &widget("a/new"),
        labelled(&[("color", "red"), ("size", "big")]),
    );
    let mut found = 0;
    for at in [first, Revision::new(first.get() + 3), cluster.revision()] {
        for namespace in [None, Some("a"), Some("b"), Some("c")] {
            for text in SELECTORS {
                let names = selected(&cluster, at, namespace, text);
                let expected = looked_for(&cluster, at, namespace, text);
                assert_eq!(names, expected, "{text} in {namespace:?} at {at}");
                found += names.len();
            }
        }
    }
    assert!(found > 200, "the selections find something: {found}");
}

#[test]
fn a_selection_is_read_in_pages_and_survives_a_checkpoint() {
    let mut cluster = motley();
    cluster.restart_from_checkpoint();
    for text in SELECTORS {
        let selector = selector(text);
        let present = cluster.state.present();
        let of = resource(WIDGETS);
        let all: Vec<_> = present.objects(&of, None, &selector, None).collect();
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let page = present.objects(&of, None, &selector, after.as_ref());
            let page: Vec<_> = page.take(2).collect();
            let Some(last) = page.last() else { break };
            after = Some(last.key.name.clone());
            paged.extend(page);
        }
        assert_eq!(paged, all, "{text}");
    }
}

#[test]
fn what_goes_takes_its_labels_along() {
    let mut cluster = motley();
    let red = selected(&cluster, cluster.revision(), None, "color=red");
    for name in &red {
        cluster.deletes(&widget(name), None);
    }
    assert!(selected(&cluster, cluster.revision(), None, "color=red").is_empty());
    cluster.updates(&widget(&red[0]), Attributes::default(), content("v1", "{}"));
    assert!(selected(&cluster, cluster.revision(), None, "color=red").is_empty());
}

#[test]
fn a_name_is_found_in_every_namespace_at_any_revision_and_page_by_page() {
    let mut cluster = Cluster::with_widgets();
    for name in ["a/one", "a/two", "b/two", "c/a", "c/one", "c/z", "d/zoo"] {
        cluster.stores(&widget(name), Attributes::default());
    }
    let first = cluster.revision();
    cluster.deletes(&widget("a/one"), None);
    cluster.stores(&widget("b/one"), Attributes::default());
    cluster.stores(&widget("e/one"), Attributes::default());
    for (at, expected) in [
        (first, "a/one c/one"),
        (cluster.revision(), "b/one c/one e/one"),
    ] {
        let past = cluster.state.at(at).expect("it is kept");
        let name = ObjectName::parse("one").expect("legal");
        let of = resource(WIDGETS);
        let mut found: Vec<NamespacedName> = Vec::new();
        // Each page continues after the last object of the page before.
        while let Some(object) = past.objects_named(&of, &name, found.last()).next() {
            found.push(object.key.name.clone());
        }
        let all = past.objects_named(&of, &name, None);
        assert!(all.map(|object| object.key.name.clone()).eq(found.clone()));
        let names: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(names.join(" "), expected);
    }
}
