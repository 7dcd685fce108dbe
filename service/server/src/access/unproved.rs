//! What is answered to who has not proved who it is.

use synod_model::{ErrorKind, Refusal};

pub(super) fn unauthenticated(why: &str) -> Refusal {
    Refusal::new(ErrorKind::Unauthenticated, why)
}
