//! Who calls: by a certificate, a token, a password, or what a plugin says.

mod exec;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::BASE64;
use http::HeaderValue;
use synod_tls::KeyPair;
use tokio::sync::Mutex;
use tokio::time::Instant;

use exec::Credential;
pub use exec::ExecPlugin;

/// How often the file of a token is looked at, at most.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How long it counts that a plugin has failed: whoever waited for it does not run it again at once.
const FAILED: Duration = Duration::from_secs(5);

/// The size in bytes of the largest token.
const TOKEN_BYTES_MAX: usize = 1 << 20;

/// Who calls. A certificate and a login may be shown both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The certificate that is shown, with its key; files are read for each new connection.
    pub own: Option<KeyPair>,
    /// What is sent with each request.
    pub login: Login,
}

/// What is sent with each request to say who calls.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Login {
    /// Nothing.
    #[default]
    Nothing,
    /// This token.
    Token(String),
    /// The token in this file, which is read again when it changes.
    TokenFile(PathBuf),
    /// A user and a password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// What this program says, a token or a certificate, until it expires or is refused.
    Exec(ExecPlugin),
}

/// Shows no secret.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Token(_) => f.write_str("Token(..)"),
            Self::TokenFile(path) => write!(f, "TokenFile({})", path.display()),
            Self::Basic { user, .. } => write!(f, "Basic({user}, ..)"),
            Self::Exec(plugin) => write!(f, "Exec({})", plugin.command),
        }
    }
}

/// What a caller shows with a request.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Presented {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) own: Option<KeyPair>,
}

/// A caller, with what it has read and been told last.
pub(crate) struct Caller {
    identity: Identity,
    /// Locked while a file is read or a plugin runs: nobody else asks meanwhile.
    found: Mutex<Found>,
}

/// What was found last.
#[derive(Default)]
struct Found {
    kept: Option<Kept>,
    /// When a plugin failed after that, and why.
    failed: Option<(Instant, String)>,
}

struct Kept {
    presented: Presented,
    /// When it must be looked up again.
    until: Until,
}

enum Until {
    Refused,
    Moment(Instant),
    Expired(Credential),
}

impl Caller {
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            identity,
            found: Mutex::default(),
        }
    }

    /// What to show now.
    pub(crate) async fn presents(&self) -> Result<Presented, String> {
        let mut found = self.found.lock().await;
        if let Some(kept) = &found.kept
            && kept.is_good()
        {
            return Ok(kept.presented.clone());
        }
        match self.renewed(&mut found).await {
            Ok(presented) => Ok(presented),
            // A file that is just being replaced: what it said last may still count.
            Err(why) => match (&found.kept, &self.identity.login) {
                (Some(kept), Login::TokenFile(_)) => Ok(kept.presented.clone()),
                _ => Err(why),
            },
        }
    }

    /// What to show after this was refused; `None` if there is nothing else.
    pub(crate) async fn after(&self, refused: &Presented) -> Result<Option<Presented>, String> {
        let mut found = self.found.lock().await;
        // Somebody else may have been refused before, and have looked it up already.
        if let Some(kept) = &found.kept
            && kept.presented != *refused
        {
            return Ok(Some(kept.presented.clone()));
        }
        let can_change = match self.identity.login {
            Login::TokenFile(_) | Login::Exec(_) => true,
            Login::Nothing | Login::Token(_) | Login::Basic { .. } => false,
        };
        if !can_change {
            // The files of a certificate may have others in them by now, which a new connection shows.
            return Ok(self.identity.own.is_some().then(|| refused.clone()));
        }
        let presented = self.renewed(&mut found).await?;
        Ok((presented != *refused || presented.own.is_some()).then_some(presented))
    }

    /// Looks up what to show, unless a plugin has just failed to say it.
    async fn renewed(&self, found: &mut Found) -> Result<Presented, String> {
        if let Some((when, why)) = &found.failed
            && when.elapsed() < FAILED
        {
            return Err(why.clone());
        }
        let looked_up = self.looked_up().await;
        found.failed = match (&looked_up, &self.identity.login) {
            (Err(why), Login::Exec(_)) => Some((Instant::now(), why.clone())),
            _ => None,
        };
        let kept = found.kept.insert(looked_up?);
        Ok(kept.presented.clone())
    }

    async fn looked_up(&self) -> Result<Kept, String> {
        let own = self.identity.own.clone();
        let shows = |authorization| Presented {
            authorization,
            own: own.clone(),
        };
        Ok(match &self.identity.login {
            Login::Nothing => Kept::for_good(shows(None)),
            Login::Token(token) => Kept::for_good(shows(Some(bearer(token)?))),
            Login::Basic { user, password } => {
                let both = BASE64.encode(format!("{user}:{password}").as_bytes());
                Kept::for_good(shows(Some(secret(&format!("Basic {both}"))?)))
            }
            Login::TokenFile(path) => Kept {
                presented: shows(Some(bearer(&token_in(path)?)?)),
                until: Until::Moment(Instant::now() + LOOK_AGAIN),
            },
            Login::Exec(plugin) => {
                let credential = plugin.run().await?;
                let authorization = credential.token.as_deref().map(bearer).transpose()?;
                let own = credential.own.clone().or(own);
                Kept {
                    presented: Presented { authorization, own },
                    until: Until::Expired(credential),
                }
            }
        })
    }
}

impl Kept {
    fn for_good(presented: Presented) -> Self {
        Self {
            presented,
            until: Until::Refused,
        }
    }

    fn is_good(&self) -> bool {
        match &self.until {
            Until::Refused => true,
            Until::Moment(moment) => Instant::now() < *moment,
            Until::Expired(credential) => !credential.is_expired(),
        }
    }
}

fn token_in(path: &Path) -> Result<String, String> {
    let place = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("the token in {place} cannot be read: {error}"))?;
    match text.trim() {
        "" => Err(format!("{place} has no token in it")),
        token if token.len() > TOKEN_BYTES_MAX => {
            Err(format!("{place} is no token: it is too long"))
        }
        token => Ok(token.to_owned()),
    }
}

fn bearer(token: &str) -> Result<HeaderValue, String> {
    secret(&format!("Bearer {token}"))
}

fn secret(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        "what is sent to say who calls has characters that no header may have".to_owned()
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_plugin_that_fails_is_not_run_again_by_everybody_who_waited() {
        let folder = tempfile::tempdir().unwrap();
        let plugin = ExecPlugin {
            command: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), "echo run >> \"$RUNS\"; exit 1".to_owned()],
            environment: vec![(
                "RUNS".to_owned(),
                folder.path().join("runs").display().to_string(),
            )],
            api_version: "client.authentication.k8s.io/v1".to_owned(),
            cluster: None,
            install_hint: None,
            folder: PathBuf::new(),
        };
        let caller = Caller::new(Identity {
            own: None,
            login: Login::Exec(plugin),
        });
        let (one, other) = tokio::join!(caller.presents(), caller.presents());
        assert!(one.is_err() && other.is_err());
        let runs = std::fs::read_to_string(folder.path().join("runs")).unwrap();
        assert_eq!(runs, "run\n");
    }
}
