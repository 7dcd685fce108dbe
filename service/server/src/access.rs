//! Who calls, and whether it may.
//!
//! A caller is known by the certificate of its connection. What it may do is up to the policy, which is asked anew for each
//! call, so that a new policy counts at once. A replica that does not ask its callers for certificates knows nobody and
//! lets everybody do everything: it listens on loopback only, or its operator has allowed that.

mod certified;
mod guard;
mod known;
mod named;
mod source;
mod standing;

use std::sync::Arc;
use std::time::Duration;

use synod_model::{ErrorKind, Refusal};
use synod_policy::Right;
use synod_proto::{access as needs, v1};

use crate::looking::look_again;
use crate::metrics::SecurityMetrics;
use crate::seams::{Caller, Offload, WallClock};
use crate::security::Security;
use crate::stop::Stop;
pub use certified::Certified;
use certified::unauthenticated;
use guard::Guard;
pub(crate) use named::describe;
pub use source::PolicyFault;
use source::Source;
pub(crate) use standing::{Lasting, Standing};

/// How often the file of the policy is looked at. A policy counts at the second look, so withdrawn rights end within 5 seconds.
const LOOK: Duration = Duration::from_secs(1);

/// The policy of a replica. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Access(Option<Arc<Guard>>);

impl Access {
    /// The policy that a replica with this security goes by: none if it does not know its callers.
    ///
    /// # Errors
    ///
    /// The file of the policy cannot be used.
    pub(crate) fn load(
        security: &Security,
        wall: &Arc<dyn WallClock>,
    ) -> Result<Self, PolicyFault> {
        if !security.knows_clients() {
            return Ok(Self(None));
        }
        let source = Source(security.policy.clone());
        Ok(Self(Some(Arc::new(Guard::load(source, wall)?))))
    }

    /// What a caller may do now.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if nothing proves who calls; `UNAVAILABLE`, if its certificate has expired since it connected: it
    /// is to connect anew.
    pub(crate) fn standing(&self, caller: &Caller) -> Result<Standing, Refusal> {
        let Some(guard) = &self.0 else {
            return Ok(Standing::of_anybody());
        };
        match caller {
            Caller::Certified(certified) => {
                let known = guard.known(certified)?;
                if guard.has_expired(&known) {
                    return Err(expired());
                }
                Ok(Standing::of(guard, known))
            }
            Caller::Nameless | Caller::Unasked => Err(unauthenticated(
                "nothing proves who you are: show a certificate",
            )),
        }
    }

    /// Until `stop`: reads the file of the policy again whenever it changes. One that cannot be used changes nothing.
    pub(crate) async fn keep_fresh(
        self,
        offload: Offload,
        metrics: Arc<SecurityMetrics>,
        stop: Stop,
    ) {
        let Some(guard) = self.0.filter(|guard| guard.may_change()) else {
            return;
        };
        let looking = Arc::clone(&guard);
        let look = move || looking.read();
        look_again(LOOK, offload, stop, look, |read| guard.take(read, &metrics)).await;
    }

    /// What is wrong with the file of the policy, as sentences for people.
    pub(crate) fn alarms(&self) -> Vec<String> {
        self.0.iter().filter_map(|guard| guard.alarm()).collect()
    }
}

fn expired() -> Refusal {
    let message = "the certificate of this connection has expired: connect anew with another one";
    Refusal::new(ErrorKind::Unavailable, message)
}

/// The method of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    /// Its path, without the leading slash.
    pub(crate) path: &'static str,
    /// What it needs.
    pub(crate) right: Right,
    /// Whether the audit log tells of its calls that are carried out.
    pub(crate) is_audited: bool,
}

/// What a method needs, by its path without the leading slash. `None`: it is not of this protocol, and everybody may call it.
pub fn right_of(path: &str) -> Option<Right> {
    let (_, right) = needs::RIGHTS.iter().find(|(of, _)| *of == path)?;
    Some(match right {
        // A method without a right does not build. If one had it all the same, nobody but an admin might call it.
        v1::Right::Unspecified | v1::Right::Administer => Right::Administer,
        v1::Right::Any => Right::Any,
        v1::Right::Read => Right::Read,
        v1::Right::TakePart => Right::TakePart,
        v1::Right::Write => Right::Write,
        v1::Right::Hold => Right::Hold,
        v1::Right::Migrate => Right::Migrate,
        v1::Right::Operate => Right::Operate,
    })
}

#[cfg(test)]
mod tests {
    use synod_tls::Subject;

    use super::*;
    use crate::seams::SystemWallClock;

    #[test]
    fn who_shows_a_certificate_that_has_expired_is_to_connect_anew() {
        let wall: Arc<dyn WallClock> = Arc::new(SystemWallClock);
        let guard = Guard::load(Source(None), &wall).unwrap();
        let now = guard.now();
        let access = Access(Some(Arc::new(guard)));
        let standing = |until| {
            let subject = Subject {
                spiffe: Some("spiffe://synod/reader".to_owned()),
                common_name: None,
                until,
            };
            let certified = Certified::new(Some(subject));
            access.standing(&Caller::Certified(Arc::new(certified)))
        };
        assert!(standing(now + 60).is_ok());
        assert_eq!(standing(now - 60).unwrap_err().kind, ErrorKind::Unavailable);
        let nobody = access.standing(&Caller::Nameless).unwrap_err();
        assert_eq!(nobody.kind, ErrorKind::Unauthenticated);
    }
}
