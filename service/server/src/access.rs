//! Who calls, and whether it may.
//!
//! A caller is known by the certificate of its connection, or by the token of its call. What it may do is up to the policy,
//! which is asked anew for each call, so that a new policy counts at once. A replica that does not ask its callers for certificates knows nobody and
//! lets everybody do everything: it listens on loopback only, or its operator has allowed that.

mod bearer;
mod certified;
mod guard;
mod in_use;
mod known;
mod lately;
mod named;
mod remote;
mod source;
mod standing;
mod unproved;

use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};
use synod_model::{ErrorKind, Refusal};
use synod_policy::Right;
use synod_proto::{access as needs, v1};
use synod_tokens::Refused;

use crate::looking::look_again;
use crate::metrics::SecurityMetrics;
use crate::seams::{Caller, Offload, WallClock};
use crate::security::Security;
use crate::stop::Stop;
pub use bearer::Bearer;
pub use certified::Certified;
use guard::Guard;
pub(crate) use named::describe;
pub use remote::{Proxy, Remote};
use source::Source;
pub use source::{PolicyFault, PolicyPart};
pub(crate) use standing::{Lasting, Standing};
use unproved::unauthenticated;

/// What stands before a token in its header (RFC 6750, section 2.1).
const SCHEME: &str = "bearer ";

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
        let guard = Guard::load(source, wall)?.believing(security.proxies.clone());
        Ok(Self(Some(Arc::new(guard))))
    }

    /// Whether who shows no certificate may connect: it may send a token.
    pub(crate) fn takes_tokens(&self) -> bool {
        self.0.as_ref().is_some_and(|guard| guard.takes_tokens())
    }

    /// Who sends a request over a connection. The token, if there is one, is taken out of the headers, and so is what a front
    /// proxy tells there, so that nothing behind this can tell of it.
    pub(crate) fn caller(&self, of_connection: &Caller, headers: &mut HeaderMap) -> Caller {
        let sender = self.sender(of_connection, headers);
        let shown: Vec<_> = match headers.entry(AUTHORIZATION) {
            http::header::Entry::Occupied(shown) => shown.remove_entry_mult().1.collect(),
            http::header::Entry::Vacant(_) => return sender,
        };
        let Some(guard) = &self.0 else {
            return of_connection.clone();
        };
        let bearer = match (of_connection, shown.as_slice()) {
            (Caller::Certified(_) | Caller::Proxy(_), _) => Err(unauthenticated(
                "who shows a certificate sends no token beside it: whose rights would count?",
            )),
            (_, [one]) => match token(one.as_bytes()) {
                Some(token) => guard.bearer(token),
                None => Err(unauthenticated("the authorization is no bearer token")),
            },
            (_, _) => Err(unauthenticated("there is more than one authorization")),
        };
        match bearer {
            Ok(bearer) => Caller::Bearer(bearer),
            Err(refusal) => Caller::Unproved(Arc::new(refusal)),
        }
    }

    /// Who sends a request, but for its token: the other end of the connection, or whom it speaks for.
    fn sender(&self, of_connection: &Caller, headers: &mut HeaderMap) -> Caller {
        match (of_connection, &self.0) {
            (Caller::Proxy(proxy), Some(guard)) => match proxy.sender(guard.proxies(), headers) {
                Ok(remote) => Caller::Remote(Arc::new(remote)),
                Err(refusal) => Caller::Unproved(Arc::new(refusal)),
            },
            _ => of_connection.clone(),
        }
    }

    /// Whether a header tells who calls, if a front proxy sends it.
    pub(crate) fn tells_who_calls(&self, header: &HeaderName) -> bool {
        self.0
            .as_ref()
            .is_some_and(|guard| guard.proxies().tell_by(header))
    }

    /// What a caller may do now.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if nothing proves who calls, or its token has expired; `UNAVAILABLE`, if its certificate has
    /// expired since it connected: it is to connect anew.
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
            Caller::Bearer(bearer) => {
                let known = guard.known_by_token(bearer)?;
                if guard.has_expired(&known) {
                    return Err(unauthenticated(&Refused::Expired.to_string()));
                }
                Ok(Standing::of(guard, known))
            }
            Caller::Remote(remote) => {
                let known = guard.known_by_proxy(remote)?;
                if guard.has_expired(&known) {
                    return Err(expired());
                }
                Ok(Standing::of(guard, known))
            }
            Caller::Unproved(refusal) => Err(Refusal::clone(refusal)),
            Caller::Proxy(_) => Err(unauthenticated("the front proxy tells no name")),
            Caller::Nameless | Caller::Unasked => {
                Err(unauthenticated(match guard.takes_tokens() {
                    true => "nothing proves who you are: show a certificate, or send a token",
                    false => "nothing proves who you are: show a certificate",
                }))
            }
        }
    }

    /// Until `stop`: reads the file of the policy, and that of the keys of tokens, again whenever they change. One that
    /// cannot be used changes nothing.
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
        look_again(LOOK, offload, stop, look, |read| {
            guard.take(read, &metrics);
            metrics.tokens_remembered(guard.tokens_remembered());
        })
        .await;
    }

    /// What is wrong with these files, as sentences for people.
    pub(crate) fn alarms(&self) -> Vec<String> {
        self.0.iter().filter_map(|guard| guard.alarm()).collect()
    }
}

/// The token in a header.
fn token(header: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(header).ok()?;
    let (scheme, token) = text.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim())
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
        v1::Right::BackUp => Right::BackUp,
    })
}

#[cfg(test)]
mod tests {
    use synod_tls::Subject;

    use super::*;
    use crate::seams::SystemWallClock;

    #[test]
    fn a_caller_proves_who_it_is_in_one_way_and_no_token_goes_further() {
        let wall: Arc<dyn WallClock> = Arc::new(SystemWallClock);
        let guard = Guard::load(Source(None), &wall).unwrap();
        let access = Access(Some(Arc::new(guard)));
        let certified = Caller::Certified(Arc::new(Certified::new(None)));
        let cases = [
            (&certified, &["Bearer a.b.c"][..], "no token beside it"),
            (&certified, &["Basic YTpi"], "no token beside it"),
            (&Caller::Nameless, &["Basic YTpi"], "no bearer token"),
            (&Caller::Nameless, &["Bearer"], "no bearer token"),
            (
                &Caller::Nameless,
                &["Bearer a", "Bearer b"],
                "more than one",
            ),
            (&Caller::Nameless, &["bEARER a.b.c"], "no table [tokens]"),
            (&Caller::Nameless, &[], "show a certificate"),
        ];
        for (of_connection, shown, why) in cases {
            let mut headers = HeaderMap::new();
            for value in shown {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            let caller = access.caller(of_connection, &mut headers);
            assert!(headers.is_empty());
            let refusal = access.standing(&caller).unwrap_err();
            assert_eq!(refusal.kind, ErrorKind::Unauthenticated);
            assert!(refusal.message.contains(why), "{}", refusal.message);
        }
        // Where nobody is known, nobody is asked, and nothing is passed on.
        let mut headers = HeaderMap::new();
        headers.append(AUTHORIZATION, "Bearer a.b.c".parse().unwrap());
        let caller = Access(None).caller(&Caller::Unasked, &mut headers);
        assert!(matches!(caller, Caller::Unasked) && headers.is_empty());
    }

    // Guarantee: A-08, TM-11
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
