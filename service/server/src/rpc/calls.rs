//! The calls with one request and one answer: each is read, carried out and answered here, whichever way it came in.

use bytes::{BufMut, Bytes, BytesMut};
use futures::future::BoxFuture;
use prost::Message;
use synod_machine::Command;
use synod_model::{Refusal, Violations};
use synod_proto::Change;
use synod_proto::status::to_status;
use tonic::Status;

use super::typed;
use crate::handle::{Asking, Done, Handle};

/// Carries out one call: the encoded request in, the encoded answer out.
pub(super) type Handler = fn(Handle, Asking, Bytes) -> BoxFuture<'static, Result<Encoded, Status>>;

/// The calls of a service by the names of their functions.
pub(super) type Calls = &'static [(&'static str, Handler)];

/// An encoded answer, with the head that a gRPC message has.
#[derive(Debug)]
pub(super) struct Encoded(Bytes);

/// The length of a message's head: that it is not compressed, and its length.
pub(super) const HEAD_BYTES: usize = 5;

/// Lists the calls of a service, as `CALLS`. A call is executed by one of these:
///
/// | row | executed by |
/// |---|---|
/// | `get: Request => Response` | the function of its name, which gets the handle, the context and the message |
/// | `get = reads::get: Request => Response` | this function, in the same way |
/// | `leave: Request => Response by Leave` | this command; the answer has only a header |
/// | `ready: Request => Response by MarkReady, changed` | this command; the answer also has `changed` |
/// | `delete: Request => Response by DeleteRoster or dry_run` | this command, or a dry run if the message says so |
///
/// Before, it is checked that the caller may call it with this message, and noted for the audit log. A row that begins with
/// `[checks]` does so itself.
macro_rules! calls {
    ($($([$checks:ident])? $method:ident $(= $call:path)?: $request:ident => $response:ident
        $(by $command:ident $(or $dry_run:ident)? $(, $changed:ident)?)?;)*) => {
        pub(super) const CALLS: $crate::rpc::calls::Calls = &[$((
            stringify!($method),
            |handle, asking, message| Box::pin(async move {
                let (handle, asking) = (&handle, &asking);
                let message: synod_proto::v1::$request = synod_proto::codec::decode(message)?;
                let noted = $crate::rpc::calls::calls!(@check $($checks)? asking, message);
                let answer: Result<synod_proto::v1::$response, synod_model::Refusal> =
                    $crate::rpc::calls::calls!(
                        @answer (handle, asking, message) $response, $method
                        $(= $call)? $(by $command $(or $dry_run)? $(, $changed)?)?
                    );
                asking.left(noted, &answer);
                $crate::rpc::calls::encoded(handle, answer)
            }),
        ),)*];
    };
    (@check $asking:ident, $message:ident) => {
        $asking.enter(&$message).map_err(synod_proto::status::to_status)?
    };
    // The function checks it, since its answer carries the refusal.
    (@check checks $asking:ident, $message:ident) => { None::<$crate::audit::Noted> };
    (@answer $asked:tt $response:ident, $method:ident) => {
        $method $asked.await
    };
    (@answer $asked:tt $response:ident, $method:ident = $call:path) => {
        $call $asked.await
    };
    (
        @answer ($handle:ident, $asking:ident, $message:ident) $response:ident, $method:ident
        by $command:ident $(or $dry_run:ident)? $(, $changed:ident)?
    ) => {{
        let command = synod_machine::Command::$command;
        let done = $crate::rpc::calls::calls!(
            @done ($handle, $asking, $message, command) $($dry_run)?
        );
        done.await.map(|done| synod_proto::v1::$response {
            header: Some($handle.header(done.revision)),
            $($changed: done.$changed,)?
        })
    }};
    (@done ($handle:ident, $asking:ident, $message:ident, $command:ident)) => {
        $crate::rpc::calls::change($handle, $asking, $message, $command)
    };
    (@done ($handle:ident, $asking:ident, $message:ident, $command:ident) $dry_run:ident) => {
        $crate::rpc::calls::change_or_try($handle, $asking, $message.$dry_run, $message, $command)
    };
}

pub(super) use calls;

/// The answer to a call, encoded, or its status.
pub(super) fn encoded<A: Message>(
    handle: &Handle,
    answer: Result<A, Refusal>,
) -> Result<Encoded, Status> {
    match answer {
        Ok(answer) => Ok(Encoded::of(&answer)),
        Err(refusal) => Err(to_status(handle.with_hint(refusal))),
    }
}

/// Executes the command that a message asks for.
pub(super) async fn change<M, T>(
    handle: &Handle,
    asking: &Asking,
    message: M,
    command: impl FnOnce(T) -> Command,
) -> Result<Done, Refusal>
where
    Change<T>: TryFrom<M, Error = Violations>,
{
    handle.change(asking, typed(message)?, command).await
}

/// Executes the command that a message asks for, or tries it in a dry run.
pub(super) async fn change_or_try<M, T>(
    handle: &Handle,
    asking: &Asking,
    dry_run: bool,
    message: M,
    command: impl FnOnce(T) -> Command,
) -> Result<Done, Refusal>
where
    Change<T>: TryFrom<M, Error = Violations>,
{
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, command)
        .await?;
    Ok(carried.done)
}

impl Encoded {
    /// The encoded form of an answer.
    pub(super) fn of<A: Message>(answer: &A) -> Self {
        let length = answer.encoded_len();
        let mut bytes = BytesMut::with_capacity(HEAD_BYTES + length);
        bytes.put_slice(&head(length));
        answer.encode_raw(&mut bytes);
        Self(bytes.freeze())
    }

    /// The answer with its head.
    pub(super) fn framed(self) -> Bytes {
        self.0
    }

    /// The answer without its head.
    pub(super) fn message(&self) -> &[u8] {
        &self.0[HEAD_BYTES..]
    }
}

/// The head of a message of this length.
pub(super) fn head(length: usize) -> [u8; HEAD_BYTES] {
    let [a, b, c, d] = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    [0, a, b, c, d]
}
