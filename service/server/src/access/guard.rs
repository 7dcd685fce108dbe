//! The policy that counts now, and the watch over its file.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_model::Refusal;
use synod_policy::Policy;

use super::certified::Certified;
use super::known::Known;
use super::source::{PolicyFault, Source};
use crate::metrics::SecurityMetrics;
use crate::seams::{WallClock, watch};

/// Who saves a file may be seen halfway. So a fault counts only if it is there at two looks.
const LOOKS: u32 = 2;

pub(super) struct Guard {
    source: Source,
    in_use: watch::Sender<Arc<InUse>>,
    wall: Arc<dyn WallClock>,
    /// The fault of the file, and at how many looks in a row it was there.
    fault: Mutex<Option<(PolicyFault, u32)>>,
    /// The text of the last look: one that is being written may be seen in part, and be a policy all the same.
    seen: Mutex<Option<String>>,
}

/// The policy that counts now.
pub(super) struct InUse {
    /// Greater than that of every policy before.
    pub(super) generation: u64,
    text: String,
    pub(super) policy: Policy,
}

impl Guard {
    /// Reads the policy.
    ///
    /// # Errors
    ///
    /// Its file cannot be used.
    pub(super) fn load(source: Source, wall: &Arc<dyn WallClock>) -> Result<Self, PolicyFault> {
        let (text, policy) = source.read()?;
        let (in_use, _) = watch::channel(Arc::new(InUse {
            generation: 0,
            text,
            policy,
        }));
        Ok(Self {
            source,
            in_use,
            wall: Arc::clone(wall),
            fault: Mutex::default(),
            seen: Mutex::default(),
        })
    }

    /// What the owner of a certificate may do by the policy in use.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if the certificate does not say whose it is.
    pub(super) fn known(&self, certified: &Certified) -> Result<Arc<Known>, Refusal> {
        let in_use = Arc::clone(&self.in_use.borrow());
        certified.known(in_use.generation, &in_use.policy)
    }

    /// Whether the proof of a caller counts no more.
    pub(super) fn has_expired(&self, known: &Known) -> bool {
        known.until < self.now()
    }

    /// The time in seconds since 1970-01-01 00:00:00 UTC.
    pub(super) fn now(&self) -> i64 {
        i64::try_from(self.wall.now().as_millis() / 1_000).unwrap_or(i64::MAX)
    }

    /// The policies to come.
    pub(super) fn changes(&self) -> watch::Receiver<Arc<InUse>> {
        self.in_use.subscribe()
    }

    /// Whether the policy may change.
    pub(super) fn may_change(&self) -> bool {
        self.source.is_file()
    }

    /// Reads the file again.
    pub(super) fn read(&self) -> Result<(String, Policy), PolicyFault> {
        self.source.read()
    }

    /// Takes what was read into use, if it is another policy and was there at the look before, too. A fault changes nothing.
    pub(super) fn take(
        &self,
        read: Result<(String, Policy), PolicyFault>,
        metrics: &SecurityMetrics,
    ) {
        let (text, policy) = match read {
            Ok(read) => read,
            Err(fault) => return self.note(fault, metrics),
        };
        *self.fault() = None;
        let before = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(text.clone());
        if before.as_ref() != Some(&text) {
            return;
        }
        let is_new = self.in_use.send_if_modified(|in_use| {
            if in_use.text == text {
                return false;
            }
            *in_use = Arc::new(InUse {
                generation: in_use.generation + 1,
                text,
                policy,
            });
            true
        });
        if is_new {
            tracing::info!("a new policy is in use");
            metrics.policy_renewed();
        }
    }

    fn note(&self, fault: PolicyFault, metrics: &SecurityMetrics) {
        let mut seen = self.fault();
        let looks = seen.as_ref().map_or(1, |(_, looks)| looks + 1);
        if looks == LOOKS {
            tracing::warn!(%fault, "the new policy cannot be used; the old one stays");
            metrics.policy_not_renewed();
        }
        *seen = Some((fault, looks));
    }

    /// What is wrong with the file, as a sentence for people.
    pub(super) fn alarm(&self) -> Option<String> {
        let fault = self.fault();
        let (fault, looks) = fault.as_ref()?;
        (*looks >= LOOKS).then(|| {
            format!(
                "{fault}: the policy read before stays in use; put one there that can be used, which is read by itself"
            )
        })
    }

    fn fault(&self) -> MutexGuard<'_, Option<(PolicyFault, u32)>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
    use crate::seams::SystemWallClock;

    #[test]
    fn a_policy_counts_once_two_looks_have_found_it() {
        let wall: Arc<dyn WallClock> = Arc::new(SystemWallClock);
        let guard = Guard::load(Source(None), &wall).unwrap();
        let metrics = Metrics::new(|| 0).security;
        let generation = || guard.changes().borrow().generation;
        let look = |text: &str| {
            let policy = Policy::parse(text).unwrap();
            guard.take(Ok((text.to_owned(), policy)), &metrics);
        };
        let whole = "[[grant]]\nwho = \"cn:a\"\nrole = \"reader\"\n";
        // A file that is being written is empty for a moment.
        look("");
        assert_eq!(generation(), 0);
        look(whole);
        assert_eq!(generation(), 0);
        look(whole);
        assert_eq!(generation(), 1);
        look("");
        look(whole);
        assert_eq!(generation(), 1);
    }
}
