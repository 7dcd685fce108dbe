//! Locks, elections, and observers of a lease.

use pyo3::prelude::*;
use synod_bound::{Feed, LeadingEnd};

use crate::call::{Call, object};
use crate::handle::handle;

handle! {
    /// A lease that this process holds.
    Lock(synod_bound::Lock) {
        now holder(lock) -> String { lock.holder().to_owned() }
        now token(lock) -> u64 { lock.token() }
        now proof(lock) -> String { lock.proof().to_owned() }
        now check(lock) -> () { lock.check()? }

        /// Answers why, as the document of a failure.
        later lost(lock) -> String { lock.lost().await?.to_json() }

        later release(lock) -> () { lock.release().await? }
    }
}

/// What leading is over by: the document of a failure, or who is preferred.
type EndTuple = (Option<String>, Option<String>);

handle! {
    /// An election.
    Election(synod_bound::Election) {
        fed campaign(election) -> Lock { election.campaign() }
        now observe(election) -> Observer { election.observe() }
        later withdraw(election) -> () { election.withdraw().await? }
    }

    /// Answers the document of a failure and `None`, or `None` and who is preferred.
    fn over(&self, py: Python<'_>, lock: &Lock) -> PyResult<Call> {
        let lock = lock.held.bound()?;
        self.held.later::<_, EndTuple, _>(py, None, |election| async move {
            Ok(match election.over(&lock).await? {
                LeadingEnd::Lost(failure) => (Some(failure.to_json()), None),
                LeadingEnd::Preferred(identity) => (None, Some(identity)),
            })
        })
    }
}

handle! {
    /// Who holds a lease, again and again.
    Observer(Feed<String>) {
        now close(feed) -> () { feed.close() }
    }

    /// Answers the lease, `null` while there is none; `None` if this is closed.
    fn next(&self) -> PyResult<Call> {
        let (waited, feed) = (self.held.bound()?, self.held.bound()?);
        let ready = async move { waited.ready().await };
        Ok(Call::finished(self.held.home(), ready, move |py, _| object(py, feed.pop())))
    }
}
