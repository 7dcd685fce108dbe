//! The judge: how fast Synod is beside etcd, ZooKeeper and a service that does nothing, by their protocols alone.
//!
//! Three servers of each service run as processes with default settings, and write to disks. On a shared machine absolute
//! numbers do not repeat. So services take turns: each round starts every one afresh and alone, runs all cases and stops
//! it, and what is compared are ratios within a round. The processor time of the servers says the same with less noise.
//! Clients wait for an answer before their next call, and share 8 connections.
//!
//! Options and words after `--`: see `judge/options.rs`.

use std::process::ExitCode;
use std::time::Duration;

#[path = "../processes/certificates.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod certificates;
#[path = "../processes/process.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod waiting;

#[path = "peers/empty.rs"]
mod empty;
#[path = "peers/etcd.rs"]
mod etcd;
#[path = "peers/replicas.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest of it")]
mod replicas;
#[path = "peers/sample.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest of it")]
mod sample;
#[path = "peers/wanted.rs"]
#[expect(dead_code, reason = "the other benchmarks have no options")]
mod wanted;
#[path = "peers/zookeeper.rs"]
mod zookeeper;

#[path = "judge/audience.rs"]
mod audience;
#[path = "judge/cases.rs"]
mod cases;
#[path = "judge/chart.rs"]
mod chart;
#[path = "judge/files.rs"]
mod files;
#[path = "judge/load.rs"]
mod load;
#[path = "judge/measure.rs"]
mod measure;
#[path = "judge/options.rs"]
mod options;
#[path = "judge/reports.rs"]
mod reports;
#[path = "judge/rows.rs"]
mod rows;
#[path = "judge/secured.rs"]
mod secured;
#[path = "judge/services.rs"]
mod services;
#[path = "judge/session.rs"]
mod session;
#[path = "judge/sessions.rs"]
mod sessions;
#[path = "judge/starts.rs"]
mod starts;
#[path = "judge/table.rs"]
mod table;
#[path = "judge/usage.rs"]
mod usage;

use cases::{At, CASES, Case, Work};
use measure::{Bench, Measured};
use options::{Options, USAGE, What};
use rows::{Row, Rows, count_quietest, repeats};
use services::{Protocol, SERVICES, Servers, Service};
use session::Answered;
use sessions::{empty as to_empty, etcd as to_etcd, pipeline, unary, zookeeper as to_zookeeper};
use table::Table;

/// The service that the others' numbers are compared with, if it is measured.
const REFERENCE: &str = "etcd";

/// Puts before the first case of a round. Java compiles itself meanwhile.
const WARM_UP: Case = Case {
    name: "warm-up",
    family: "",
    work: Work::Put,
    clients: 64,
    at: At::Leader,
};
const WARM_UP_SPAN: Duration = Duration::from_secs(1);
const WARM_UP_SPAN_OF_JAVA: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [argument, address] = &words[..]
        && argument == empty::ARGUMENT
    {
        // As many threads as servers have.
        let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
        runtime.block_on(empty::serve(address.parse().expect("it is an address")));
        return ExitCode::SUCCESS;
    }
    let names = SERVICES.each_ref().map(|service| service.name);
    let options = match Options::parse(words, &names) {
        Ok(options) => options,
        Err(fault) => {
            eprintln!("{fault}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // One thread for the load, as the servers share the same cores.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    match options.what {
        What::Cases => runtime.block_on(judge(&options)),
        What::Starts(keys) => runtime.block_on(starts::measure(&options, keys)),
        What::Reports => runtime.block_on(reports::measure(&options)),
    }
    ExitCode::SUCCESS
}

async fn judge(options: &Options) {
    let (mut services, mut versions) = (Vec::new(), Vec::new());
    for service in SERVICES
        .iter()
        .filter(|it| options.has_service(it.name, !it.is_secured))
    {
        match service.version() {
            Ok(version) => {
                println!("{:<11}{version}", service.name);
                versions.push((service.name, version));
                services.push(service);
            }
            Err(fault) => println!("{:<11}{fault}", service.name),
        }
    }
    let Some(first) = services.first() else {
        println!("no service to measure");
        return;
    };
    let names: Vec<&'static str> = services.iter().map(|service| service.name).collect();
    let reference = if names.contains(&REFERENCE) {
        REFERENCE
    } else {
        first.name
    };
    let mut rows = Rows(Vec::new());
    for round in 0..options.rounds {
        for service in &services {
            run(round, service, options, &mut rows).await;
        }
        // After every round, so that a run that is broken off leaves what it has measured.
        if let Some(folder) = &options.out {
            let folder = synod_tests::checkout().join(folder);
            let table = Table::of(&rows, &names, reference);
            files::write(&folder, options, &versions, &table);
        }
    }
    println!(
        "\nmedians of {} rounds; `/name` and the numbers in brackets are ratios: to that service, and to {reference}\n",
        options.rounds
    );
    let table = Table::of(&rows, &names, reference);
    for case in CASES.iter().filter(|case| options.cases.has(case.name)) {
        println!("{}", table.text(case));
    }
}

/// All cases of one service in one round.
async fn run(round: usize, service: &'static Service, options: &Options, rows: &mut Rows) {
    let cases = CASES
        .iter()
        .filter(|case| options.cases.has(case.name) && case.work.is_known_to(service.protocol));
    let cases: Vec<&Case> = cases.collect();
    if cases.is_empty() {
        return;
    }
    let servers = service.start().await.expect("the servers can be started");
    let mut is_warm = false;
    for case in cases {
        // The memory of servers comes first, if at all, and nothing but the case is in it.
        if !is_warm && !matches!(case.work, Work::Idle | Work::Filled(_)) {
            warm_up(service.protocol, &servers).await;
            is_warm = true;
        }
        let mut attempts = Vec::new();
        while repeats(&attempts) {
            let measured = measure(service.protocol, &servers, options.span, case).await;
            let row = row(round, service, case, attempts.len(), measured);
            eprintln!(
                "round {round} {:<11}{:<34} others {:.0} %{}",
                row.service,
                row.case,
                row.others * 100.0,
                row.failure
                    .as_ref()
                    .map_or_else(String::new, |failure| format!(": {failure}")),
            );
            attempts.push(row);
        }
        count_quietest(&mut attempts);
        rows.0.extend(attempts);
    }
    servers.stop().await;
}

async fn measure(
    protocol: Protocol,
    servers: &Servers,
    span: Duration,
    case: &Case,
) -> Answered<Measured> {
    let bench = Bench { servers, span };
    match protocol {
        Protocol::Unary => bench.measure::<unary::Unary>(case).await,
        Protocol::Pipeline => bench.measure::<pipeline::Pipeline>(case).await,
        Protocol::Etcd => bench.measure::<to_etcd::Etcd>(case).await,
        Protocol::ZooKeeper => bench.measure::<to_zookeeper::ZooKeeper>(case).await,
        Protocol::Empty => bench.measure::<to_empty::Empty>(case).await,
    }
}

async fn warm_up(protocol: Protocol, servers: &Servers) {
    let span = match protocol {
        Protocol::ZooKeeper => WARM_UP_SPAN_OF_JAVA,
        // It stores nothing.
        Protocol::Empty => return,
        Protocol::Unary | Protocol::Pipeline | Protocol::Etcd => WARM_UP_SPAN,
    };
    let warm = measure(protocol, servers, span, &WARM_UP).await;
    if let Err(error) = warm {
        eprintln!("the servers did not become warm: {error}");
    }
}

fn row(
    round: usize,
    service: &Service,
    case: &Case,
    repeat: usize,
    measured: Answered<Measured>,
) -> Row {
    let measured = measured.unwrap_or_else(|error| Measured {
        quantities: Vec::new(),
        conflicts: 0,
        failures: 1,
        failure: Some(error.to_string()),
        others: 0.0,
    });
    Row {
        round,
        service: service.name,
        case: case.name,
        repeat,
        counts: false,
        quantities: measured.quantities,
        conflicts: measured.conflicts,
        failures: measured.failures,
        failure: measured.failure,
        others: measured.others,
    }
}
