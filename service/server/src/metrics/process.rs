//! The resources that the process uses, under the names that all Prometheus clients use.
//!
//! Read from `/proc` when metrics are collected; missing where the system has no `/proc` or does not permit it.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

/// The collector of these metrics.
#[derive(Debug)]
pub(super) struct ProcessMetrics;

/// The resources in use at one moment.
struct Usage {
    cpu_seconds: f64,
    resident_bytes: u64,
    virtual_bytes: u64,
    open_fds: u64,
    fds_max: Option<u64>,
    threads: u64,
    /// `None` where the system hides when it was started itself.
    started_seconds: Option<f64>,
}

impl Usage {
    /// `None` where the system does not tell.
    fn now() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The second field is the program's name in parentheses, which may hold spaces. See proc_pid_stat(5).
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number.checked_sub(3)?)?.parse::<u64>().ok();
        let ticks = to_f64(clock_ticks_per_second());
        let boot = std::fs::read_to_string("/proc/stat").ok();
        let boot = boot.and_then(|text| {
            let seconds = text.lines().find_map(|line| line.strip_prefix("btime "))?;
            seconds.parse::<u64>().ok()
        });
        let started = to_f64(field(22)?) / ticks;
        Some(Self {
            cpu_seconds: to_f64(field(14)?.checked_add(field(15)?)?) / ticks,
            resident_bytes: field(24)?.checked_mul(u64::try_from(page_size()).ok()?)?,
            virtual_bytes: field(23)?,
            open_fds: u64::try_from(std::fs::read_dir("/proc/self/fd").ok()?.count()).ok()?,
            fds_max: getrlimit(Resource::Nofile).current,
            threads: field(20)?,
            started_seconds: boot.map(|boot| to_f64(boot) + started),
        })
    }
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(usage) = Usage::now() else {
            return Ok(());
        };
        let cpu = ConstCounter::new(usage.cpu_seconds);
        let of = "process_cpu_seconds";
        let help = "Seconds of processor time that the process has used";
        cpu.encode(encoder.encode_descriptor(of, help, None, cpu.metric_type())?)?;
        let bytes_and_counts = [
            (
                "process_resident_memory_bytes",
                "Memory of the process that is in RAM",
                Some(usage.resident_bytes),
            ),
            (
                "process_virtual_memory_bytes",
                "Address space of the process",
                Some(usage.virtual_bytes),
            ),
            (
                "process_open_fds",
                "Files and sockets that the process has open",
                Some(usage.open_fds),
            ),
            (
                "process_max_fds",
                "Files and sockets that the process may have open",
                usage.fds_max,
            ),
            (
                "process_threads",
                "Threads of the process",
                Some(usage.threads),
            ),
        ];
        for (name, help, value) in bytes_and_counts {
            let Some(value) = value else { continue };
            let gauge = ConstGauge::new(to_f64(value));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        let Some(started) = usage.started_seconds else {
            return Ok(());
        };
        let started = ConstGauge::new(started);
        let of = "process_start_time_seconds";
        let help = "When the process was started, in seconds since 1970";
        started.encode(encoder.encode_descriptor(of, help, None, started.metric_type())?)
    }
}

/// Prometheus has only floats. Beyond 2^53 the last digits are lost, which does not matter to readers of a metric.
#[expect(clippy::cast_precision_loss, reason = "a metric is a float")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
