//! Generates the gRPC client and server of the protocol between replicas, with messages in our own stored form.

use tonic_build::manual::{Builder, Method, Service};

/// The calls: name, request and response. `stream` before a message means a stream of such messages.
const CALLS: [(&str, &str, &str); 10] = [
    ("Hello", "HelloRequest", "HelloResponse"),
    ("Vote", "VoteRequest", "VoteResponse"),
    ("PreVote", "VoteRequest", "VoteResponse"),
    ("Append", "stream AppendRequest", "stream AppendResponse"),
    (
        "InstallCheckpoint",
        "stream CheckpointPart",
        "CheckpointResponse",
    ),
    ("TransferLeader", "TransferRequest", "TransferResponse"),
    ("ReadIndex", "ReadIndexRequest", "ReadIndexResponse"),
    ("Forward", "stream ForwardRequest", "stream ForwardResponse"),
    ("Digest", "DigestRequest", "DigestResponse"),
    ("ChangeSet", "SetRequest", "SetResponse"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut service = Service::builder()
        .name("Peer")
        .package("synod.peer.v1")
        .comment("What replicas ask each other.");
    for (name, request, response) in CALLS {
        service = service.method(method(name, request, response));
    }
    Builder::new().compile(&[service.build()]);
}

fn method(name: &str, request: &str, response: &str) -> Method {
    let message = |of: &str| {
        let name = of.strip_prefix("stream ").unwrap_or(of);
        format!("crate::peer::messages::{name}")
    };
    let method = Method::builder()
        .name(snake_case(name))
        .route_name(name)
        .input_type(message(request))
        .output_type(message(response))
        .codec_path("crate::peer::codec::StoredCodec");
    let method = if request.starts_with("stream ") {
        method.client_streaming()
    } else {
        method
    };
    if response.starts_with("stream ") {
        method.server_streaming().build()
    } else {
        method.build()
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
