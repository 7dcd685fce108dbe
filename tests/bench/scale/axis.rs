//! One thing that grows, and what calls cost meanwhile.

use std::fmt::Write as _;

use crate::replicas::Replicas;
use crate::usage::Usage;

/// Processes that are neither replicas nor the load may take so much of the machine; a point beside more is marked.
const OTHERS_MAX: f64 = 0.05;

pub(crate) struct Axis {
    /// What grows.
    pub(crate) name: &'static str,
    /// What is called at each point.
    pub(crate) call: &'static str,
    pub(crate) points: Vec<Point>,
}

/// What was measured at one place of an axis.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) at: usize,
    pub(crate) per_second: f64,
    /// The servers' processor time for each call, in microseconds.
    pub(crate) cpu_micros: f64,
    /// The bytes that the servers have written for each call, if the system tells.
    pub(crate) written_bytes: Option<f64>,
    /// The memory of a server, in MiB.
    pub(crate) memory_mib: f64,
    /// The part of the machine that others took.
    pub(crate) others: f64,
}

impl Point {
    pub(crate) fn of(at: usize, calls: u64, usage: &Usage, replicas: &Replicas) -> Self {
        assert!(calls > 0, "no call ended at {at}");
        let calls = calls as f64;
        Self {
            at,
            per_second: calls / usage.seconds,
            cpu_micros: usage.cpu_micros / calls,
            written_bytes: usage.written_bytes.map(|bytes| bytes / calls),
            memory_mib: replicas.resident_kib().median() / 1_024.0,
            others: usage.others,
        }
    }
}

impl Axis {
    pub(crate) fn new(name: &'static str, call: &'static str) -> Self {
        eprintln!("{name}");
        Self {
            name,
            call,
            points: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, point: Point) {
        eprintln!("  {} done", point.at);
        self.points.push(point);
    }

    /// A table of ratios to the first point.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{} ({})\n{:>12} {:>8} {:>16} {:>16} {:>12}\n",
            self.name, self.call, "", "rate", "processor time", "bytes written", "MiB"
        );
        for point in &self.points {
            let first = self.points[0];
            let written = point.written_bytes.zip(first.written_bytes);
            let written = written.filter(|(_, first)| *first > 0.0);
            let _ = writeln!(
                text,
                "{:>12} {:>8.2} {:>16.2} {:>16} {:>12.0}{}",
                point.at,
                point.per_second / first.per_second,
                point.cpu_micros / first.cpu_micros,
                written.map_or_else(
                    || "-".to_owned(),
                    |(bytes, first)| format!("{:.2}", bytes / first)
                ),
                point.memory_mib,
                if point.others > OTHERS_MAX {
                    format!("   others took {:.0} %", point.others * 100.0)
                } else {
                    String::new()
                }
            );
        }
        text + "\n"
    }
}
