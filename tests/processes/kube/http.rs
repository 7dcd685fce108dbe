//! HTTP/1.1 by hand: what is sent is what a test says, whatever it is worth.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest time for an answer: longer than a replica has for one.
const PATIENCE: Duration = Duration::from_secs(40);

/// How much of an endless answer is read before its connection is closed.
const GLANCE: Duration = Duration::from_millis(30);

/// The most bytes of a head.
const HEAD_MAX: usize = 64 << 10;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    /// The lines of the head, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Whether more would have followed.
    pub(crate) is_cut: bool,
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(value.trim())
    }
}

/// What is asked, beside the bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nature {
    /// The answer has no body, whatever its head says.
    pub(crate) is_of_head: bool,
    /// An answer of success may be a watch, of which a glance is enough.
    pub(crate) may_watch: bool,
}

/// A connection, which is opened when something is sent.
pub(crate) struct Connection {
    at: SocketAddr,
    open: Option<BufReader<TcpStream>>,
}

impl Connection {
    pub(crate) const fn to(at: SocketAddr) -> Self {
        Self { at, open: None }
    }

    /// Reads a place, which must answer with success.
    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        let request = format!("GET {path} HTTP/1.1\r\nhost: synod\r\n\r\n");
        let answer = self.ask(request.as_bytes(), Nature::default()).await;
        let answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        let text = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.code, 200, "{path}: {text}");
        answer
    }

    /// Sends a request, and reads its answer. What was left open by the request before may be closed by then, so a request
    /// that got no answer there is sent again.
    ///
    /// # Errors
    ///
    /// There is no answer, or no whole one.
    pub(crate) async fn ask(&mut self, request: &[u8], nature: Nature) -> io::Result<Answer> {
        let was_open = self.open.is_some();
        let answer = self.asked(request, nature).await;
        match answer {
            Err(_) if was_open => self.asked(request, nature).await,
            answer => answer,
        }
    }

    async fn asked(&mut self, request: &[u8], nature: Nature) -> io::Result<Answer> {
        let mut stream = match self.open.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(self.at).await?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        // Who refuses a long body may not read it to its end.
        let sent = stream.write_all(request).await;
        let read = timeout(PATIENCE, read(&mut stream, nature));
        let read = read.await.map_err(|_| other("no answer in time"))?;
        let answer = match (read, sent) {
            (Err(_), Err(error)) => return Err(error),
            (read, _) => read?,
        };
        let ends = answer.header("connection") == Some("close");
        if !answer.is_cut && !ends {
            self.open = Some(stream);
        }
        Ok(answer)
    }
}

fn other(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}

async fn read(stream: &mut BufReader<TcpStream>, nature: Nature) -> io::Result<Answer> {
    let (code, head) = loop {
        let head = head(stream).await?;
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let code: u16 = code.ok_or_else(|| other("the head tells no status"))?;
        // It says that the body is wanted, which was sent already.
        if code >= 200 {
            break (code, head);
        }
    };
    let mut answer = Answer {
        code,
        head,
        body: Vec::new(),
        is_cut: false,
    };
    if nature.is_of_head || code == 204 || code == 304 {
        return Ok(answer);
    }
    if answer.header("transfer-encoding") == Some("chunked") {
        let glances = nature.may_watch && code == 200;
        while let Some(chunk) = chunk(stream, glances).await? {
            answer.is_cut = glances;
            answer.body.extend_from_slice(&chunk);
            if glances {
                break;
            }
        }
        answer.is_cut |= glances;
        return Ok(answer);
    }
    let length = answer.header("content-length");
    match length.map(str::parse::<usize>) {
        Some(Ok(length)) => {
            answer.body.resize(length, 0);
            stream.read_exact(&mut answer.body).await?;
        }
        Some(Err(_)) => return Err(other("the head tells no length")),
        None => {
            stream.read_to_end(&mut answer.body).await?;
            answer.is_cut = true;
        }
    }
    Ok(answer)
}

async fn head(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let read = stream.read_until(b'\n', &mut head).await?;
        if read == 0 {
            return Err(other("the connection ended before an answer"));
        }
        if head.len() > HEAD_MAX {
            return Err(other("the head has no end"));
        }
    }
    Ok(String::from_utf8_lossy(&head).to_lowercase())
}

/// The next chunk; `None` behind the last one, or if at a glance there is none.
async fn chunk(stream: &mut BufReader<TcpStream>, glances: bool) -> io::Result<Option<Vec<u8>>> {
    let mut line = String::new();
    let first = stream.read_line(&mut line);
    match glances {
        true => match timeout(GLANCE, first).await {
            Ok(read) => drop(read?),
            Err(_) => return Ok(None),
        },
        false => drop(first.await?),
    }
    let length = usize::from_str_radix(line.trim(), 16);
    let length = length.map_err(|_| other("a chunk tells no length"))?;
    let mut chunk = vec![0; length + 2];
    stream.read_exact(&mut chunk).await?;
    chunk.truncate(length);
    Ok((length > 0).then_some(chunk))
}
