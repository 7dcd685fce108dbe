//! Requests that are nearly in order.

use super::super::http::Nature;
use super::corpus::{Corpus, Other, PROTOBUF, Place};
use super::dice::Dice;
use super::learned::Learned;
use super::{bodies, damage, wire};

/// A request as it is sent.
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) nature: Nature,
    /// Whether it is none of HTTP: then it may be refused without a word of Kubernetes.
    pub(super) is_broken: bool,
}

/// A request while it is put together.
pub(super) struct Draft {
    method: &'static str,
    path: String,
    /// The name in the path, if there is one.
    pub(super) name: Option<String>,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

/// Forms of answers.
const ACCEPTED: &[&str] = &[
    "*/*",
    "application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
    "application/vnd.kubernetes.protobuf,application/json",
    "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/json;q=0",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
    "application/vnd.kubernetes.protobuf;stream=watch,application/json",
    "application/yaml",
    "text/html, ;;=,,application/json;as=;v",
];

/// How many of them, at the beginning, clients send.
const COMMON: usize = 4;

/// What selectors are made of.
const OF_SELECTORS: &[&str] = &[
    "a",
    "size",
    "app.kubernetes.io/name",
    "metadata.name",
    "metadata.namespace",
    "spec.size",
    "involvedObject.kind",
    "reason",
    "type",
    "in",
    "notin",
    "exists",
    "(",
    ")",
    ",",
    ",,",
    "=",
    "==",
    "!=",
    "!",
    "<",
    ">",
    " ",
    "1",
    "2",
    "n",
    "'",
    "\\",
    "/",
    "é",
    "\u{0}",
    "a/b/c",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

/// Selectors that are in order.
const LABELS: &[&str] = &[
    "size=1",
    "size in (1,2),!b",
    "a!=b",
    "app.kubernetes.io/name notin (a, b)",
    "size>0",
    "a",
];
const FIELDS: &[&str] = &[
    "metadata.name=a",
    "metadata.name!=a,metadata.namespace=n",
    "involvedObject.name=a",
    "",
];

/// The parameters that are known, and some that none is.
const PARAMETERS: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "dryRun",
    "fieldManager",
    "fieldSelector",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "includeObject",
    "labelSelector",
    "limit",
    "orphanDependents",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeout",
    "timeoutSeconds",
    "watch",
    "",
];

/// The values that parameters have.
pub(super) const VALUES: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "2",
    "500",
    "501",
    "99999999999999999999",
    "true",
    "false",
    "t",
    "True",
    "All",
    "None",
    "Exact",
    "NotOlderThan",
    "Strict",
    "Warn",
    "Ignore",
    "Metadata",
    "Object",
    "Orphan",
    "Background",
    "Foreground",
    "one",
    "1s",
    "é",
    "\u{0}",
    "a b&c=d",
    "%",
];

/// The next request.
pub(super) fn next(dice: &mut Dice, corpus: &Corpus, learned: &Learned) -> Request {
    let mut draft = match dice.below(10) {
        0 => other(dice, corpus),
        _ => {
            let place = place(dice, corpus);
            of_objects(dice, place, learned)
        }
    };
    if dice.one_in(2) {
        // Odd ones are refused before anything else is looked at.
        let accepted = match dice.one_in(6) {
            true => dice.pick(ACCEPTED),
            false => dice.pick(&ACCEPTED[..COMMON]),
        };
        draft.headers.push(("accept", (*accepted).to_owned()));
    }
    if dice.one_in(8) {
        draft.headers.push(odd_header(dice));
    }
    while dice.one_in(12) {
        let parameter = parameter(dice, learned);
        draft.query.push(parameter);
    }
    if dice.one_in(60) {
        draft.method = *dice.pick(&[
            "HEAD", "OPTIONS", "TRACE", "PUT", "POST", "PATCH", "DELETE", "LOCK", "get",
        ]);
    }
    let path = match dice.one_in(8) {
        true => bent(dice, &draft.path),
        false => draft.path.clone(),
    };
    written(dice, draft, &path)
}

fn place<'a>(dice: &mut Dice, corpus: &'a Corpus) -> &'a Place {
    // Objects of collections can be asked for most.
    match dice.below(3) {
        0 => &corpus.places[1],
        _ => dice.pick(&corpus.places),
    }
}

/// A request for what is told of no objects.
fn other(dice: &mut Dice, corpus: &Corpus) -> Draft {
    let Other {
        path,
        document,
        message,
    } = dice.pick(&corpus.others);
    let mut draft = Draft {
        method: if document.is_null() { "GET" } else { "POST" },
        path: (*path).to_owned(),
        name: None,
        query: Vec::new(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    match message {
        Some(message) if dice.one_in(3) => {
            draft.body = wire::message(dice, message);
            draft.headers.push(("content-type", PROTOBUF.to_owned()));
        }
        _ if document.is_null() => {}
        _ => {
            let mut document = document.clone();
            damage::document(dice, &mut document);
            draft.body = bodies::text_of_json(dice, &document);
        }
    }
    draft
}

/// A request for objects.
fn of_objects(dice: &mut Dice, place: &Place, learned: &Learned) -> Draft {
    let mut draft = Draft {
        method: "GET",
        path: place.path.to_owned(),
        name: None,
        query: Vec::new(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    let is_read_only = place.document["kind"].is_null();
    let verb = match is_read_only && !dice.one_in(8) {
        // Lists, watches and reads.
        true => *dice.pick(&[0, 1, 2, 5]),
        false => dice.below(16),
    };
    let names_one = !matches!(verb, 0..=4);
    if names_one {
        let name = match dice.one_in(6) {
            true => Learned::of(dice, &learned.names),
            false => (*dice.pick(place.names)).to_owned(),
        };
        draft.path = format!("{}/{}", place.path, encoded(&name));
        draft.name = Some(name);
        if (place.has_status && dice.one_in(3)) || dice.one_in(30) {
            draft.path.push_str("/status");
        }
    } else if dice.one_in(4) {
        draft.path = place.everywhere.to_owned();
    }
    match verb {
        0 | 1 | 5 => selecting(dice, &mut draft, learned),
        2 => {
            draft.query.push(("watch".to_owned(), "1".to_owned()));
            draft
                .query
                .push(("timeoutSeconds".to_owned(), "1".to_owned()));
            selecting(dice, &mut draft, learned);
        }
        3 if dice.one_in(8) => {
            draft.method = "DELETE";
            selecting(dice, &mut draft, learned);
            bodies::options(dice, &mut draft, learned);
        }
        3 | 4 => {
            draft.method = "POST";
            bodies::document(dice, &mut draft, place, learned);
        }
        6 | 7 => {
            draft.method = "DELETE";
            bodies::options(dice, &mut draft, learned);
        }
        8..=10 => {
            draft.method = "PUT";
            bodies::document(dice, &mut draft, place, learned);
        }
        _ => {
            draft.method = "PATCH";
            bodies::patch(dice, &mut draft, place, learned);
        }
    }
    draft
}

/// Parameters of a list or a watch.
fn selecting(dice: &mut Dice, draft: &mut Draft, learned: &Learned) {
    let selector = |dice: &mut Dice, right: &[&str]| {
        if dice.one_in(2) {
            return (*dice.pick(right)).to_owned();
        }
        let pieces = (0..dice.below(12)).map(|_| *dice.pick(OF_SELECTORS));
        pieces.collect::<String>()
    };
    if dice.one_in(2) {
        draft
            .query
            .push(("labelSelector".to_owned(), selector(dice, LABELS)));
    }
    if dice.one_in(3) {
        draft
            .query
            .push(("fieldSelector".to_owned(), selector(dice, FIELDS)));
    }
    if dice.one_in(3) {
        draft
            .query
            .push(("limit".to_owned(), dice.below(4).to_string()));
    }
    if dice.one_in(4) {
        let mut token = Learned::of(dice, &learned.tokens);
        if dice.one_in(2) {
            let mut bytes = token.into_bytes();
            damage::bytes(dice, &mut bytes, &[b"now.", b"=", b"AAAA", b"."]);
            token = String::from_utf8_lossy(&bytes).into_owned();
        }
        draft.query.push(("continue".to_owned(), token));
    }
    if dice.one_in(4) {
        draft.query.push((
            "resourceVersion".to_owned(),
            Learned::of(dice, &learned.revisions),
        ));
    }
    if dice.one_in(6) {
        let exact = (*dice.pick(&["Exact", "NotOlderThan", ""])).to_owned();
        draft.query.push(("resourceVersionMatch".to_owned(), exact));
    }
    if dice.one_in(8) {
        draft
            .query
            .push(("sendInitialEvents".to_owned(), "true".to_owned()));
        draft
            .query
            .push(("allowWatchBookmarks".to_owned(), "true".to_owned()));
    }
}

fn parameter(dice: &mut Dice, learned: &Learned) -> (String, String) {
    let name = (*dice.pick(PARAMETERS)).to_owned();
    let value = match dice.below(4) {
        0 => Learned::of(dice, &learned.revisions),
        1 => damage::word(dice).to_owned(),
        _ => (*dice.pick(VALUES)).to_owned(),
    };
    (name, value)
}

fn odd_header(dice: &mut Dice) -> (&'static str, String) {
    let own = |text: &str| text.to_owned();
    match dice.below(12) {
        0 => ("content-type", own("application/json; charset=utf-16;;")),
        1 => ("content-type", own("multipart/form-data")),
        2 => ("accept-encoding", own("gzip, br;q=0, *;q=nothing")),
        3 => ("if-none-match", own("\"x\", W/\"y\"")),
        4 => ("content-encoding", own("gzip")),
        5 => ("authorization", own("Bearer x.y.z")),
        6 => ("authorization", own("Basic Og==")),
        7 => ("impersonate-user", own("admin")),
        8 => ("x-remote-group", own("system:masters")),
        9 => ("traceparent", own("00-0-0-zz")),
        10 => ("x-request-id", "x".repeat(dice.below(300))),
        _ => ("user-agent", "y".repeat(dice.below(3_000))),
    }
}

/// A path of which a part is written in an odd way.
fn bent(dice: &mut Dice, path: &str) -> String {
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    let place = dice.below(parts.len());
    let part = &mut parts[place];
    match dice.below(14) {
        0 => *part = part.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        1 => part.push_str("%00"),
        2 => part.push_str("%2F"),
        3 => part.push_str("%2e%2e"),
        4 => *part = "..".to_owned(),
        5 => *part = ".".to_owned(),
        6 => part.clear(),
        7 => part.push_str(";a=b"),
        8 => part.push_str("%zz"),
        9 => part.push('%'),
        10 => part.push_str("%ff%fe"),
        11 => *part = encoded(damage::word(dice)),
        12 => *part = "x".repeat(dice.below(5_000)),
        _ => parts.push(String::new()),
    }
    parts.join("/")
}

/// A text as it is written in a path or a query.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => out.push(byte.into()),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The bytes of a request, in which the length is that of the body.
fn written(dice: &mut Dice, draft: Draft, path: &str) -> Request {
    let Draft {
        method,
        query,
        headers,
        mut body,
        ..
    } = draft;
    let may_watch = method == "GET" && query.iter().any(|(name, _)| name == "watch");
    let query = query.iter().map(|(name, value)| {
        // Not all that is no letter has to be escaped.
        format!("{}={}", encoded(name), encoded(value))
    });
    let query = query.collect::<Vec<_>>().join("&");
    let path = if path.is_empty() { "/" } else { path };
    let target = match query.as_str() {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    };
    let mut bytes = format!("{method} {target} HTTP/1.1\r\nhost: synod\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    if dice.one_in(10) && !body.is_empty() {
        let rest = body.split_off(dice.below(body.len()));
        bytes.extend(b"transfer-encoding: chunked\r\n\r\n");
        for chunk in [body, rest].into_iter().filter(|chunk| !chunk.is_empty()) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            bytes.extend(chunk);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
    } else {
        bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).into_bytes());
        bytes.extend(body);
    }
    Request {
        is_broken: !is_of_http(method, &target),
        bytes,
        nature: Nature {
            is_of_head: method == "HEAD",
            may_watch,
        },
    }
}

/// Whether the first line is one of HTTP.
fn is_of_http(method: &str, target: &str) -> bool {
    let is_escaped = !target.contains('%')
        || target.split('%').skip(1).all(|rest| {
            rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit())
        });
    target.starts_with('/') && is_escaped && method != "get"
}
