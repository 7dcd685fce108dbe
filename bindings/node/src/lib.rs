//! The Node client of Synod, as a library that Node loads.
//!
//! What JavaScript calls is converted, handed to `synod-bound` once, and converted back; no rule and no retry is here. The
//! faces that a program sees are the TypeScript under `ts/`, and what crosses to them are documents in protobuf's JSON form.
//!
//! - [`environment`]: what ends with a thread of JavaScript. [`cancel`]: how a call is given up. `calls`: how one becomes a
//!   promise.
//! - The others: what each is called after in `synod-bound`, as classes.

mod calls;
pub mod cancel;
pub mod client;
pub mod environment;
pub mod gate;
pub mod lock;
pub mod membership;
pub mod migrator;
pub mod objects;
pub mod reflector;
pub mod watch;
