//! Where logs end: said with every call and answer that matters to elections, and held against what is remembered.

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::consensus::{Position, ReplicaId, Term};

/// The metadata that says it: `<term>-<leader>-<index>`, or `-` for an empty log.
const LOG_END: &str = "synod-log-end";

/// Where a replica's log ends, as it says itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// It does not say: it is of an older release, or knows that it may have lost something and does not vote.
    Unsaid,
    /// It holds nothing.
    Empty,
    /// Its last entry, or the last one of its state where that reaches further.
    At(Position),
}

impl LogEnd {
    /// Puts it onto a call or an answer.
    pub(crate) fn write(self, names: &mut MetadataMap) {
        let text = match self {
            Self::Unsaid => return,
            Self::Empty => "-".to_owned(),
            Self::At(Position {
                term,
                leader,
                index,
            }) => format!("{term}-{leader}-{index}"),
        };
        if let Ok(value) = MetadataValue::<Ascii>::try_from(text) {
            names.insert(LOG_END, value);
        }
    }

    /// Reads what [`Self::write`] wrote.
    pub(crate) fn read(names: &MetadataMap) -> Self {
        let Some(text) = names.get(LOG_END).and_then(|value| value.to_str().ok()) else {
            return Self::Unsaid;
        };
        if text == "-" {
            return Self::Empty;
        }
        position(text).map_or(Self::Unsaid, Self::At)
    }
}

fn position(text: &str) -> Option<Position> {
    let mut numbers = text.split('-').map(|number| number.parse().ok());
    let mut next = || numbers.next().flatten();
    Some(Position {
        term: Term::new(next()?),
        leader: ReplicaId::new(next()?),
        index: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        let position = Position {
            term: Term::new(7),
            leader: ReplicaId::new(2),
            index: 1 << 40,
        };
        for end in [LogEnd::Unsaid, LogEnd::Empty, LogEnd::At(position)] {
            let mut names = MetadataMap::new();
            end.write(&mut names);
            assert_eq!(LogEnd::read(&names), end);
        }
    }
}
