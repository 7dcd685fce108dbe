//! The Node client of Synod, as a native library that Node loads.
//!
//! A function converts its arguments, calls `synod-bound` once, and converts the answer, without rules and retries.
//! Programs use the TypeScript under `ts/`, which exchanges documents in protobuf's JSON form with this.
//!
//! - [`environment`]: ends calls with their JavaScript thread. [`call_token`]: what goes with a call beside its arguments.
//!   `calls`: turns a call into a promise.
//! - `handle`: the handle and the forwarding that the classes have in common.
//! - The other modules: classes around what `synod-bound` has under the same names.

pub mod call_token;
mod calls;
pub mod client;
pub mod environment;
pub mod fence;
pub mod gate;
mod handle;
pub mod lock;
pub mod membership;
pub mod migrator;
pub mod objects;
pub mod reflector;
pub mod watch;
