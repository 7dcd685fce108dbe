//! The comparison of resource versions in the text form of Kubernetes.

use std::cmp::Ordering;

use crate::Violation;

/// Compares two resource versions of one resource as Kubernetes does: as numbers of any length. Synod's are such
/// numbers.
///
/// # Errors
///
/// One that is no number, or zero, or begins with a zero.
pub fn compare_resource_versions(one: &str, other: &str) -> Result<Ordering, Violation> {
    for text in [one, other] {
        let is_number = text.bytes().all(|c| c.is_ascii_digit());
        if !is_number || text.is_empty() || text.starts_with('0') {
            let rule = format_args!("resource version is not well formed: {text}");
            return Err(Violation::invalid(text, rule));
        }
    }
    Ok(one.len().cmp(&other.len()).then_with(|| one.cmp(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_versions_are_compared_as_numbers_of_any_length() {
        assert_eq!(compare_resource_versions("99", "100"), Ok(Ordering::Less));
        assert_eq!(compare_resource_versions("7", "7"), Ok(Ordering::Equal));
        for bad in ["", "0", "07", "-7", "7 ", "x"] {
            assert!(compare_resource_versions(bad, "7").is_err(), "{bad:?}");
        }
    }
}
