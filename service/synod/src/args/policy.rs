//! The arguments of `synod policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Say whether a policy can be used, and what it grants.
    ///
    /// With --identity, says what is granted to that caller. With --method, too, says whether it may call that method, and
    /// ends with 7 if not. What the call would name is given by the other flags; what is left out stands for everything.
    #[command(after_long_help = TEST_EXAMPLES)]
    Test(PolicyTestArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyTestArgs {
    /// The file; - reads standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Who calls: a SPIFFE id, cn:NAME, system:serviceaccount:NAMESPACE:NAME, or remote:USER.
    #[arg(long, value_name = "NAME")]
    pub(crate) identity: Option<String>,
    /// The pod that the token of the service account is bound to.
    #[arg(long, value_name = "NAME", requires = "identity")]
    pub(crate) pod: Option<String>,
    /// A group that a front proxy tells of a remote user: remote-group:NAME; several times for several.
    #[arg(long, value_name = "NAME", requires = "identity")]
    pub(crate) group: Vec<String>,
    /// The method that it calls, as in Objects/Update.
    #[arg(long, value_name = "METHOD", requires = "identity")]
    pub(crate) method: Option<String>,
    /// The member as which it acts.
    #[arg(long, value_name = "ID", requires = "method")]
    pub(crate) member: Option<String>,
    /// The holder, the candidate or the worker as which it acts.
    #[arg(long, value_name = "NAME", requires = "method")]
    pub(crate) holder: Option<String>,
    /// The collection that the call is about, as in widgets.example.io.
    #[arg(long, value_name = "NAME", requires = "method")]
    pub(crate) collection: Option<String>,
    /// The namespace that the call is about.
    #[arg(long, value_name = "NAME", requires = "method")]
    pub(crate) namespace: Option<String>,
    /// The lease that the call is about, as in team-a/lock.
    #[arg(long, value_name = "NAMESPACE/NAME", requires = "method", conflicts_with_all = ["collection", "namespace"])]
    pub(crate) lease: Option<String>,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  synod policy test /etc/synod/policy.toml
  synod policy test /etc/synod/policy.toml --identity spiffe://prod/api/server-1";

const TEST_EXAMPLES: &str = "\
Examples:
  synod policy test /etc/synod/policy.toml
  synod policy test /etc/synod/policy.toml --identity spiffe://prod/api/server-1
  synod policy test policy.toml --identity spiffe://prod/team-a --method Objects/Update \\
    --collection widgets.example.io --namespace team-a
  synod policy test policy.toml --identity spiffe://prod/api/server-1 --method Membership/Join --member server-2
  synod policy test policy.toml --identity system:serviceaccount:prod:api --pod api-0 \\
    --method Membership/Join --member api-0

A policy:
  [[grant]]
  who = \"spiffe://prod/api/*\"                   # `*` is one step of the path
  role = \"member\"                              # member, reader, operator, backup or admin
  name = \"*\"                                   # the member that it is: what `*` stands for
  names = [\"batch-*\"]                          # more names to hold leases and to work under

  [[grant]]
  who = \"spiffe://prod/team-a\"
  role = \"operator\"
  namespaces = [\"team-a\", \"team-a-*\"]        # left out: all, and what has none
  collections = [\"widgets.example.io\"]         # left out: all
  leases = [\"team-a/lock-*\"]                   # left out: all

  [tokens]                                     # tokens of service accounts count, too
  issuer = \"https://kubernetes.default.svc\"
  audiences = [\"synod\"]
  jwks_file = \"jwks.json\"                      # as `kubectl get --raw /openid/v1/jwks` prints it

  [[grant]]
  who = \"system:serviceaccount:prod:api\"
  role = \"member\"
  name = \"{pod}\"                               # the member with the name of its pod";
