//! The arguments of `synod config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the file.
    ///
    /// It has paths of keys, and no keys: what may be a secret all the same is shown as `***`.
    #[command(after_long_help = VIEW)]
    View(ConfigQueryArgs),
    /// Show the contexts, and which of them is used if none is asked for.
    #[command(after_long_help = GET_CONTEXTS)]
    GetContexts(ConfigQueryArgs),
    /// Print the context that is used if none is asked for.
    #[command(after_long_help = CURRENT_CONTEXT)]
    CurrentContext(ConfigQueryArgs),
    /// Use a context from now on if none is asked for.
    #[command(after_long_help = USE_CONTEXT)]
    UseContext {
        /// The context.
        name: String,
        #[command(flatten)]
        file: ConfigFileArgs,
    },
    /// Make a context, or change what is given of it.
    ///
    /// The first context of a file is the one that is used.
    #[command(after_long_help = SET_CONTEXT)]
    SetContext(SetContextArgs),
    /// Take a context out of the file.
    ///
    /// If it was the one that is used, none is afterwards.
    #[command(after_long_help = DELETE_CONTEXT)]
    DeleteContext {
        /// The context.
        name: String,
        #[command(flatten)]
        file: ConfigFileArgs,
    },
}

/// Which file it is about.
#[derive(Debug, Args)]
pub(crate) struct ConfigFileArgs {
    /// The TOML file [default: synod/config.toml below XDG_CONFIG_HOME, else below ~/.config].
    #[arg(
        long,
        env = "SYNOD_CONFIG",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) config: Option<PathBuf>,
}

/// Which file it is about, and in which form to print.
#[derive(Debug, Args)]
pub(crate) struct ConfigQueryArgs {
    #[command(flatten)]
    pub(crate) file: ConfigFileArgs,
    /// In which form to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) output: Format,
}

/// A context. What the environment says does not go into it.
#[derive(Debug, Args)]
pub(crate) struct SetContextArgs {
    /// The context.
    pub(crate) name: String,
    /// Where replicas serve clients, separated by commas.
    #[arg(long, value_name = "LIST")]
    pub(crate) endpoints: Option<String>,
    /// The CA bundle that the replicas' certificates must be signed by.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<String>,
    /// The certificate that is shown to the replicas.
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Option<String>,
    /// The private key of the certificate.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<String>,
    /// The token of a Kubernetes service account, in place of a certificate.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<String>,
    /// The name that the replicas' certificates must be for.
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,
    /// How long a request may take, over all tries.
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
    #[command(flatten)]
    pub(crate) file: ConfigFileArgs,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  synod config set-context prod --endpoints https://10.0.0.1:4600,https://10.0.0.2:4600 --cacert server-ca.pem
  synod config use-context prod
  synod --context prod status

A file with contexts:
  current_context = \"prod\"

  [contexts.prod]
  endpoints = [\"https://10.0.0.1:4600\", \"https://10.0.0.2:4600\", \"https://10.0.0.3:4600\"]
  cacert = \"/etc/synod/prod/server-ca.pem\"
  cert = \"/etc/synod/prod/admin.pem\"
  key = \"/etc/synod/prod/admin-key.pem\"

A context may have endpoints, cacert, cert, key, token_file, tls_server_name and timeout. Flags and the environment go before it, and it
goes before what stands above all contexts.";

const DELETE_CONTEXT: &str = "\
Examples:
  synod config delete-context test";

const VIEW: &str = "\
Examples:
  synod config view
  synod config view -o json | jq .contexts.prod";

const GET_CONTEXTS: &str = "\
Examples:
  synod config get-contexts
  synod config get-contexts -o name";

const CURRENT_CONTEXT: &str = "\
Examples:
  synod config current-context";

const USE_CONTEXT: &str = "\
Examples:
  synod config use-context prod";

const SET_CONTEXT: &str = "\
Examples:
  synod config set-context prod --endpoints https://10.0.0.1:4600,https://10.0.0.2:4600 --cacert server-ca.pem
  synod config set-context prod --cert admin.pem --key admin-key.pem
  synod config set-context prod --timeout 3s

Paths are stored as absolute ones.";
