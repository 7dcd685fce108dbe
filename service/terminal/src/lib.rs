//! What programs of this project do at a terminal: how they end, how they tell a failure, what they print and which
//! signals end them. It has the HTTP client, too, of those that look at API servers.

pub mod escape;
pub mod exit;
pub mod failure;
pub mod http;
pub mod output;
pub mod signals;
