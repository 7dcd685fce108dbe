//! The token that proves who calls, in place of a certificate.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use synod_model::Violation;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// The most bytes of a token. Replicas take no longer ones.
const TOKEN_BYTES_MAX: usize = 8 << 10;

/// How long what was read from a file is used without another look.
const FRESH: Duration = Duration::from_secs(1);

/// A call does not wait longer for a changed file.
const REFRESH_MAX: Duration = Duration::from_millis(250);

/// The token of a Kubernetes service account, which proves who a client is. It shows nothing of itself.
#[derive(Clone, PartialEq, Eq)]
pub enum Token {
    /// In a file, as Kubernetes puts one into a pod. It is read again at the next call when a second has gone by, and when a
    /// replica refuses what was read before.
    File(PathBuf),
    /// The token itself.
    Text(Arc<str>),
}

/// Where it stands.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Text(_) => f.write_str("given as text"),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}

/// What the calls of a client show. Clones share it.
#[derive(Clone)]
pub(crate) struct Credential(Arc<CredentialParts>);

struct CredentialParts {
    /// The file of the token; `None`: it never changes.
    file: Option<PathBuf>,
    state: Mutex<State>,
}

struct State {
    shown: Shown,
    /// When the file was looked at last.
    looked: Instant,
    /// Whether the last look failed, which is told once.
    is_faulty: bool,
}

/// What a call shows.
#[derive(Clone)]
pub(crate) struct Shown {
    /// The header, which no library prints.
    pub(crate) header: HeaderValue,
    /// Greater than that of every token before.
    pub(crate) generation: u64,
}

impl Credential {
    /// Reads the token for the first time.
    ///
    /// # Errors
    ///
    /// Its file cannot be read, or it is no token. The violation holds no part of it.
    pub(crate) fn load(token: &Token) -> Result<Self, Violation> {
        let (file, header) = match token {
            Token::File(path) => (Some(path.clone()), read(path)),
            Token::Text(text) => (None, header(text)),
        };
        let place = token.to_string();
        let header = header.map_err(|error| Violation::invalid(&place, rule(&error)))?;
        let state = State {
            shown: Shown {
                header,
                generation: 0,
            },
            looked: Instant::now(),
            is_faulty: false,
        };
        Ok(Self(Arc::new(CredentialParts {
            file,
            state: Mutex::new(state),
        })))
    }

    /// What a call shows that begins now.
    pub(crate) async fn shown(&self) -> Shown {
        let is_due = {
            let mut state = self.0.lock();
            let is_due = self.0.file.is_some() && state.looked.elapsed() >= FRESH;
            if is_due {
                // The calls that begin meanwhile do not wait.
                state.looked = Instant::now();
            }
            is_due
        };
        if is_due {
            self.refresh().await;
        }
        self.0.lock().shown.clone()
    }

    /// The number of what a call shows that begins now.
    pub(crate) fn generation(&self) -> u64 {
        self.0.lock().shown.generation
    }

    /// Whether there is another token than that of this number, which was refused. Looks for one if there is none yet.
    pub(crate) async fn is_another_than(&self, refused: u64) -> bool {
        if self.generation() == refused {
            self.refresh().await;
        }
        self.generation() != refused
    }

    /// Reads the file again. What cannot be used is logged once, and what was read before stays in use.
    async fn refresh(&self) {
        let Some(file) = self.0.file.clone() else {
            return;
        };
        let Ok(Ok(found)) = timeout(REFRESH_MAX, read_aside(file.clone())).await else {
            // The disk hangs, or the runtime ends: what was read before stays in use.
            return;
        };
        let mut state = self.0.lock();
        state.looked = Instant::now();
        let was_faulty = std::mem::replace(&mut state.is_faulty, found.is_err());
        match found {
            Ok(header) if header != state.shown.header => {
                state.shown = Shown {
                    header,
                    generation: state.shown.generation + 1,
                };
            }
            Err(error) if !was_faulty => {
                let (file, rule) = (file.display(), rule(&error));
                tracing::warn!(%file, %rule, "the token cannot be read again; the one read before stays");
            }
            Ok(_) | Err(_) => {}
        }
    }
}

impl CredentialParts {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the file on a thread that may wait for a disk.
#[expect(
    clippy::disallowed_methods,
    reason = "a simulation has no tokens, so it has no files to read"
)]
fn read_aside(file: PathBuf) -> JoinHandle<io::Result<HeaderValue>> {
    tokio::task::spawn_blocking(move || read(&file))
}

fn read(file: &Path) -> io::Result<HeaderValue> {
    let mut text = String::new();
    // A line may end behind the token.
    let mut file = File::open(file)?.take(TOKEN_BYTES_MAX as u64 + 2);
    file.read_to_string(&mut text)?;
    header(&text)
}

fn header(text: &str) -> io::Result<HeaderValue> {
    let token = text.trim();
    let is_token = (1..=TOKEN_BYTES_MAX).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_graphic());
    let header = is_token.then(|| HeaderValue::try_from(format!("Bearer {token}")));
    let Some(Ok(mut header)) = header else {
        let message =
            format!("a token has 1 to {TOKEN_BYTES_MAX} bytes, all of them visible ASCII");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    };
    header.set_sensitive(true);
    Ok(header)
}

fn rule(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidData => error.to_string(),
        _ => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Guarantee: A-07
    #[test]
    fn nothing_of_a_token_is_shown() {
        let token = Token::Text("eyJhbGciOiJub25lIn0.secret.".into());
        let credential = Credential::load(&token).unwrap();
        let header = &credential.0.lock().shown.header;
        let shown = format!("{token:?} {header:?}");
        assert!(
            !shown.contains("secret") && !shown.contains("eyJ"),
            "{shown}"
        );
        let bad = Credential::load(&Token::Text("two words".into()));
        let fault = bad.err().unwrap().to_string();
        assert!(
            fault.contains("visible ASCII") && !fault.contains("words"),
            "{fault}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_read_again_after_a_second_and_when_its_token_was_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("token");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write("first\n");
        let credential = Credential::load(&Token::File(path.clone())).unwrap();
        let shown = async || credential.shown().await.header;
        assert_eq!(shown().await, "Bearer first");
        write("second\n");
        assert_eq!(shown().await, "Bearer first");
        tokio::time::advance(FRESH).await;
        assert_eq!(shown().await, "Bearer second");
        let refused = credential.generation();
        assert!(!credential.is_another_than(refused).await);
        write("third");
        assert!(credential.is_another_than(refused).await);
        // Another call that was refused for the same token finds the new one, too.
        assert!(credential.is_another_than(refused).await);
        assert_eq!(shown().await, "Bearer third");
        // What cannot be read changes nothing.
        for text in ["", "two words", &"x".repeat(TOKEN_BYTES_MAX + 1)] {
            write(text);
            assert!(!credential.is_another_than(credential.generation()).await);
        }
        std::fs::remove_file(&path).unwrap();
        tokio::time::advance(FRESH).await;
        assert_eq!(shown().await, "Bearer third");
    }
}
