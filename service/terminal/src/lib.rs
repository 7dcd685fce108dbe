//! What the programs of this project share at a terminal: exit codes, messages of failures, printing and signals. The
//! HTTP client with which programs call API servers is here, too.

pub mod escape;
pub mod exit;
pub mod failure;
pub mod http;
pub mod output;
pub mod signals;
