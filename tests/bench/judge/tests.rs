//! What the judge computes from measurements, without any service.

#[path = "../peers/sample.rs"]
#[expect(dead_code, reason = "nothing is measured here")]
mod sample;
#[path = "../peers/wanted.rs"]
#[expect(dead_code, reason = "the words are the test's own")]
mod wanted;

#[path = "chart.rs"]
mod chart;
#[path = "options.rs"]
mod options;
#[path = "rows.rs"]
#[expect(dead_code, reason = "nothing is measured and printed here")]
mod rows;

use chart::{Bar, Group, svg};
use options::{Options, USAGE, What};
use rows::{Quantity, Row, Rows, count_quietest, repeats};

fn row(round: usize, service: &'static str, rate: f64, others: f64) -> Row {
    Row {
        round,
        service,
        case: "put",
        repeat: 0,
        counts: true,
        quantities: vec![(Quantity::PerSecond, rate)],
        conflicts: 0,
        failures: 0,
        failure: None,
        others,
    }
}

#[test]
fn ratios_are_taken_round_by_round() {
    let rows = Rows(vec![
        row(0, "synod", 10.0, 0.0),
        row(0, "etcd", 5.0, 0.0),
        row(1, "synod", 100.0, 0.0),
        row(2, "synod", 30.0, 0.0),
        row(2, "etcd", 10.0, 0.0),
        row(3, "synod", 4.0, 0.0),
        row(3, "etcd", 4.0, 0.0),
    ]);
    let ratio = rows
        .ratio("put", "synod", "etcd", Quantity::PerSecond)
        .unwrap();
    // Round 1 has no other one.
    assert_eq!(
        (ratio.least(), ratio.median(), ratio.most()),
        (1.0, 2.0, 3.0)
    );
    let rates = rows.sample("put", "synod", Quantity::PerSecond).unwrap();
    assert_eq!((rates.least(), rates.most()), (4.0, 100.0));
}

#[test]
fn what_was_not_measured_has_no_ratio() {
    let rows = Rows(vec![row(0, "synod", 1.0, 0.0), row(0, "etcd", 0.0, 0.0)]);
    let ratio = |other, quantity| rows.ratio("put", "synod", other, quantity);
    assert!(ratio("etcd", Quantity::PerSecond).is_none());
    assert!(ratio("zookeeper", Quantity::PerSecond).is_none());
    assert!(ratio("synod", Quantity::Memory).is_none());
    assert!(rows.sample("get", "synod", Quantity::PerSecond).is_none());
}

#[test]
fn a_loud_case_is_repeated_three_times_and_the_quietest_counts() {
    let attempt = |others| Row {
        counts: false,
        ..row(0, "synod", others, others)
    };
    let mut attempts = Vec::new();
    for others in [0.5, 0.2, 0.06, 0.3] {
        assert!(repeats(&attempts));
        attempts.push(attempt(others));
    }
    assert!(!repeats(&attempts));
    count_quietest(&mut attempts);
    let counted: Vec<bool> = attempts.iter().map(|row| row.counts).collect();
    assert_eq!(counted, [false, false, true, false]);
    assert!(attempts[2].is_loud());
    attempts[2].quantities.clear();
    count_quietest(&mut attempts);
    assert!(
        attempts[1].counts,
        "what was not measured stands for nothing"
    );
    assert!(!repeats(&[attempt(0.05)]), "a quiet one is not repeated");
}

#[test]
fn only_what_counts_is_compared() {
    let spoilt = Row {
        counts: false,
        ..row(0, "synod", 1.0, 0.9)
    };
    let rows = Rows(vec![spoilt, row(0, "synod", 8.0, 0.0)]);
    let rates = rows.sample("put", "synod", Quantity::PerSecond).unwrap();
    assert_eq!((rates.least(), rates.most()), (8.0, 8.0));
    assert_eq!(rows.counted("put", "synod").count(), 1);
}

#[test]
fn the_median_of_an_even_number_is_between_the_middle_ones() {
    let median = |rates: &[f64]| {
        let rows = rates.iter().map(|rate| row(0, "synod", *rate, 0.0));
        let rows = Rows(rows.collect());
        let sample = rows.sample("put", "synod", Quantity::PerSecond);
        sample.map(|sample| sample.median())
    };
    assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), Some(3.0));
    assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[]), None);
}

fn options(line: &str) -> Result<Options, String> {
    let words = line.split_whitespace().map(str::to_owned);
    Options::parse(words, &["synod", "etcd"])
}

#[test]
fn options_have_defaults_and_words_select_cases() {
    let options = options("--bench").unwrap();
    assert_eq!((options.rounds, options.span.as_secs()), (5, 3));
    assert!(options.out.is_none() && options.services.is_empty() && options.what == What::Cases);
    assert!(options.has_service("etcd", true) && options.cases.has("put, 1 client"));
    let line = "--rounds 2 --seconds 0.5 put --services synod,etcd --out docs/bench watch";
    let options = self::options(line).unwrap();
    assert_eq!((options.rounds, options.span.as_millis()), (2, 500));
    assert_eq!(options.out.as_deref(), Some("docs/bench"));
    assert!(options.has_service("etcd", true) && !options.has_service("etcd-3.5", true));
    assert!(!options.has_service("etcd-tls", false));
    assert!(options.cases.has("put, 1 client") && options.cases.has("watch, 1,000"));
    assert!(!options.cases.has("get, 1 client"));
}

#[test]
fn starts_and_reports_are_measured_if_that_is_asked() {
    let starts = options("--keys 1000000 --services synod").unwrap();
    assert_eq!(starts.what, What::Starts(1_000_000));
    let reports = options("--reports --rounds 3").unwrap();
    assert_eq!((reports.what, reports.rounds), (What::Reports, 3));
}

#[test]
fn what_is_no_option_is_named() {
    let fault = |line| options(line).err().unwrap_or_default();
    assert_eq!(fault("--round 3"), "there is no --round");
    assert_eq!(fault("--rounds"), "--rounds needs a value");
    assert_eq!(fault("--rounds many"), "`many` is no number here");
    assert_eq!(fault("--rounds 0"), "at least one round is measured");
    assert!(!fault("--seconds -1").is_empty());
    assert_eq!(
        fault("--services etcd,consul"),
        "there is no service `consul`; there are synod, etcd"
    );
    assert!(USAGE.contains("--services"));
}

#[test]
fn bars_fill_the_width_by_their_share_of_the_longest() {
    let bar = |name: &str, colour, value| Bar {
        name: name.to_owned(),
        colour,
        value,
        label: format!("{value} & ratio"),
    };
    let group = Group {
        title: "put <1>".to_owned(),
        bars: vec![
            bar("synod", 0, 50.0),
            bar("etcd", 2, 100.0),
            bar("none", 1, 0.0),
        ],
    };
    let text = svg("writes", "medians", &[group]);
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert!(text.contains("put &lt;1&gt;") && text.contains("50 &amp; ratio"));
    let widths: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("<rect ")?.split("width=\"").nth(1))
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(widths, ["230.0", "460.0", "1.0"]);
    assert!(text.contains("prefers-color-scheme:dark"));
}
