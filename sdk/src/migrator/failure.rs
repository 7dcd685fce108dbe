//! Failures of migrations, as texts.

use synod_model::{FailureClass, FailureReason, MigrationFailure};

/// A failure whose text is cleaned and cut so that it is a legal reason.
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
