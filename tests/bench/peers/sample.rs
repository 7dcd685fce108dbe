//! Repeated measurements of one quantity, and how they are printed.

use std::time::Duration;

/// Measurements in the order in which they were taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    fn sorted(&self) -> Vec<f64> {
        let mut values = self.0.clone();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The middle one; of an even number the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let values = self.sorted();
        let (below, above) = ((values.len() - 1) / 2, values.len() / 2);
        f64::midpoint(values[below], values[above])
    }

    pub(crate) fn least(&self) -> f64 {
        self.sorted()[0]
    }

    pub(crate) fn most(&self) -> f64 {
        self.sorted()[self.0.len() - 1]
    }

    /// The median with the least and the most.
    pub(crate) fn spread(&self) -> String {
        format!(
            "{:.2} ({:.2} to {:.2})",
            self.median(),
            self.least(),
            self.most()
        )
    }

    /// The ratio to the other sample, round by round.
    pub(crate) fn ratios_to(&self, other: &Self) -> Self {
        Self(
            self.0
                .iter()
                .zip(&other.0)
                .map(|(own, other)| own / other)
                .collect(),
        )
    }
}

/// The least of these durations that so many of a hundred are not above.
pub(crate) fn percentile(taken: &[Duration], hundredths: usize) -> Duration {
    let mut sorted = taken.to_vec();
    sorted.sort();
    let place = (sorted.len() * hundredths).div_ceil(100).max(1) - 1;
    sorted[place]
}

/// Prints durations.
pub(crate) fn times(name: &str, taken: &[Duration]) {
    let millis = Sample(
        taken
            .iter()
            .map(|taken| taken.as_secs_f64() * 1000.0)
            .collect(),
    );
    let spread = format!("{:.1} to {:.1}", millis.least(), millis.most());
    println!("{name:<52} {:>9.1} ms {spread:>24}", millis.median());
}

/// Prints one duration.
pub(crate) fn print_time(name: &str, taken: Duration) {
    println!("{name:<64} {:>10.1} ms", taken.as_secs_f64() * 1_000.0);
}

/// The resident memory of a process, in KiB.
pub(crate) fn resident_kib(process: u32) -> f64 {
    kib(process, "VmRSS:")
}

/// The part of its resident memory that comes from no file, in KiB: the system cannot take it back but by swapping.
pub(crate) fn private_kib(process: u32) -> f64 {
    kib(process, "RssAnon:")
}

fn kib(process: u32, field: &str) -> f64 {
    let status =
        std::fs::read_to_string(format!("/proc/{process}/status")).expect("the process runs");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .expect("Linux tells the size");
    line.trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("the size is a number")
}

/// The processor time that a process has used, in microseconds.
pub(crate) fn cpu_micros(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("the process runs");
    // The second field is the process's name, in parentheses; the times in user and kernel mode are the 14th and 15th,
    // in hundredths of a second on every Linux.
    let (_, fields) = stat.rsplit_once(") ").expect("its name is in parentheses");
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks = ticks.map(|ticks| ticks.parse::<f64>().expect("times are numbers"));
    ticks.sum::<f64>() * 10_000.0
}
