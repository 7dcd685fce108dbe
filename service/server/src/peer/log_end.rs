//! The end of a replica's log, which travels with calls and answers and is compared with what is remembered.

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::consensus::{Position, ReplicaId, Term};

/// The metadata of the log's end: `<term>-<leader>-<index>`, or `-` for an empty log. Of one that was cut off, `cut <end> <lost>`.
const LOG_END: &str = "synod-log-end";

/// Releases that do not know it take the end for unsaid.
const CUT: &str = "cut ";

/// The end of a replica's log, as stated by that replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// Not stated: the replica runs an older release, or its log may have lost entries and it does not vote.
    Unsaid,
    /// The log is empty.
    Empty,
    /// The last entry of the log, or the last applied one if a checkpoint reaches further.
    At(Position),
    /// The same of a log whose end was cut off, so that it may lack what it had acknowledged: the replica votes for those alone who
    /// have what was `lost` at most.
    Cut {
        /// `None` for an empty log.
        at: Option<Position>,
        /// The last entry that may have been lost.
        lost: Position,
    },
}

impl LogEnd {
    /// Adds the end to the metadata of a call or an answer.
    pub(crate) fn write(self, names: &mut MetadataMap) {
        let text = match self {
            Self::Unsaid => return,
            Self::Empty => "-".to_owned(),
            Self::At(position) => to_text(position),
            Self::Cut { at, lost } => {
                let at = at.map_or_else(|| "-".to_owned(), to_text);
                format!("{CUT}{at} {}", to_text(lost))
            }
        };
        if let Ok(value) = MetadataValue::<Ascii>::try_from(text) {
            names.insert(LOG_END, value);
        }
    }

    /// Reads the end from metadata written by [`Self::write`].
    pub(crate) fn read(names: &MetadataMap) -> Self {
        let Some(text) = names.get(LOG_END).and_then(|value| value.to_str().ok()) else {
            return Self::Unsaid;
        };
        if text == "-" {
            return Self::Empty;
        }
        let cut = |text: &str| {
            let (at, lost) = text.split_once(' ')?;
            let at = match at {
                "-" => None,
                at => Some(position(at)?),
            };
            let lost = position(lost)?;
            Some(Self::Cut { at, lost })
        };
        let read = match text.strip_prefix(CUT) {
            Some(rest) => cut(rest),
            None => position(text).map(Self::At),
        };
        read.unwrap_or(Self::Unsaid)
    }
}

fn to_text(position: Position) -> String {
    let Position {
        term,
        leader,
        index,
    } = position;
    format!("{term}-{leader}-{index}")
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
        let cut = |at| LogEnd::Cut { at, lost: position };
        let ends = [
            LogEnd::Unsaid,
            LogEnd::Empty,
            LogEnd::At(position),
            cut(None),
            cut(Some(position)),
        ];
        for end in ends {
            let mut names = MetadataMap::new();
            end.write(&mut names);
            assert_eq!(LogEnd::read(&names), end);
        }
    }
}
