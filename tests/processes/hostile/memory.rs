//! Measures the memory of a process.

/// The resident memory of a process, in bytes.
pub(crate) fn resident(process: u32) -> u64 {
    told(process, "VmRSS:")
}

/// The most resident memory that a process has ever had, in bytes.
pub(crate) fn most_ever(process: u32) -> u64 {
    told(process, "VmHWM:")
}

fn told(process: u32, field: &str) -> u64 {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(path).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let line = line.expect("a process that runs has memory").trim();
    let kib = line.strip_suffix(" kB").expect("it is told in KiB");
    kib.parse::<u64>().expect("it is a number") << 10
}

/// The most memory that a process has while `during` runs, sampled all the time.
pub(crate) async fn most<T>(process: u32, during: impl Future<Output = T>) -> (u64, T) {
    let mut most = resident(process);
    let mut during = std::pin::pin!(during);
    let mut beat = tokio::time::interval(std::time::Duration::from_millis(20));
    loop {
        tokio::select! {
            biased;
            done = &mut during => return (most.max(resident(process)), done),
            _ = beat.tick() => most = most.max(resident(process)),
        }
    }
}
