//! A service that does nothing: what the library for gRPC costs by itself, and so the ceiling of reads.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::process::Stdio;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use prost::Message;
use tokio::process::{Child, Command};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic_prost::ProstCodec;
use tower::Service;

use synod_tests::free_address;

/// The argument by which this program is the service in place of the judge.
pub(crate) const ARGUMENT: &str = "--empty-service";

/// The path of its only method.
pub(crate) const METHOD: &str = "/judge.Empty/Get";

/// The number of bytes in each answer.
const BYTES: usize = 256;

/// Names a key as a read does.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Question {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) key: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Answer {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) value: Bytes,
}

/// Three processes of the service, since the others have three.
pub(crate) struct Empty {
    children: Vec<Child>,
    addresses: Vec<SocketAddr>,
}

impl Empty {
    pub(crate) fn start() -> Self {
        let addresses: Vec<SocketAddr> = (0..3).map(|_| free_address()).collect();
        let program = std::env::current_exe().expect("this program is a file");
        let children = addresses.iter().map(|address| {
            Command::new(&program)
                .args([ARGUMENT, &address.to_string()])
                .stdin(Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .expect("this program can be started")
        });
        Self {
            children: children.collect(),
            addresses,
        }
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        let ids = self.children.iter().map(Child::id);
        ids.map(|id| id.expect("the service runs")).collect()
    }

    /// Kills the processes, and waits until they have ended.
    pub(crate) async fn stop(mut self) {
        for child in &mut self.children {
            child.kill().await.expect("a child can be killed");
        }
    }
}

/// Serves until the process is killed.
pub(crate) async fn serve(address: SocketAddr) {
    let value = Bytes::from_static(&[b'x'; BYTES]);
    Server::builder()
        .tcp_nodelay(true)
        .add_service(Served(value))
        .serve(address)
        .await
        .expect("the address is free");
}

#[derive(Clone)]
struct Served(Bytes);

impl NamedService for Served {
    const NAME: &'static str = "judge.Empty";
}

impl Service<http::Request<Body>> for Served {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = Self(self.0.clone());
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<Answer, Question>::default());
            Ok(grpc.unary(method, request).await)
        })
    }
}

impl UnaryService<Question> for Served {
    type Response = Answer;
    type Future = Ready<Result<tonic::Response<Answer>, tonic::Status>>;

    fn call(&mut self, _: tonic::Request<Question>) -> Self::Future {
        let value = self.0.clone();
        ready(Ok(tonic::Response::new(Answer { value })))
    }
}
