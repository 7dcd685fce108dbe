//! Failures of migrations, in words.

use synod_model::{FailureClass, FailureReason, MigrationFailure};

/// A failure in words that fit.
pub(super) fn failure(class: FailureClass, text: &str) -> MigrationFailure {
    let shown: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(1_000)
        .collect();
    let reason = FailureReason::parse(&shown).or_else(|_| FailureReason::parse("it failed"));
    MigrationFailure {
        class,
        reason: reason.expect("a plain sentence is a reason"),
    }
}
