//! Holds what a replica spends on a change besides what `tests/costs` counts: to take its command through the queue of its
//! lane, to pack it into an entry, to answer it, to encode its events once, and to give them to one more watcher.
//!
//! `UPDATE_GOLDEN=1 cargo test -p synod-server --lib costs` records it in `costs.txt`. A commit that raises one says why.

#[path = "../../../tests/costs/counted.rs"]
mod counted;
#[path = "../../../tests/bench/apply/workload.rs"]
#[expect(dead_code, reason = "tests/costs counts what it costs to read")]
mod workload;

use std::path::Path;

use synod_model::stored;

use crate::{proposer, rpc, watch};
pub(crate) use counted::Count;
use workload::Scale;

const SCALE: Scale = Scale {
    objects: 100,
    commands: 150,
    members: 30,
    large: 1,
};

fn all(count: &mut Count<'_>) {
    let mut one = None;
    workload::run(SCALE, &mut |state, kind, commands| {
        let entries = workload::entries(commands);
        let begin = state.revision();
        let mut outcomes = Vec::new();
        for entry in &entries {
            let envelopes: Vec<_> = entry.commands.iter().map(stored::to_bytes).collect();
            outcomes.extend(state.apply(entry).outcomes);
            if outcomes.len() == envelopes.len() {
                proposer::costs::pack(count, kind, &envelopes);
            }
        }
        rpc::costs::answer(count, kind, &outcomes);
        let messages = watch::costs::watch(count, kind, state, begin);
        rpc::costs::send(count, kind, &messages);
        one = one.take().or_else(|| outcomes.first().cloned());
        outcomes
    });
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    proposer::costs::lane(count, &runtime, &one.unwrap());
    watch::costs::steps(count, &runtime);
}

#[test]
fn no_path_costs_more_than_was_recorded() {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("costs.txt");
    let again = counted::ignored("costs::callgrind_counts_all_paths");
    counted::hold(&record, &counted::costs(all, &again));
}

#[test]
#[ignore = "it is run under callgrind, by the test of the costs"]
fn callgrind_counts_all_paths() {
    counted::under_callgrind(all);
}
