//! Why a write may not pass the gate, as values and as messages.

use synod_model::{Epoch, ErrorKind};

use super::grant::Grant;
use crate::{Ended, Error};

/// What keeps a write from getting a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The membership has ended: the gate stays closed for ever.
    Ended(Ended),
    /// The server is about to leave: the gate stays closed.
    Leaving,
    /// The server is not a member (any more); the text says why.
    Outside(String),
    /// The server is a member, but no renewal was acknowledged for so long that its epoch cannot be proved.
    NotProved(Epoch),
    /// The resource was not reported under the present epoch; the text says why the last try failed.
    NotReported(Option<String>),
    /// The resource is being reported anew; the text says why the last try failed.
    Changing(Option<String>),
    /// The server votes, and no version is selected.
    NothingSelected,
}

/// Why a write may not be sent under a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The membership cannot be proved or has ended.
    Obstacle(Obstacle),
    /// The permit is of an earlier epoch than this present one.
    OtherEpoch(Epoch),
    /// The entry does not allow the permit's encoding any more.
    OtherEncoding,
    /// The permit was given back.
    Settled,
}

impl Obstacle {
    /// The reason in words, as the last part of Kubernetes' message.
    pub(crate) fn last_seen(&self) -> String {
        match self {
            Self::Ended(Ended::Replaced) => {
                "another instance of this server has joined under its id".to_owned()
            }
            Self::Ended(Ended::Left) => "the server has left".to_owned(),
            Self::Ended(Ended::Stopped) => "the membership of the server was stopped".to_owned(),
            Self::Leaving => "the server is leaving".to_owned(),
            Self::Outside(reason) => reason.clone(),
            Self::NotProved(epoch) => format!(
                "the membership of epoch {epoch} is not proved: no renewal was acknowledged in time"
            ),
            Self::NotReported(error) => error.clone().unwrap_or_else(|| "<nil>".to_owned()),
            Self::Changing(error) => error
                .clone()
                .unwrap_or_else(|| "the resource is being reported anew".to_owned()),
            Self::NothingSelected => {
                "the server votes, and no storage version is selected yet".to_owned()
            }
        }
    }

    /// Whether the obstacle is permanent, so that waiting is of no use.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::Ended(_) | Self::Leaving => true,
            Self::Outside(_)
            | Self::NotProved(_)
            | Self::NotReported(_)
            | Self::Changing(_)
            | Self::NothingSelected => false,
        }
    }

    /// The message of a write that did not pass, word for word as in Kubernetes. `resource` is in the form
    /// `resource.group`.
    pub(crate) fn message(&self, resource: &str) -> String {
        format!(
            "wait for storage version registration to complete for resource: {resource}, last seen error: {}",
            self.last_seen()
        )
    }

    /// The error of a permit that was not given.
    pub(crate) fn error(&self, resource: &str) -> Error {
        let kind = match self {
            Self::Ended(Ended::Replaced) => ErrorKind::StaleEpoch,
            Self::Ended(Ended::Left | Ended::Stopped) | Self::Leaving => ErrorKind::NotAMember,
            Self::Outside(_)
            | Self::NotProved(_)
            | Self::NotReported(_)
            | Self::Changing(_)
            | Self::NothingSelected => ErrorKind::Unavailable,
        };
        Error::new(kind, self.message(resource))
    }
}

impl Refused {
    /// The error of a check that failed.
    pub(crate) fn error(&self, grant: &Grant) -> Error {
        let (kind, why) = match self {
            Self::Obstacle(Obstacle::Ended(Ended::Replaced)) => {
                let why = "another instance of this server has joined under its id".to_owned();
                (ErrorKind::StaleEpoch, why)
            }
            Self::Obstacle(obstacle) => (ErrorKind::NotAMember, obstacle.last_seen()),
            Self::OtherEpoch(present) => {
                let why = format!("the server has joined anew, under epoch {present}");
                (ErrorKind::NotAMember, why)
            }
            Self::OtherEncoding => {
                let why = "the server does not encode the resource in this version any more";
                (ErrorKind::EncodingNotSelected, why.to_owned())
            }
            Self::Settled => (
                ErrorKind::InvalidArgument,
                "it was given back already".to_owned(),
            ),
        };
        let message = format!(
            "the permit of epoch {} to write {} in {} is void: {why}; nothing may be sent to the store under it",
            grant.epoch,
            grant.resource.qualified(),
            grant.encoding
        );
        Error::new(kind, message)
    }
}
