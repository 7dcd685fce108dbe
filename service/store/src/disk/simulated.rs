//! placeholder
/// x
#[derive(Debug)]
pub struct SimDisk;
