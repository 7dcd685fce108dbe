//! `synod hash`: the storage version hash of a kind, without a cluster.

use synod_model::{ApiVersion, Kind, StorageVersionHash, Violations};

use crate::args::HashArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Prints the hash.
///
/// # Errors
///
/// The group, the version or the kind breaks a rule; each fault is named by its argument.
pub(crate) fn run(args: &HashArgs) -> Result<Exit, Failure> {
    output::print(&format!("{}\n", hash(args)?))?;
    Ok(Exit::Ok)
}

fn hash(args: &HashArgs) -> Result<StorageVersionHash, Failure> {
    let mut violations = Violations::new();
    let version = if args.version.contains('/') {
        Err(synod_model::Violation::invalid(
            &args.version,
            "must be a version without its group, as in v1",
        ))
    } else {
        ApiVersion::parse(&args.version)
    };
    violations.parsed("VERSION", version);
    let group = match args.group.as_str() {
        "" | "core" => "",
        group => group,
    };
    if !group.is_empty()
        && let Err(rule) = synod_model::dns1123_subdomain(group)
    {
        violations.push(synod_model::Violation::invalid(group, rule).at("GROUP"));
    }
    violations.parsed("KIND", Kind::parse(&args.kind));
    if violations.is_empty() {
        Ok(StorageVersionHash::of(group, &args.version, &args.kind))
    } else {
        Err(Failure::invalid("there is no such kind", violations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(group: &str, version: &str, kind: &str) -> HashArgs {
        HashArgs {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    #[test]
    fn hashes_are_those_of_kubernetes() {
        for (group, version, kind, text) in [
            ("", "v1", "Pod", "xPOwRZ+Yhw8="),
            ("core", "v1", "Pod", "xPOwRZ+Yhw8="),
            ("apps", "v1", "Deployment", "8aSe+NMegvE="),
        ] {
            assert_eq!(hash(&args(group, version, kind)).unwrap().to_string(), text);
        }
    }

    #[test]
    fn every_part_that_breaks_a_rule_is_named() {
        let text = hash(&args("Apps", "apps/v1", "my-kind"))
            .unwrap_err()
            .to_string();
        for part in ["  VERSION: ", "  GROUP: ", "  KIND: "] {
            assert!(text.contains(part), "{text}");
        }
    }
}
