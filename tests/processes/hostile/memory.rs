//! Measures the memory of a process.

/// The resident memory of a process, in bytes.
pub(super) fn resident(process: u32) -> u64 {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(path).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let line = line.expect("a process that runs has memory").trim();
    let kib = line.strip_suffix(" kB").expect("it is told in KiB");
    kib.parse::<u64>().expect("it is a number") << 10
}

/// The most memory that a process has while `during` runs, sampled all the time.
pub(super) async fn most<T>(process: u32, during: impl Future<Output = T>) -> (u64, T) {
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
