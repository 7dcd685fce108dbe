//! How the cost of a call grows with what a cluster holds and with how many take part.
//!
//! Each axis is one thing that grows, on fresh replicas as processes. What is printed is the ratio to the axis's first
//! point, taken in the same run: the rate, and the servers' processor time and written bytes for each call, which other
//! processes on the machine change less. Words after `--` select axes by their names; `--out FOLDER` writes a chart and a
//! table there, `--objects N` is how far the number of objects goes.

use std::time::Duration;

#[path = "../processes/process.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod waiting;

#[path = "figures/entry.rs"]
mod entry;
#[path = "peers/replicas.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest of it")]
mod replicas;
#[path = "peers/sample.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest of it")]
mod sample;
#[path = "objects/stored.rs"]
#[expect(dead_code, reason = "the figures of objects use the rest of it")]
mod stored;
#[path = "judge/usage.rs"]
#[expect(dead_code, reason = "the judge uses the rest of it")]
mod usage;
#[path = "peers/wanted.rs"]
#[expect(dead_code, reason = "the other benchmarks have no options")]
mod wanted;

#[path = "scale/axes.rs"]
mod axes;
#[path = "scale/axis.rs"]
mod axis;
#[path = "scale/chart.rs"]
mod chart;
#[path = "scale/load.rs"]
mod load;

use axis::Axis;
use wanted::Wanted;

/// The number of objects in the end, unless another one is asked for.
const MANY: usize = 1_000_000;
/// The number of namespaces that they are in.
const NAMESPACES: usize = 10;
/// Bytes of data of each object.
const BYTES: usize = 256;

/// How long each point is measured.
const SPAN: Duration = Duration::from_secs(3);

fn main() {
    let (wanted, objects, out) = words();
    // One thread for the load, as the servers share the same cores.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let axes = runtime.block_on(measure(&wanted, objects));
    if let Some(out) = out {
        write(&out, &axes);
    }
}

/// What is asked for: which axes, how many objects, and the folder for the chart.
fn words() -> (Wanted, usize, Option<String>) {
    let (mut names, mut objects, mut out) = (Vec::new(), MANY, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--objects" => {
                let number = words.next().and_then(|word| word.parse().ok());
                objects = number.expect("--objects needs a number");
            }
            "--out" => out = Some(words.next().expect("--out needs a folder")),
            // Cargo itself passes it.
            "--bench" => {}
            _ => names.push(word),
        }
    }
    (Wanted::of(names), objects, out)
}

async fn measure(wanted: &Wanted, objects: usize) -> Vec<Axis> {
    let mut axes = Vec::new();
    let mut done = |axis: Axis| {
        print!("{}", axis.text());
        axes.push(axis);
    };
    if wanted.has(axes::OBJECTS) {
        done(axes::objects(objects).await);
    }
    if wanted.has(axes::SIZES) {
        done(axes::sizes().await);
    }
    if wanted.has(axes::MEMBERS) {
        done(axes::members().await);
    }
    if wanted.has(axes::RESOURCES) {
        done(axes::resources().await);
    }
    if wanted.has(axes::WATCHES) {
        done(axes::watches().await);
    }
    if wanted.has(axes::REPLICAS) {
        done(axes::replicas().await);
    }
    axes
}

fn write(folder: &str, axes: &[Axis]) {
    let folder = synod_tests::checkout().join(folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let text: Vec<String> = axes.iter().map(Axis::text).collect();
    let files = [
        ("scale.txt", text.join("\n")),
        ("scale.svg", chart::svg(axes)),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder can be written");
    }
}
