//! The native module `synod._synod`, on which the Python package `synod` is built. Programs import `synod`.
//!
//! A method converts, calls the client once, and converts the answer; it has no rules or retries. It adds two things:
//!
//! - A [`Call`](call::Call) is one request that is not answered yet. A thread can wait for it, which releases the
//!   interpreter meanwhile, or an event loop. A wait that is cancelled leaves the call as it is.
//! - The [`runtime`] belongs to this process: a forked child gets its own, and it ends before the interpreter does.
//!
//! Threads of the runtime never enter the interpreter: they leave an answer in a slot, and signal a
//! [`Bell`](bell::Bell). So a program that computes for long in Python delays no renewal.

mod bell;
mod call;
mod caller;
mod client;
mod failure;
mod handle;
mod lock;
mod logs;
mod membership;
mod objects;
mod runtime;
mod span;
mod watch;
mod worker;

use pyo3::prelude::*;

/// What the Python package `synod` is built on; not for programs.
#[pymodule(gil_used = true)]
mod _synod {
    #[pymodule_export]
    use crate::bell::Bell;
    #[pymodule_export]
    use crate::call::Call;
    #[pymodule_export]
    use crate::client::{Client, apiserver_id, topic, topic_of};
    #[pymodule_export]
    use crate::lock::{Election, Lock, Observer};
    #[pymodule_export]
    use crate::logs::{next_logs, set_log_level};
    #[pymodule_export]
    use crate::membership::{Door, FenceGuard, Gate, Membership, Permit};
    #[pymodule_export]
    use crate::objects::{Creator, Objects, Updater};
    #[pymodule_export]
    use crate::runtime::{counts, shutdown};
    #[pymodule_export]
    use crate::watch::{ObjectReflector, Reflector, Watch};
    #[pymodule_export]
    use crate::worker::{Task, Work, Worker};
}
