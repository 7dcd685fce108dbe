//! `report_retry_budget.json`: how often a report is tried.
//!
//! The budget itself, three tries a second apart, is held by
//! `gate::a_stuck_report_ends_with_an_error_and_opens_nothing`. The cases of the file need a conflict.

use synod_client::{Error, JoinOptions, Reported};

use super::suite::{self, Case};
use super::{expect, text};
use crate::cluster::{Cluster, fixed, id, within};

#[test]
fn a_report_ends_with_the_error_that_kubernetes_ends_with() {
    suite::run("report_retry_budget.json", 2, &[], |_, case| {
        let absent = text(case, "get") == "NotFound";
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let reported = runtime.block_on(contend(absent));
        let found = match reported {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.kind().to_string(),
        };
        expect(&found, error_of(case))
    });
}

/// Two servers report one resource at the same time. At first another server reports it, or with `absent` none does.
/// Returns the answer to the second, or the first's error.
async fn contend(absent: bool) -> Result<Reported, Error> {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let mut others = Vec::new();
    if !absent {
        let other = within(client.join(JoinOptions::new(id("other")))).await?;
        within(other.report(vec![fixed("pods", &["v1"], "v1")])).await?;
        others.push(other);
    }
    let first = within(client.join(JoinOptions::new(id("first")))).await?;
    let second = within(client.join(JoinOptions::new(id("second")))).await?;
    let report = || vec![fixed("pods", &["v1"], "v1")];
    let both = async { tokio::join!(first.report(report()), second.report(report())) };
    let (of_first, of_second) = within(both).await;
    of_first.and(of_second)
}

fn error_of<'a>(case: &'a Case<'_>) -> &'a str {
    text(case, "expectedError")
}
