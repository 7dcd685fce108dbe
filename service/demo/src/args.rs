//! The arguments of `synod demo`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How to run the demo.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Plant a violation that the check at the end must find.
    #[arg(long = "break", value_enum, value_name = "VIOLATION")]
    pub(crate) violation: Option<Violation>,
    /// Keep the data and the recordings here, and do not delete them.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Print plain lines also on a terminal.
    #[arg(long)]
    pub(crate) plain: bool,
}

/// What can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Violation {
    /// One API server writes the new version before it was selected.
    EncodeEarly,
}
