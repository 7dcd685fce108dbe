//! Parses the answers of replicas.

use synod_model::Violations;
use synod_proto::wire::Wire;

use crate::Error;

/// A value of this crate that arrives as a message of the protocol, or as a part of one.
pub(crate) trait FromWire<P>: Sized {
    /// Parses the message; if that fails, returns every reason why.
    fn from_wire(pb: P) -> Result<Self, Violations>;
}

impl<P, T: Wire<P>> FromWire<P> for T {
    fn from_wire(pb: P) -> Result<Self, Violations> {
        T::of_wire(pb)
    }
}

/// Parses an answer.
///
/// # Errors
///
/// The answer breaks the protocol.
pub(crate) fn read<P, T: FromWire<P>>(pb: P) -> Result<T, Error> {
    T::from_wire(pb).map_err(|fault| Error::malformed(&fault))
}
