//! Staying a member: renewing, and joining again when an epoch is over.

use super::keeper::{Keeper, Tenure};
use super::renewals::{Over, Renewals};
use super::state::Standing;

impl Keeper {
    /// Keeps the server a member until the membership is over for good.
    pub(super) async fn run(self, tenure: Tenure) {
        let ended = self.standing.wait(Standing::ended);
        tokio::select! {
            biased;
            _ = ended => {}
            () = self.follow_proof() => {}
            () = self.stay(tenure) => {}
        }
    }

    async fn stay(&self, mut tenure: Tenure) {
        loop {
            let lost = tenure.member.epoch;
            match Renewals::new(self, &tenure).run().await {
                Over::Lost(error) => self.lost(lost, error),
                Over::Replaced(error) => return self.replaced(error),
            }
            match self.join_again(lost).await {
                Ok(again) => tenure = again,
                Err(error) => return self.replaced(error),
            }
        }
    }
}
