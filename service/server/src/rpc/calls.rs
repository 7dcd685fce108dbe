//! A macro that implements a gRPC service by a list of its calls.

use synod_machine::Command;
use synod_model::{Refusal, Violations};
use synod_proto::Change;

use super::typed;
use crate::handle::{Asking, Done, Handle};

/// Implements a service of calls with one request and one answer. The service's handle is its field `0`, or the one
/// that is named. Other calls follow in braces, written out. A call is executed by one of these:
///
/// | row | executed by |
/// |---|---|
/// | `get: Request => Response` | the function of its name, which gets the handle, the context and the message |
/// | `get = reads::get: Request => Response` | this function, in the same way |
/// | `leave: Request => Response by Leave` | this command; the answer has only a header |
/// | `ready: Request => Response by MarkReady, changed` | this command; the answer also has `changed` |
/// | `delete: Request => Response by DeleteRoster or dry_run` | this command, or a dry run if the message says so |
macro_rules! service {
    (impl $service:ident for $of:ident { $($calls:tt)* } $($others:tt)?) => {
        $crate::rpc::calls::service! { impl $service for $of.0 { $($calls)* } $($others)? }
    };
    (
        impl $service:ident for $of:ident.$handle:tt {
            $($method:ident $(= $call:path)?: $request:ident => $response:ident
                $(by $command:ident $(or $dry_run:ident)? $(, $changed:ident)?)?;)*
        }
        $({ $($others:tt)* })?
    ) => {
        #[tonic::async_trait]
        impl $service for $of {
            $(async fn $method(
                &self,
                request: tonic::Request<v1::$request>,
            ) -> Result<tonic::Response<v1::$response>, tonic::Status> {
                let (asking, message) = $crate::rpc::opened(request);
                let handle = &self.$handle;
                let answer = $crate::rpc::calls::service!(
                    @answer (handle, &asking, message) $response, $method
                    $(= $call)? $(by $command $(or $dry_run)? $(, $changed)?)?
                );
                $crate::rpc::answer(handle, answer)
            })*
            $($($others)*)?
        }
    };
    (@answer $asked:tt $response:ident, $method:ident) => {
        $method $asked.await
    };
    (@answer $asked:tt $response:ident, $method:ident = $call:path) => {
        $call $asked.await
    };
    (
        @answer ($handle:ident, $asking:expr, $message:ident) $response:ident, $method:ident
        by $command:ident $(or $dry_run:ident)? $(, $changed:ident)?
    ) => {{
        let command = synod_machine::Command::$command;
        let done = $crate::rpc::calls::service!(
            @done ($handle, $asking, $message, command) $($dry_run)?
        );
        done.await.map(|done| v1::$response {
            header: Some($handle.header(done.revision)),
            $($changed: done.$changed,)?
        })
    }};
    (@done ($handle:ident, $asking:expr, $message:ident, $command:ident)) => {
        $crate::rpc::calls::change($handle, $asking, $message, $command)
    };
    (@done ($handle:ident, $asking:expr, $message:ident, $command:ident) $dry_run:ident) => {
        $crate::rpc::calls::change_or_try($handle, $asking, $message.$dry_run, $message, $command)
    };
}

pub(super) use service;

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
