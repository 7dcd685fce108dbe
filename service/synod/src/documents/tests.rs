use super::*;

const WIDGET: &str = "\
apiVersion: example.io/v1
kind: Widget
metadata:
  name: my-widget
  namespace: team-a
  labels: {app: web}
  annotations: {note: 'x y'}
  finalizers: [example.io/clean]
spec: {size: 3}
";

fn one(text: &str) -> Document {
    let mut documents = read(text).unwrap();
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

#[test]
fn a_document_says_what_is_stored_and_under_which_name() {
    let document = one(WIDGET);
    assert_eq!(document.key().to_string(), "team-a/my-widget");
    assert_eq!(document.attributes.labels.get("app"), Some("web"));
    assert_eq!(document.attributes.annotations.get("note"), Some("x y"));
    assert!(document.attributes.finalizers.contains("example.io/clean"));
    let content = document.content();
    assert_eq!(content.encoding.to_string(), "example.io/v1");
    assert_eq!(
        std::str::from_utf8(&content.data).unwrap(),
        r#"{"apiVersion":"example.io/v1","kind":"Widget","spec":{"size":3}}"#
    );
}

#[test]
fn json_and_several_documents_are_read_alike() {
    let json = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","resourceVersion":"17"}}"#;
    let document = one(json);
    assert_eq!(
        document.preconditions.resource_version,
        Some(Revision::new(17))
    );
    assert_eq!(document.namespace, None);
    let two = format!("{WIDGET}---\n{json}\n---\n");
    assert_eq!(read(&two).unwrap().len(), 2);
}

#[test]
fn every_fault_of_a_document_is_told_with_its_place() {
    let text = "\
apiVersion: a/b/c
kind: w-w
metadata: {name: A, labels: {a: 3}, colour: red, resourceVersion: x, ownerReferences: [{}]}
";
    let failure = read(text).unwrap_err().to_string();
    for place in [
        "document[0].apiVersion: ",
        "document[0].kind: ",
        "document[0].metadata: Invalid value: \"colour\": is no field of metadata",
        "document[0].metadata.name: ",
        "document[0].metadata.labels[a]: Invalid value: \"3\": must be a text: quote it",
        "document[0].metadata.ownerReferences[0].uid: ",
        "document[0].metadata.resourceVersion: ",
    ] {
        assert!(failure.contains(place), "{place}\n{failure}");
    }
    assert!(read("").is_err());
    assert!(read("a: [").is_err());
}

// Guarantee: O-17
#[test]
fn what_has_another_form_than_its_field_is_refused_and_never_taken_for_nothing() {
    let owner = |more: &str| {
        let whole = "apiVersion: v1, kind: Pod, name: a, uid: 00000000-0000-8000-8000-000000000001";
        format!("ownerReferences: [{{{whole}, {more}}}]")
    };
    let (typo, flag) = (owner("blockOwner: true"), owner("controller: yes-it-is"));
    for (metadata, place) in [
        ("finalizers: example.io/clean", "finalizers: "),
        ("finalizers: {a: b}", "finalizers: "),
        ("finalizers: [3]", "finalizers[0]: "),
        ("finalizers: [null]", "finalizers"),
        ("annotations: []", "annotations: "),
        ("annotations: {a: null}", "annotations[a]: "),
        ("labels: text", "labels: "),
        ("labels: [app]", "labels: "),
        ("labels: false", "labels: "),
        ("ownerReferences: {}", "ownerReferences: "),
        ("ownerReferences: [text]", "ownerReferences[0]: "),
        (&flag, "ownerReferences[0].controller: "),
        (&typo, "ownerReferences[0]: "),
        ("namespace: 3", "namespace: "),
        ("namespace: [a]", "namespace: "),
        ("uid: 3", "uid: "),
        ("resourceVersion: [1]", "resourceVersion: "),
        ("resourceVersion: -1", "resourceVersion: "),
    ] {
        let text = format!("{{apiVersion: v1, kind: Pod, metadata: {{name: a, {metadata}}}}}");
        let failure = read(&text).unwrap_err().to_string();
        let place = format!("  document[0].metadata.{place}");
        assert!(failure.contains(&place), "{metadata}: {place}\n{failure}");
    }
    for (text, place) in [
        (
            "{apiVersion: 1, kind: Pod, metadata: {name: a}}",
            "apiVersion: ",
        ),
        (
            "{apiVersion: v1, kind: [Pod], metadata: {name: a}}",
            "kind: ",
        ),
        ("{apiVersion: v1, kind: Pod, metadata: [a]}", "metadata: "),
        ("[1, 2]", "metadata.name: "),
        ("text", "metadata.name: "),
    ] {
        let failure = read(text).unwrap_err().to_string();
        let place = format!("  document[0].{place}");
        assert!(failure.contains(&place), "{text}: {place}\n{failure}");
    }
    // An empty or null field sets nothing, and is no fault.
    let empty = one(
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: null, labels: null, annotations: {}, ownerReferences: [], finalizers: null, uid: null, resourceVersion: null}}",
    );
    assert_eq!(empty.attributes, Attributes::default());
    assert!(empty.preconditions.is_empty());
}

#[test]
fn the_data_s_own_metadata_goes_through_a_document_unharmed() {
    let stored =
        br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"inner"},"rawData":1,"spec":{}}"#;
    let document = one("{apiVersion: v1, kind: Pod, metadata: {name: a}}");
    let mut object = stored_as(&document, "application/vnd.example+json", stored);
    let shown_once = shown(&object, &document.kind);
    assert_eq!(shown_once["metadata"]["name"], "a");
    assert_eq!(shown_once["dataMetadata"], json!({"name": "inner"}));
    let again = Document::parse(shown_once).unwrap();
    let content = again.content_after(&object.content);
    assert_eq!(content.media_type, object.content.media_type);
    let data = |content: &Content| serde_json::from_slice::<Value>(&content.data).unwrap();
    assert_eq!(data(&content), data(&object.content));

    // Data with this name itself would come back under another one.
    object.content.data = br#"{"dataMetadata":{}}"#.to_vec().into();
    assert!(fields(&object).is_none());
    assert!(shown(&object, &document.kind).get("rawData").is_some());
    // Of two members with the same name one would be lost.
    let twice = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: 1, spec: {a: 1}}";
    let failure = read(twice).unwrap_err().to_string();
    assert!(
        failure.contains("duplicate mapping key `spec`"),
        "{failure}"
    );
}

#[test]
fn numbers_keep_their_digits_or_are_refused() {
    let stored = br#"{"apiVersion":"v1","kind":"Pod","n":12345678901234567890123,"x":0.12345678901234567890}"#;
    let document = one("{apiVersion: v1, kind: Pod, metadata: {name: a}}");
    let object = stored_as(&document, "application/json", stored);
    let text = synod_yaml::to_string(&shown(&object, &document.kind));
    let edited = one(&text.replace("kind: Pod", "kind: Pod\nm: 3"));
    let content = edited.content_after(&object.content);
    let written = std::str::from_utf8(&content.data).unwrap();
    assert!(
        written.contains(r#""n":12345678901234567890123"#),
        "{written}"
    );
    assert!(
        written.contains(r#""x":0.12345678901234567890"#),
        "{written}"
    );
    assert!(written.contains(r#""m":3"#), "{written}");

    let own = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {x: 0.12345678901234567890}}";
    let failure = read(own).unwrap_err().to_string();
    assert!(failure.contains("  document[0].spec.x: "), "{failure}");
}

#[test]
fn what_is_shown_has_the_digits_that_are_stored() {
    let stored = br#"{"apiVersion":"v1","kind":"Pod","b":[1.50,{"c":12345678901234567890123}],"metadata":{"n":1e2},"a":3,"d":[],"e":{}}"#;
    let document = one("{apiVersion: v1, kind: Pod, metadata: {name: a}}");
    let object = stored_as(&document, "application/json", stored);
    let shown = shown(&object, &document.kind);
    let text = with_all_digits(&shown, &exactly(&object)).unwrap();
    for line in [
        "\n    1.50,\n",
        "\n      \"c\": 12345678901234567890123\n",
        "\n    \"n\": 1e2\n",
        "\n  \"a\": 3,\n",
        "\n  \"d\": [],\n",
    ] {
        assert!(text.contains(line), "{line:?} is missing in {text}");
    }
    // Except for the digits it is the document that is shown of any object, also within a list.
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), shown);
    let list = json!({"items": [shown]});
    let items = Json::Array(vec![exactly(&object)]);
    let stored = Json::Object([("items".to_owned(), items)].into());
    let text = with_all_digits(&list, &stored).unwrap();
    assert!(text.contains("12345678901234567890123"), "{text}");

    let plain = stored_as(&document, "application/json", br#"{"a":[1,2.5,"x"]}"#);
    let shown = super::shown(&plain, &document.kind);
    assert_eq!(with_all_digits(&shown, &exactly(&plain)), None);
}

/// An object with the metadata of a document and other data.
fn stored_as(document: &Document, media_type: &str, data: &[u8]) -> StoredObject {
    StoredObject {
        key: synod_client::ObjectKey {
            resource: synod_client::GroupResource::new("", "pods").unwrap(),
            name: document.key(),
        },
        metadata: synod_client::Metadata {
            uid: Uid::parse("00000000-0000-8000-8000-000000000001").unwrap(),
            resource_version: Revision::new(7),
            create_revision: Revision::new(7),
            generation: 1,
            created: synod_client::WallTime::from_millis(0),
        },
        attributes: document.attributes.clone(),
        deletion: None,
        content: Content {
            encoding: document.version.clone(),
            media_type: MediaType::parse(media_type).unwrap(),
            data: data.to_vec().into(),
        },
        content_revision: Revision::new(7),
    }
}
