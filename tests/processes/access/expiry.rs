//! Certificates that expire while their connections are open.

use std::time::Duration;

use rcgen::ExtendedKeyUsagePurpose::ClientAuth;
use synod_client::{Client, ReadOptions};

use crate::certificates::since_1970;
use crate::cluster::Cluster;
use crate::waiting::eventually;

/// For how long the certificate is valid: long enough to connect by it on a busy machine.
const VALID: Duration = Duration::from_secs(10);

/// Somebody whose certificate is renewed in time has no failed call when the old one expires: its connection is cut, and the
/// next one shows the new certificate.
// Guarantee: A-08, TM-11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_is_left_for_another_one_when_its_certificate_expires() {
    let cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates();
    let write = |until| {
        let within = (since_1970(-1), until);
        let uris = ["spiffe://synod/reader"];
        let shown = certificates.sign_within(&uris, "client-ca", within, &[ClientAuth]);
        certificates.write("short-key.pem", &shown.key);
        certificates.write("short.pem", &shown.certificate);
    };
    write(since_1970(0) + VALID);
    let client = Client::builder()
        .endpoints(vec![cluster.endpoint(1)])
        .tls(certificates.client("short"));
    let client = client.connect().await.expect("the files can be used");
    let read = async || {
        let read = client.settings(ReadOptions::linearizable()).await;
        read.expect("no call fails");
    };
    read().await;
    write(since_1970(9));
    let [_, _, port] = cluster.ports(1);
    let admin = certificates.shown("admin");
    eventually("the end of the first connection", async || {
        read().await;
        let scraped = certificates.get(port, "/metrics", Some(&admin)).await;
        let metrics = scraped.expect("metrics are served");
        let series = "synod_connections_cut_total{door=\"client\",reason=\"expired\"}";
        let cut = metrics.lines().find(|line| line.starts_with(series));
        let is_cut = cut.is_some_and(|line| !line.ends_with(" 0"));
        is_cut.then_some(()).ok_or_else(|| format!("{cut:?}"))
    })
    .await;
    read().await;
    cluster.finish().await;
}
