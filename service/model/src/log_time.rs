//! Time: log time, by which deadlines are decided; TTLs, which are spans of it; wall time, which is
//! shown.

use std::fmt;
use std::time::Duration;

use crate::Violation;
use crate::limits::{TTL_MS_MAX, TTL_MS_MIN};

/// Milliseconds that leaders count while a quorum answers them. Log entries carry it, it never goes
/// back, and every deadline is a log time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogTime(u64);

impl LogTime {
    /// The log time of a cluster that has not counted yet.
    pub const ZERO: Self = Self(0);

    /// The log time of so many milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Its milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The log time `span` later, or the highest one. Fractions of a millisecond do not count.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(span)))
    }

    /// The log time `span` earlier, or zero.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(whole_millis(span)))
    }

    /// How long ago `earlier` was; zero if it is not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for LogTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// Milliseconds since the Unix epoch by some replica's clock. It may go back, so it is shown, and no rule depends on it but
/// that of the date until which a version is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(u64);

impl WallTime {
    /// The time so many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

impl fmt::Display for WallTime {
    /// RFC 3339 in UTC, to the millisecond.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY_MS: u64 = 24 * 60 * 60 * 1000;
        let (year, month, day) = civil_date(self.0 / DAY_MS);
        let ms = self.0 % DAY_MS;
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            ms / 3_600_000,
            ms / 60_000 % 60,
            ms / 1_000 % 60,
            ms % 1_000
        )
    }
}

/// How long a member, session or lease lives after its last renewal: whole milliseconds within
/// [`Ttl::MIN`] and [`Ttl::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ttl(Duration);

impl Ttl {
    /// The shortest: an election must fit in it.
    pub const MIN: Self = Self(Duration::from_millis(TTL_MS_MIN));
    /// The longest.
    pub const MAX: Self = Self(Duration::from_millis(TTL_MS_MAX));
    /// The TTL if a caller gives none.
    pub const DEFAULT: Self = Self(Duration::from_secs(15));

    /// The TTL of so many milliseconds.
    ///
    /// # Errors
    ///
    /// Outside the bounds.
    pub fn from_millis(millis: u64) -> Result<Self, Violation> {
        if (TTL_MS_MIN..=TTL_MS_MAX).contains(&millis) {
            return Ok(Self(Duration::from_millis(millis)));
        }
        let rule = format_args!("must be between {TTL_MS_MIN} and {TTL_MS_MAX} milliseconds");
        Err(Violation::invalid_number(millis, rule))
    }

    /// The TTL as a duration.
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// Its milliseconds.
    pub fn as_millis(self) -> u64 {
        whole_millis(self.0)
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.as_millis())
    }
}

/// What a change does to a TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TtlChange {
    /// The deadline stays as it is, also if there is none.
    #[default]
    Keep,
    /// The deadline is this long from now.
    Set(Ttl),
    /// The deadline is removed.
    Remove,
}

impl TtlChange {
    /// The TTL of a new object, which has no deadline to keep.
    #[must_use]
    pub const fn of_new(self) -> Option<Ttl> {
        match self {
            Self::Set(ttl) => Some(ttl),
            Self::Keep | Self::Remove => None,
        }
    }
}

impl From<Option<Ttl>> for TtlChange {
    /// `Set` with a TTL, `Keep` without one.
    fn from(ttl: Option<Ttl>) -> Self {
        ttl.map_or(Self::Keep, Self::Set)
    }
}

pub(crate) fn whole_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Year, month and day of a day since the Unix epoch, by the proleptic Gregorian calendar.
///
/// The year is taken to begin in March, so that the leap day is its last one; 400 years, an era,
/// always have 146,097 days.
fn civil_date(days_since_epoch: u64) -> (u64, u64, u64) {
    const ERA_DAYS: u64 = 146_097;
    const DAYS_FROM_YEAR_ZERO: u64 = 719_468;
    let day = days_since_epoch + DAYS_FROM_YEAR_ZERO;
    let day_of_era = day % ERA_DAYS;
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = day / ERA_DAYS * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day_of_month)
}

#[cfg(test)]
mod tests;
