//! `synod doctor`: looks at everything that the way to a cluster and the cluster itself depend on, and says what is wrong.
//!
//! Looking and judging are apart: [`gather`] notes what it found, failures as well as answers, and [`judge`] is a function of
//! that.

pub(super) mod found;
pub(super) mod gather;
pub(super) mod judge;

use clap::ArgMatches;

use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::settings::ClientSettings;
use crate::views;
pub(crate) use judge::{Finding, Verdict};

/// Looks, judges and prints. Whatever cannot be reached is a finding, so it fails only over the settings.
pub(crate) async fn run(args: &DoctorArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let settings = ClientSettings::load(&args.query.client, matches)?;
    let findings = judge::judge(&gather::gather(&settings).await);
    output::print(&views::findings(&findings).render(args.query.output))?;
    Ok(exit(&findings))
}

/// One fault is enough.
fn exit(findings: &[Finding]) -> Exit {
    if findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Fault)
    {
        Exit::Disagree
    } else {
        Exit::Ok
    }
}
