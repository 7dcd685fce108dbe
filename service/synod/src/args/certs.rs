//! The arguments of `synod certs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Args)]
pub(crate) struct CertsArgs {
    #[command(subcommand)]
    pub(crate) command: CertsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CertsCommand {
    /// Make CAs and certificates to try transport security out with.
    ///
    /// The keys of the CAs lie in the same folder, so whoever can read it can pass for everybody: have your own CA make
    /// the certificates of a cluster that matters.
    #[command(after_long_help = examples::CERTS_DEV)]
    Dev(CertsDevArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CertsDevArgs {
    /// The folder to write to. CAs that are there already sign what is new.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The host names and IP addresses of the replicas, separated by commas.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "localhost,127.0.0.1,::1",
        value_name = "LIST"
    )]
    pub(crate) hosts: Vec<String>,
    /// The members that get a certificate of their own, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    pub(crate) members: Vec<String>,
    /// For how many days the certificates are valid. CAs are valid for ten years.
    #[arg(long, default_value_t = 365, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) days: u32,
    /// Make the certificates anew that are there already. Without this, they stay.
    #[arg(long)]
    pub(crate) renew: bool,
}
