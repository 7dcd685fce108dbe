//! Horizontal bars as SVG, readable on light and on dark ground.

use std::fmt::Write as _;

const WIDTH: usize = 860;
const BARS_FROM: usize = 110;
const BAR_MAX: f64 = 460.0;
const LINE: usize = 20;
const BAR_HEIGHT: usize = 14;

/// The colours of the services, in their order: none is close to white or to black.
const COLOURS: [&str; 7] = [
    "#2f81f7", "#a371f7", "#d29922", "#db6d28", "#cf4f4f", "#3fa45b", "#8b949e",
];

/// Text has the colour of its ground's opposite.
const STYLE: &str = "text{font-family:sans-serif;font-size:12px;fill:#24292f}.title{font-weight:bold}.small{fill:#57606a}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b3}}";

pub(crate) struct Bar {
    pub(crate) name: String,
    /// The position of its colour.
    pub(crate) colour: usize,
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Bars that are drawn to one scale: the longest fills the width.
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) bars: Vec<Bar>,
}

/// The chart as the text of a file.
pub(crate) fn svg(title: &str, note: &str, groups: &[Group]) -> String {
    let lines: usize = groups.iter().map(|group| group.bars.len() + 2).sum();
    let height = (lines + 3) * LINE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<title>{0}</title>\n<style>{STYLE}</style>\n\
         <text class=\"title\" x=\"8\" y=\"{LINE}\">{0}</text>\n<text class=\"small\" x=\"8\" y=\"{1}\">{2}</text>\n",
        escaped(title),
        2 * LINE,
        escaped(note),
    );
    let mut y = 3 * LINE;
    for group in groups {
        y += LINE;
        line(&mut text, "title", 8, y, &group.title);
        let longest = group.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        for bar in &group.bars {
            y += LINE;
            draw(&mut text, y, bar, longest);
        }
        y += LINE;
    }
    text + "</svg>\n"
}

fn draw(text: &mut String, y: usize, bar: &Bar, longest: f64) {
    let share = if longest > 0.0 {
        bar.value / longest
    } else {
        0.0
    };
    // Whatever is measured can be seen.
    let width = (share * BAR_MAX).max(1.0);
    line(text, "small", 16, y, &bar.name);
    let _ = writeln!(
        text,
        "<rect x=\"{BARS_FROM}\" y=\"{}\" width=\"{width:.1}\" height=\"{BAR_HEIGHT}\" fill=\"{}\"/>",
        y + 3 - BAR_HEIGHT,
        COLOURS[bar.colour % COLOURS.len()],
    );
    let _ = writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{y}\">{}</text>",
        f64::from(u16::try_from(BARS_FROM + 6).unwrap_or_default()) + width,
        escaped(&bar.label),
    );
}

fn line(text: &mut String, class: &str, x: usize, y: usize, content: &str) {
    let content = escaped(content);
    let _ = writeln!(
        text,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{content}</text>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
