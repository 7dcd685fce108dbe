//! The module `synod._synod`: what the Python package `synod` is built on. Programs import `synod`.
//!
//! It holds no rule and no retry: a method converts, calls the client once, and converts. Two things are its own:
//!
//! - A [`Call`](call::Call) is one thing that is asked for and not answered yet. It can be waited for by a thread, which
//!   lets go of the interpreter meanwhile, or by an event loop, and a wait that is given up leaves the call as it is.
//! - The [`runtime`] belongs to this process: a forked child gets one of its own, and it ends before the interpreter does.
//!
//! Threads of the runtime never enter the interpreter: what they have to say they leave in a slot, and ring a
//! [`Bell`](bell::Bell). So a program that computes for long in Python holds up no renewal.

mod bell;
mod call;
mod client;
mod failure;
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
    use crate::client::{Client, apiserver_id};
    #[pymodule_export]
    use crate::lock::{Election, Lock, Observer};
    #[pymodule_export]
    use crate::logs::{next_logs, set_log_level};
    #[pymodule_export]
    use crate::membership::{Door, Gate, Membership, Permit};
    #[pymodule_export]
    use crate::objects::{Creator, Objects, Updater};
    #[pymodule_export]
    use crate::runtime::{counts, shutdown};
    #[pymodule_export]
    use crate::watch::{Reflector, Watch};
    #[pymodule_export]
    use crate::worker::{Task, Work, Worker};
}
