//! The terminal while it is drawn on, which is left as it was found, and the keys that are typed meanwhile.

use std::io::{self, Read as _, Write as _};

use crossterm::QueueableCommand as _;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use tokio::sync::mpsc;

/// Ctrl-C, as a terminal that interprets no keys sends it.
const INTERRUPT: u8 = 3;

/// The terminal's other screen. Dropping it brings back what was there.
pub(super) struct Screen(());

impl Screen {
    /// # Errors
    ///
    /// It is no terminal, or it does not take what is written to it.
    pub(super) fn open() -> io::Result<Self> {
        enable_raw_mode()?;
        // From here on the terminal is restored, whatever fails.
        let screen = Self(());
        let mut out = io::stdout().lock();
        out.queue(EnterAlternateScreen)?.queue(Hide)?;
        out.flush()?;
        Ok(screen)
    }

    /// Draws the lines, as many as fit.
    pub(super) fn draw(&self, lines: &[String]) -> io::Result<()> {
        // A terminal behind a serial line may not know its size.
        let size = size()
            .ok()
            .filter(|(columns, rows)| *columns > 0 && *rows > 0);
        let mut out = io::stdout().lock();
        out.write_all(&frame(lines, size.unwrap_or((80, 24)))?)?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let mut out = io::stdout().lock();
        // Nothing can be done about a terminal that is gone.
        let _ = out
            .queue(Show)
            .and_then(|out| out.queue(LeaveAlternateScreen));
        let _ = out.flush();
        let _ = disable_raw_mode();
    }
}

/// The bytes that draw the lines on a terminal of this size. A terminal that can shows them all at once, so nothing
/// flickers.
fn frame(lines: &[String], (columns, rows): (u16, u16)) -> io::Result<Vec<u8>> {
    let mut frame = Vec::new();
    frame.queue(BeginSynchronizedUpdate)?;
    for (row, line) in (0..rows).zip(lines) {
        let fitting: String = line.chars().take(usize::from(columns)).collect();
        frame.queue(MoveTo(0, row))?.queue(Print(fitting))?;
        frame.queue(Clear(ClearType::UntilNewLine))?;
    }
    frame.queue(Clear(ClearType::FromCursorDown))?;
    frame.queue(EndSynchronizedUpdate)?;
    Ok(frame)
}

/// The keys that are typed.
pub(super) struct Keys(mpsc::Receiver<u8>);

impl Keys {
    /// Reads them in a thread of its own, which ends with the process: a read from a terminal cannot be given up.
    pub(super) fn listen() -> Self {
        let (typed, keys) = mpsc::channel(16);
        std::thread::spawn(move || {
            for key in io::stdin().lock().bytes().map_while(Result::ok) {
                if typed.blocking_send(key).is_err() {
                    return;
                }
            }
        });
        Self(keys)
    }

    /// Waits until somebody wants to quit. Where no keys can be read, nobody does.
    pub(super) async fn quit(&mut self) {
        while let Some(key) = self.0.recv().await {
            if matches!(key, b'q' | b'Q' | INTERRUPT) {
                return;
            }
        }
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_never_wraps_or_scrolls() {
        let lines = ["a line that is too long", "second", "third"].map(str::to_owned);
        let drawn = String::from_utf8(frame(&lines, (6, 2)).unwrap()).unwrap();
        assert!(drawn.contains("a line\u{1b}["), "{drawn:?}");
        assert!(
            drawn.contains("second") && !drawn.contains("third"),
            "{drawn:?}"
        );
        assert!(!drawn.contains('\n'), "{drawn:?}");
    }

    #[tokio::test]
    async fn q_and_ctrl_c_quit_and_no_other_key_does() {
        for key in [b'q', INTERRUPT] {
            let (typed, keys) = mpsc::channel(16);
            let mut keys = Keys(keys);
            typed.send(b'x').await.unwrap();
            let mut quit = std::pin::pin!(keys.quit());
            assert!(futures::poll!(&mut quit).is_pending());
            typed.send(key).await.unwrap();
            quit.await;
        }
    }
}
