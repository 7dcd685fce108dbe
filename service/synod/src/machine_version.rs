//! The hidden variable by which tests of upgrades run the program as an older release.

use std::env;

use synod_client::Violation;

use crate::failure::Failure;

/// The variable with the newest machine version that the program is to know.
const VARIABLE: &str = "SYNOD_TEST_MACHINE_VERSION";

/// Limits the machine version of this process as the variable says, if it is set.
pub(crate) fn limit() -> Result<(), Failure> {
    if let Some(text) = env::var_os(VARIABLE) {
        synod_model::limit_machine_version(parse(&text.to_string_lossy())?);
    }
    Ok(())
}

fn parse(text: &str) -> Result<u32, Failure> {
    let newest = synod_model::MACHINE_VERSION;
    let number = text.parse().ok();
    number
        .filter(|number| (1..=newest).contains(number))
        .ok_or_else(|| {
            let rule = format!("must be a machine version from 1 to {newest}");
            let fault = Violation::invalid(text, rule).at(VARIABLE);
            Failure::invalid("the variable for tests cannot be used", fault.into())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_version_that_there_is_not_is_refused_by_the_name_of_the_variable() {
        assert_eq!(parse("1").ok(), Some(1));
        for text in ["", "0", "4294967296", "one", "99"] {
            let failure = parse(text).expect_err(text).to_string();
            assert!(failure.contains(VARIABLE), "{failure}");
            assert!(
                failure.contains("must be a machine version from 1 to"),
                "{failure}"
            );
        }
    }
}
