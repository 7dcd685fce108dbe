//! Showing it: lines, and on a terminal a table below them that is drawn again and again.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use crossterm::cursor::MoveToPreviousLine;
use crossterm::style::Stylize as _;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, size};
use crossterm::{QueueableCommand as _, style::Print};
use tokio::time::sleep;

use super::picture::picture;
use super::stage::Stage;
use synod_terminal::escape::printable;

/// How often is shown what has changed.
const PERIOD: Duration = Duration::from_millis(100);

/// What is on the screen.
#[derive(Debug)]
pub(crate) struct Screen {
    stage: Stage,
    /// How many lines of a table are to be drawn over; `None` where there is no terminal.
    table: Option<u16>,
}

impl Screen {
    /// A table if somebody looks, else lines alone. With `plain`, lines in any case.
    pub(crate) fn new(stage: Stage, plain: bool) -> Self {
        let terminal = io::stdout().is_terminal() && !plain;
        Self {
            stage,
            table: terminal.then_some(0),
        }
    }

    /// Shows what changes, for as long as it is polled. Nothing is lost when it is dropped between two frames: the next
    /// one shows it.
    pub(crate) async fn show(&mut self) {
        loop {
            // If nobody can see it any more, the demo goes on all the same: its check counts.
            let _ = self.draw();
            sleep(PERIOD).await;
        }
    }

    /// Shows what has not been shown yet, and leaves the table as it is for good.
    pub(crate) fn finish(&mut self) {
        let _ = self.draw();
        self.table = self.table.map(|_| 0);
    }

    fn draw(&mut self) -> io::Result<()> {
        // What others say stands in both: each line stays one.
        let (lines, shown) = self.stage.next_frame();
        let one_line = |line: &String| printable(line);
        let lines: Vec<String> = lines.iter().map(one_line).collect();
        let table: Vec<String> = picture(&shown).iter().map(one_line).collect();
        let mut out = io::stdout().lock();
        let Some(drawn) = self.table else {
            for line in &lines {
                writeln!(out, "{line}")?;
            }
            return out.flush();
        };
        let size = size().unwrap_or((80, 24));
        let (frame, height) = frame(drawn, &lines, &table, size)?;
        out.write_all(&frame)?;
        self.table = Some(height);
        out.flush()
    }
}

/// What draws the lines and a table below them, over the `drawn` lines of the last one, on a terminal of this size; and
/// how many lines the next one is to be drawn over.
fn frame(
    drawn: u16,
    lines: &[String],
    table: &[String],
    (columns, rows): (u16, u16),
) -> io::Result<(Vec<u8>, u16)> {
    let mut frame = Vec::new();
    // Where the terminal can, it shows the frame at once: no line flickers.
    frame.queue(BeginSynchronizedUpdate)?;
    if drawn > 0 {
        frame.queue(MoveToPreviousLine(drawn))?;
    }
    frame.queue(Clear(ClearType::FromCursorDown))?;
    for line in lines {
        frame.queue(Print(cut(line, columns)))?.queue(Print("\n"))?;
    }
    // A table that is longer than the terminal could not be drawn over.
    let fitting = table.iter().take(usize::from(rows).saturating_sub(2));
    let mut height = 1;
    frame.queue(Print("\n"))?;
    for (place, line) in fitting.enumerate() {
        let line = cut(line, columns);
        match place {
            0 => frame.queue(Print(line.bold()))?,
            _ if line.contains("NO") => frame.queue(Print(line.yellow()))?,
            _ => frame.queue(Print(line))?,
        };
        frame.queue(Print("\n"))?;
        height += 1;
    }
    frame.queue(EndSynchronizedUpdate)?;
    Ok((frame, height))
}

/// As much of a line as the terminal has columns: one that is longer would wrap, and count as two.
fn cut(line: &str, columns: u16) -> String {
    line.chars()
        .take(usize::from(columns).saturating_sub(1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_table_is_drawn_over_the_one_before_and_never_wraps() {
        let table = texts(&["head", "a row that is far too long", "third", "fourth"]);
        let draw = |drawn| {
            let (bytes, height) = frame(drawn, &texts(&["a line"]), &table, (10, 5)).unwrap();
            (String::from_utf8(bytes).unwrap(), height)
        };
        let (first, height) = draw(0);
        // An empty line and the three rows that a terminal of five lines can take.
        assert_eq!(height, 4);
        assert!(!first.contains("\u{1b}[4F"), "{first:?}");
        assert!(first.contains("a line\n\n"), "{first:?}");
        assert!(first.contains("a row tha\n"), "{first:?}");
        assert!(first.contains("third") && !first.contains("fourth"));
        let (second, _) = draw(height);
        assert!(second.contains("\u{1b}[4F"), "it moves up: {second:?}");
    }
}
