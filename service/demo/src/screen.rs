//! Prints the lines of the demo, and on a terminal a table below them that is redrawn.

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

/// How often the screen is redrawn.
const PERIOD: Duration = Duration::from_millis(100);

/// The output on the screen.
#[derive(Debug)]
pub(crate) struct Screen {
    stage: Stage,
    /// The number of lines of the table to draw over; `None` without a terminal.
    table: Option<u16>,
}

impl Screen {
    /// Draws a table on a terminal, else prints lines only. With `plain` it prints lines only in any case.
    pub(crate) fn new(stage: Stage, plain: bool) -> Self {
        let terminal = io::stdout().is_terminal() && !plain;
        Self {
            stage,
            table: terminal.then_some(0),
        }
    }

    /// Shows changes, for as long as it is polled. Nothing is lost when it is dropped between two frames: the next
    /// frame shows it.
    pub(crate) async fn show(&mut self) {
        loop {
            // If standard output is gone, the demo goes on all the same: its check counts.
            let _ = self.draw();
            sleep(PERIOD).await;
        }
    }

    /// Shows what has not been shown yet, and leaves the table as it is.
    pub(crate) fn finish(&mut self) {
        let _ = self.draw();
        self.table = self.table.map(|_| 0);
    }

    fn draw(&mut self) -> io::Result<()> {
        // Lines and cells hold texts of others, which must not break a line.
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

/// The bytes that draw the lines and a table below them, over the `drawn` lines of the last table, on a terminal of
/// this size; and the number of lines that the next frame is drawn over.
fn frame(
    drawn: u16,
    lines: &[String],
    table: &[String],
    (columns, rows): (u16, u16),
) -> io::Result<(Vec<u8>, u16)> {
    let mut frame = Vec::new();
    // A terminal that can shows the frame all at once, so that nothing flickers.
    frame.queue(BeginSynchronizedUpdate)?;
    if drawn > 0 {
        frame.queue(MoveToPreviousLine(drawn))?;
    }
    frame.queue(Clear(ClearType::FromCursorDown))?;
    for line in lines {
        frame.queue(Print(cut(line, columns)))?.queue(Print("\n"))?;
    }
    // A table longer than the terminal could not be drawn over.
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

/// The part of a line that fits the terminal: a longer line would wrap, and count as two.
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
