use super::*;

fn info(method: &str, uri: &str) -> Option<RequestInfo> {
    RequestInfo::parse(&method.parse().unwrap(), &uri.parse().unwrap())
}

/// `verb group/version namespace resource/name/subresource` of a request.
fn read(method: &str, uri: &str) -> String {
    let info = info(method, uri).unwrap();
    if !info.is_resource_request {
        return format!("{} non-resource", info.verb);
    }
    format!(
        "{} {}/{} {} {}/{}/{}",
        info.verb,
        info.group,
        info.version,
        info.namespace,
        info.resource,
        info.name,
        info.subresource
    )
}

/// The cases of Kubernetes' own test of `RequestInfoFactory`, and some more: method, path, and the expected reading.
const CASES: &[(&str, &str, &str)] = &[
    ("GET", "/api/v1/namespaces", "list /v1  namespaces//"),
    (
        "GET",
        "/api/v1/namespaces/other",
        "get /v1 other namespaces/other/",
    ),
    (
        "GET",
        "/api/v1/namespaces/other/pods",
        "list /v1 other pods//",
    ),
    (
        "GET",
        "/api/v1/namespaces/other/pods/foo",
        "get /v1 other pods/foo/",
    ),
    (
        "HEAD",
        "/api/v1/namespaces/other/pods/foo",
        "get /v1 other pods/foo/",
    ),
    ("GET", "/api/v1/pods", "list /v1  pods//"),
    ("HEAD", "/api/v1/pods", "list /v1  pods//"),
    (
        "GET",
        "/api/v1/namespaces/other/pods/foo/status",
        "get /v1 other pods/foo/status",
    ),
    (
        "GET",
        "/api/v1/proxy/namespaces/other/pods/foo",
        "proxy /v1 other pods/foo/",
    ),
    (
        "GET",
        "/api/v1/proxy/namespaces/other/pods/foo/sub/x",
        "proxy /v1 other pods/foo/",
    ),
    ("GET", "/api/v1/watch/pods", "watch /v1  pods//"),
    (
        "GET",
        "/api/v1/watch/namespaces/other/pods",
        "watch /v1 other pods//",
    ),
    (
        "GET",
        "/api/v1/namespaces/other/pods?watch=1",
        "watch /v1 other pods//",
    ),
    (
        "GET",
        "/api/v1/namespaces/other/pods?watch",
        "watch /v1 other pods//",
    ),
    (
        "GET",
        "/api/v1/namespaces/other/pods?watch=false",
        "list /v1 other pods//",
    ),
    (
        "GET",
        "/api/v1/namespaces/other/pods?limit=5&watch=0",
        "list /v1 other pods//",
    ),
    (
        "GET",
        "/api/v1/namespaces/other/pods/foo?watch=1",
        "get /v1 other pods/foo/",
    ),
    (
        "PUT",
        "/api/v1/namespaces/other/finalize",
        "update /v1 other namespaces/other/finalize",
    ),
    (
        "PUT",
        "/api/v1/namespaces/other/status",
        "update /v1 other namespaces/other/status",
    ),
    (
        "PUT",
        "/api/v1/namespaces/other/pods/foo",
        "update /v1 other pods/foo/",
    ),
    (
        "PATCH",
        "/api/v1/namespaces/other/pods/foo",
        "patch /v1 other pods/foo/",
    ),
    (
        "DELETE",
        "/api/v1/namespaces/other/pods/foo",
        "delete /v1 other pods/foo/",
    ),
    (
        "DELETE",
        "/api/v1/namespaces/other/pods",
        "deletecollection /v1 other pods//",
    ),
    ("DELETE", "/api/v1/nodes", "deletecollection /v1  nodes//"),
    (
        "POST",
        "/api/v1/namespaces/other/pods",
        "create /v1 other pods//",
    ),
    (
        "POST",
        "/apis/apps/v1/namespaces/other/deployments/",
        "create apps/v1 other deployments//",
    ),
    (
        "POST",
        "/apis/apps/v1/namespaces/other/deployments/d/scale/x",
        "create apps/v1 other deployments/d/scale",
    ),
    ("OPTIONS", "/api/v1/pods", " /v1  pods//"),
    ("POST", "/api//pods", "create /  pods//"),
    ("GET", "/", "get non-resource"),
    ("GET", "/api", "get non-resource"),
    ("GET", "/api/v1", "get non-resource"),
    ("POST", "/apis/apps/v1", "post non-resource"),
    ("GET", "/healthz", "get non-resource"),
    ("POST", "/apiz/v1/pods/x/y", "post non-resource"),
];

#[test]
fn requests_are_read_by_the_rules_of_kubernetes() {
    for &(method, uri, expected) in CASES {
        assert_eq!(read(method, uri), expected, "{method} {uri}");
    }
}

#[test]
fn a_verb_with_nothing_to_apply_to_is_no_request() {
    assert_eq!(info("GET", "/api/v1/watch"), None);
    assert_eq!(info("POST", "/apis/apps/v1/proxy/"), None);
}

#[test]
fn a_write_does_not_become_a_watch_by_its_path() {
    assert_eq!(
        read("POST", "/api/v1/watch/namespaces/a/pods"),
        "create /v1 a pods//"
    );
    assert_eq!(
        read("DELETE", "/apis/apps/v1/watch/deployments"),
        "deletecollection apps/v1  deployments//"
    );
}

#[test]
fn an_encoded_path_is_read_as_what_it_stands_for() {
    assert_eq!(read("POST", "/%61pi/v1/%70ods"), "create /v1  pods//");
    assert_eq!(
        read("POST", "/api/v1/namespaces%2Fa%2Fpods"),
        "create /v1 a pods//"
    );
    assert_eq!(info("POST", "/api/v1/%zz"), None);
    assert_eq!(info("POST", "/api/v1/pods%"), None);
    assert_eq!(info("POST", "/api/v1/%ff"), None);
}
