//! Curves as SVG, readable on light and on dark ground: both scales are logarithmic.

use std::fmt::Write as _;

use crate::axis::{Axis, Point};

/// The size of one panel, and the ground around its curves.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 34.0;
const COLUMNS: usize = 2;

const STYLE: &str = "text{font-family:sans-serif;font-size:11px;fill:#24292f}.title{font-weight:bold;font-size:12px}\
.small{fill:#57606a}.rule{stroke:#8b949e;stroke-opacity:.4}.rate{stroke:#2f81f7;fill:none;stroke-width:2}\
.cost{stroke:#db6d28;fill:none;stroke-width:2}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b3}}";

/// What a curve shows of a point, as a ratio to the first.
type Ratio = fn(&Point) -> f64;

const CURVES: [(&str, Ratio); 2] = [
    ("rate", |point| point.per_second),
    ("cost", |point| point.cpu_micros),
];

/// A panel for each axis, as the text of a file.
pub(crate) fn svg(axes: &[Axis]) -> String {
    let rows = axes.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS as f64 * WIDTH, rows as f64 * HEIGHT + 24.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>How costs grow</title>\n<style>{STYLE}</style>\n\
         <text class=\"small\" x=\"8\" y=\"16\">blue: the rate; orange: the servers' processor time for each call; \
         both as ratios to the first point, on logarithmic scales</text>\n"
    );
    for (number, axis) in axes.iter().enumerate() {
        let (column, row) = (number % COLUMNS, number / COLUMNS);
        let (x, y) = (column as f64 * WIDTH, row as f64 * HEIGHT + 24.0);
        let _ = writeln!(text, "<g transform=\"translate({x} {y})\">");
        panel(&mut text, axis);
        text += "</g>\n";
    }
    text + "</svg>\n"
}

fn panel(text: &mut String, axis: &Axis) {
    let (first, last) = (axis.points[0], axis.points[axis.points.len() - 1]);
    let ratios = |ratio: Ratio| {
        let points = axis.points.iter();
        points.map(move |point| (point.at as f64, ratio(point) / ratio(&first)))
    };
    let all = CURVES.iter().flat_map(|(_, ratio)| ratios(*ratio));
    let far = all.map(|(_, ratio)| ratio.log2().abs()).fold(1.0, f64::max);
    // The ratio 1 is in the middle, and both ends are whole powers of two.
    let far = far.ceil();
    let (from, to) = (first.at as f64, last.at as f64);
    let x = |at: f64| {
        let part = (at / from).log2() / (to / from).log2().max(f64::MIN_POSITIVE);
        LEFT + part * (WIDTH - LEFT - RIGHT)
    };
    let y = |ratio: f64| {
        let part = (far - ratio.log2()) / (2.0 * far);
        TOP + part * (HEIGHT - TOP - BOTTOM)
    };
    let _ = writeln!(
        text,
        "<text class=\"title\" x=\"8\" y=\"16\">{}</text><text class=\"small\" x=\"8\" y=\"32\">{}</text>",
        axis.name, axis.call
    );
    for ratio in [far.exp2(), 1.0, (-far).exp2()] {
        let _ = writeln!(
            text,
            "<line class=\"rule\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/>\
             <text class=\"small\" x=\"8\" y=\"{2:.1}\">{ratio}</text>",
            WIDTH - RIGHT,
            y(ratio),
            y(ratio) + 4.0
        );
    }
    for point in &axis.points {
        let _ = writeln!(
            text,
            "<text class=\"small\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x(point.at as f64),
            HEIGHT - BOTTOM + 20.0,
            short(point.at)
        );
    }
    for (class, ratio) in CURVES {
        let places = ratios(ratio).map(|(at, ratio)| format!("{:.1},{:.1}", x(at), y(ratio)));
        let places: Vec<String> = places.collect();
        let _ = writeln!(
            text,
            "<polyline class=\"{class}\" points=\"{}\"/>",
            places.join(" ")
        );
    }
}

/// A number in few signs.
fn short(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}
