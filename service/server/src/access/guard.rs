//! What counts now, and the watch over the files that it comes from.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_model::Refusal;
use synod_tokens::Print;

use super::bearer::Bearer;
use super::certified::Certified;
use super::in_use::InUse;
use super::known::Known;
use super::lately::Lately;
use super::remote::Remote;
use super::source::{PolicyFault, Read, Source};
use super::unproved::unauthenticated;
use crate::metrics::SecurityMetrics;
use crate::seams::{WallClock, watch};
use crate::security::Proxies;

/// Who saves a file may be seen halfway. So a fault counts only if it is there at two looks.
const LOOKS: u32 = 2;

pub(super) struct Guard {
    /// The front proxies that are believed.
    proxies: Proxies,
    source: Source,
    in_use: watch::Sender<Arc<InUse>>,
    bearers: Lately<Bearer>,
    wall: Arc<dyn WallClock>,
    /// The fault of a file, and at how many looks in a row it was there.
    fault: Mutex<Option<(PolicyFault, u32)>>,
    /// What the last look found: what is being written may be seen in part, and be a policy all the same.
    seen: Mutex<Option<Read>>,
}

impl Guard {
    /// Reads the policy, and the keys that it names.
    ///
    /// # Errors
    ///
    /// A file cannot be used.
    pub(super) fn load(source: Source, wall: &Arc<dyn WallClock>) -> Result<Self, PolicyFault> {
        let first = InUse::first(source.read()?)?;
        let (in_use, _) = watch::channel(Arc::new(first));
        Ok(Self {
            proxies: Proxies::default(),
            source,
            in_use,
            bearers: Lately::new(),
            wall: Arc::clone(wall),
            fault: Mutex::default(),
            seen: Mutex::default(),
        })
    }

    /// The same guard, which believes these front proxies.
    pub(super) fn believing(self, proxies: Proxies) -> Self {
        Self { proxies, ..self }
    }

    pub(super) fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    /// What a caller may do that a front proxy tells of.
    ///
    /// # Errors
    ///
    /// As [`Self::known`].
    pub(super) fn known_by_proxy(&self, remote: &Remote) -> Result<Arc<Known>, Refusal> {
        remote.known(&self.in_use())
    }

    /// What the owner of a certificate may do by the policy in use.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if the certificate does not say whose it is.
    pub(super) fn known(&self, certified: &Certified) -> Result<Arc<Known>, Refusal> {
        certified.known(&self.in_use())
    }

    /// What the sender of a token may do by the policy in use.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if the token would not be taken any more.
    pub(super) fn known_by_token(&self, bearer: &Bearer) -> Result<Arc<Known>, Refusal> {
        bearer.known(&self.in_use())
    }

    /// Whether tokens are taken.
    pub(super) fn takes_tokens(&self) -> bool {
        self.in_use.borrow().tokens.is_some()
    }

    /// The sender of a token.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, and why the token is not taken.
    pub(super) fn bearer(&self, token: &str) -> Result<Arc<Bearer>, Refusal> {
        let in_use = self.in_use();
        let verifier = in_use.tokens.as_ref().ok_or_else(|| {
            unauthenticated("tokens are not taken here: the policy has no table [tokens]")
        })?;
        let (print, now) = (Print::of(token), self.now());
        let known = self.bearers.get(print);
        if let Some(bearer) = known.filter(|bearer| bearer.counts(&in_use, now)) {
            return Ok(bearer);
        }
        let account = verifier.verify(token, now);
        let account = account.map_err(|refused| unauthenticated(&refused.to_string()))?;
        let bearer = Arc::new(Bearer::new(account));
        self.bearers.put(print, &bearer);
        Ok(bearer)
    }

    /// How many tokens are remembered.
    pub(super) fn tokens_remembered(&self) -> usize {
        self.bearers.len()
    }

    /// Whether the proof of a caller counts no more.
    pub(super) fn has_expired(&self, known: &Known) -> bool {
        known.until < self.now()
    }

    /// The time in seconds since 1970-01-01 00:00:00 UTC.
    pub(super) fn now(&self) -> i64 {
        i64::try_from(self.wall.now().as_millis() / 1_000).unwrap_or(i64::MAX)
    }

    /// What counts later on.
    pub(super) fn changes(&self) -> watch::Receiver<Arc<InUse>> {
        self.in_use.subscribe()
    }

    /// Whether anything may change.
    pub(super) fn may_change(&self) -> bool {
        self.source.is_file()
    }

    /// Reads the files again.
    pub(super) fn read(&self) -> Result<Read, PolicyFault> {
        self.source.read()
    }

    /// Takes what was read into use, if it is something else and was there at the look before, too. A fault of the policy
    /// changes nothing, and one of the keys leaves those before.
    pub(super) fn take(&self, read: Result<Read, PolicyFault>, metrics: &SecurityMetrics) {
        let read = match read {
            Ok(read) => read,
            Err(fault) => return self.note(fault, metrics),
        };
        match read.fault() {
            Some(fault) => self.note(fault.clone(), metrics),
            None => *self.fault() = None,
        }
        let before = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(read.clone());
        if before.as_ref() != Some(&read) {
            return;
        }
        let is_new = self.in_use.send_if_modified(|in_use| {
            let Some(next) = in_use.after(read) else {
                return false;
            };
            *in_use = Arc::new(next);
            true
        });
        if is_new {
            tracing::info!("a new policy, or new keys of tokens, are in use");
            metrics.policy_renewed();
        }
    }

    fn note(&self, fault: PolicyFault, metrics: &SecurityMetrics) {
        let mut seen = self.fault();
        let looks = seen.as_ref().map_or(1, |(_, looks)| looks + 1);
        if looks == LOOKS {
            tracing::warn!(%fault, "what is new cannot be used; what was read before stays");
            metrics.policy_not_renewed();
        }
        *seen = Some((fault, looks));
    }

    /// What is wrong with a file, as a sentence for people.
    pub(super) fn alarm(&self) -> Option<String> {
        let fault = self.fault();
        let (fault, looks) = fault.as_ref()?;
        (*looks >= LOOKS).then(|| {
            format!(
                "{fault}: what was read before stays in use; put a file there that can be used, which is read by itself"
            )
        })
    }

    fn in_use(&self) -> Arc<InUse> {
        Arc::clone(&self.in_use.borrow())
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
    use synod_policy::Policy;

    use super::*;
    use crate::metrics::Metrics;
    use crate::seams::SystemWallClock;

    // Guarantee: A-09, TM-35
    #[test]
    fn a_policy_counts_once_two_looks_have_found_it() {
        let wall: Arc<dyn WallClock> = Arc::new(SystemWallClock);
        let guard = Guard::load(Source(None), &wall).unwrap();
        let metrics = Metrics::new(|| 0).security;
        let generation = || guard.changes().borrow().generation;
        let look = |text: &str| {
            let read = Read {
                text: text.to_owned(),
                policy: Policy::parse(text).unwrap(),
                keys: None,
            };
            guard.take(Ok(read), &metrics);
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
