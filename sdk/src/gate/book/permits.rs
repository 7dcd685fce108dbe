use std::collections::BTreeMap;
use std::time::Duration;

use synod_model::ApiVersion;

/// The permits of a resource, of all epochs, counted by the encoding that they allow.
#[derive(Debug, Default)]
pub(super) struct Permits {
    by_encoding: BTreeMap<ApiVersion, Use>,
}

/// The permits for one encoding.
#[derive(Debug, Default)]
struct Use {
    open: u64,
    /// The time until which a write of unknown outcome may land.
    held_until: Option<Duration>,
}

/// What keeps a gate from being drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drain {
    /// Nothing.
    Done,
    /// Writes of unknown outcome, which may land until this time.
    Until(Duration),
    /// Permits that are still out, and their number.
    Open(u64),
}

impl Drain {
    /// What keeps two sets of permits from being drained, as one.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Open(some), Self::Open(more)) => Self::Open(some + more),
            (open @ Self::Open(_), _) | (_, open @ Self::Open(_)) => open,
            (Self::Until(one), Self::Until(other)) => Self::Until(one.max(other)),
            (until @ Self::Until(_), Self::Done) | (Self::Done, until @ Self::Until(_)) => until,
            (Self::Done, Self::Done) => Self::Done,
        }
    }
}

impl Permits {
    pub(super) fn open(&mut self, encoding: &ApiVersion) {
        self.by_encoding.entry(encoding.clone()).or_default().open += 1;
    }

    /// A permit is given back. `held_until` is set if its write may still land.
    pub(super) fn close(&mut self, encoding: &ApiVersion, held_until: Option<Duration>) {
        let Some(used) = self.by_encoding.get_mut(encoding) else {
            return;
        };
        used.open = used.open.saturating_sub(1);
        used.held_until = used.held_until.max(held_until);
        if used.open == 0 && used.held_until.is_none() {
            self.by_encoding.remove(encoding);
        }
    }

    /// What keeps the permits for all encodings but one from being drained.
    pub(super) fn drain(&self, except: Option<&ApiVersion>, now: Duration) -> Drain {
        let others = self
            .by_encoding
            .iter()
            .filter(|(encoding, _)| Some(*encoding) != except);
        others.fold(Drain::Done, |drain, (_, used)| drain.and(used.drain(now)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_encoding.is_empty()
    }
}

impl Use {
    fn drain(&self, now: Duration) -> Drain {
        match self.held_until {
            _ if self.open > 0 => Drain::Open(self.open),
            Some(until) if now < until => Drain::Until(until),
            Some(_) | None => Drain::Done,
        }
    }
}
