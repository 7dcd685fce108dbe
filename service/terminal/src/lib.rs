//! What the programs of this project share at a terminal: exit codes, messages of failures, printing, a bar of progress and
//! signals. The HTTP client of the demo's processes is here, too.

pub mod escape;
pub mod exit;
pub mod failure;
pub mod http;
pub mod output;
pub mod progress;
pub mod signals;
