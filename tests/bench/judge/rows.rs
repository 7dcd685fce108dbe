//! What was measured, row by row, and what follows for a case: medians, and ratios round by round.

use crate::sample::Sample;

/// A case is loud if other processes took more than this part of the machine.
const QUIET_MAX: f64 = 0.05;

/// How often a loud case is repeated.
const REPEATS_MAX: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    PerSecond,
    Memory,
    Private,
    Idle,
    Middle,
    Late,
    Cpu,
    Written,
    Syncs,
}

impl Quantity {
    pub(crate) const ALL: [Self; 9] = [
        Self::PerSecond,
        Self::Memory,
        Self::Private,
        Self::Idle,
        Self::Middle,
        Self::Late,
        Self::Cpu,
        Self::Written,
        Self::Syncs,
    ];

    /// Its name in the file of rounds.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PerSecond => "per_second",
            Self::Memory => "memory_mib",
            Self::Private => "private_mib",
            Self::Idle => "idle_percent",
            Self::Middle => "p50_ms",
            Self::Late => "p99_ms",
            Self::Cpu => "cpu_us",
            Self::Written => "written_bytes",
            Self::Syncs => "syncs",
        }
    }

    /// What it says, for people. A call is an operation of the case: a conflict is one too, an event of a watch as well.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::PerSecond => "per second",
            Self::Memory => "MiB a server",
            Self::Private => "MiB of no file",
            Self::Idle => "% of a processor",
            Self::Middle => "p50 ms",
            Self::Late => "p99 ms",
            Self::Cpu => "CPU us a call",
            Self::Written => "bytes a call",
            Self::Syncs => "syncs a call",
        }
    }

    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::PerSecond | Self::Written => format!("{value:.0}"),
            Self::Memory | Self::Private | Self::Cpu => format!("{value:.1}"),
            Self::Idle | Self::Middle | Self::Late => format!("{value:.2}"),
            Self::Syncs => format!("{value:.3}"),
        }
    }
}

/// One measurement of a case, as it was measured.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) round: usize,
    pub(crate) service: &'static str,
    pub(crate) case: &'static str,
    /// Zero for the first.
    pub(crate) repeat: usize,
    /// Whether it stands for its round: the quietest does.
    pub(crate) counts: bool,
    pub(crate) quantities: Vec<(Quantity, f64)>,
    pub(crate) conflicts: u64,
    pub(crate) failures: u64,
    /// What was answered to the first call that failed, or why there is no measurement.
    pub(crate) failure: Option<String>,
    /// The part of the machine that other processes took.
    pub(crate) others: f64,
}

impl Row {
    pub(crate) fn is_loud(&self) -> bool {
        self.others > QUIET_MAX
    }

    fn quantity(&self, wanted: Quantity) -> Option<f64> {
        let mut quantities = self.quantities.iter();
        quantities.find_map(|(quantity, value)| (*quantity == wanted).then_some(*value))
    }
}

/// Whether a case is to be measured once more after these attempts.
pub(crate) fn repeats(attempts: &[Row]) -> bool {
    // None is quiet before the first.
    attempts.iter().all(Row::is_loud) && attempts.len() <= REPEATS_MAX
}

/// Lets the quietest attempt stand for its round, of those that came to a measurement if any did.
pub(crate) fn count_quietest(attempts: &mut [Row]) {
    let quietest = attempts.iter_mut().min_by(|one, other| {
        let failed = |row: &Row| row.quantities.is_empty();
        failed(one)
            .cmp(&failed(other))
            .then(one.others.total_cmp(&other.others))
    });
    if let Some(row) = quietest {
        row.counts = true;
    }
}

/// All measurements of a run.
pub(crate) struct Rows(pub(crate) Vec<Row>);

impl Rows {
    /// Those that stand for the rounds of a case.
    pub(crate) fn counted<'a>(
        &'a self,
        case: &'a str,
        service: &'a str,
    ) -> impl Iterator<Item = &'a Row> {
        self.0
            .iter()
            .filter(move |row| row.counts && row.case == case && row.service == service)
    }

    /// A quantity over the rounds; none if no round has it.
    pub(crate) fn sample(&self, case: &str, service: &str, quantity: Quantity) -> Option<Sample> {
        let values = self
            .counted(case, service)
            .filter_map(|row| row.quantity(quantity));
        sample(values)
    }

    /// The ratio of a quantity to that of another service, in the rounds that have both.
    pub(crate) fn ratio(
        &self,
        case: &str,
        service: &str,
        other: &str,
        quantity: Quantity,
    ) -> Option<Sample> {
        let ratios = self.counted(case, service).filter_map(|row| {
            let same_round = self.counted(case, other).find(|it| it.round == row.round)?;
            let (own, other) = (row.quantity(quantity)?, same_round.quantity(quantity)?);
            (other > 0.0).then_some(own / other)
        });
        sample(ratios)
    }
}

fn sample(values: impl Iterator<Item = f64>) -> Option<Sample> {
    let (mut sample, mut is_empty) = (Sample::default(), true);
    for value in values {
        sample.push(value);
        is_empty = false;
    }
    (!is_empty).then_some(sample)
}
