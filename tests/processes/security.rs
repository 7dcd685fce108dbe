//! Transport security: who is let in, and certificates that are replaced while everybody is at work.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rcgen::ExtendedKeyUsagePurpose::ServerAuth;
use rustls::version::{TLS12, TLS13};
use synod_client::{AlarmKind, Client, ClientTls, KeyPair, Pem, ReadOptions, SettingsPatch};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::RwLock;

use crate::certificates::{Certificates, Shown};
use crate::cluster::{Cluster, IDS};
use crate::waiting::{LIMIT, eventually, within};

/// The time for calls that must fail.
const SHORT: Duration = Duration::from_secs(2);

/// The ports of a replica, with the CA of its certificate, the CA of those who come in, and who may.
const PORTS: [(&str, &str, &str); 2] = [
    ("server-ca", "client-ca", "admin"),
    ("peer-ca", "peer-ca", "peer"),
];

// Guarantee: N-01, TM-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_shows_no_good_certificate_is_let_in_nowhere() {
    let cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates();
    let follower = cluster.follower().await;
    let [client, peer, _] = cluster.ports(follower);
    let mut refused = 0;
    for (port, (of_port, of_callers, good)) in [client, peer].into_iter().zip(PORTS) {
        let greeted = async |shown: Option<&Shown>| {
            certificates.greeted(port, of_port, shown, &[&TLS13]).await
        };
        let good = certificates.shown(good);
        greeted(Some(&good)).await.expect("its certificate is good");
        let bad = certificates.bad(of_callers);
        for (what, shown) in &bad {
            let answer = greeted(Some(shown)).await;
            assert!(answer.is_err(), "one {what} is let in at {port}");
        }
        assert!(
            greeted(None).await.is_err(),
            "one without is let in at {port}"
        );
        let old = certificates
            .greeted(port, of_port, Some(&good), &[&TLS12])
            .await;
        assert!(old.is_err(), "TLS 1.2 is spoken at {port}");
        assert_eq!(in_the_clear(port).await, 0, "{port} speaks in the clear");
        refused += bad.len() + 3;
    }
    let metrics = metrics(&cluster, follower).await;
    let counted: f64 = ["client", "peer"]
        .map(|door| {
            value(
                &metrics,
                &format!("synod_failed_handshakes_total{{door=\"{door}\"}}"),
            )
        })
        .iter()
        .sum();
    assert!(
        counted >= refused as f64,
        "{counted} of {refused} are counted"
    );
    eventually("a line of the log", async || {
        let told = cluster.log(follower).contains("failed_handshakes=");
        told.then_some(())
            .ok_or_else(|| "nothing is told".to_owned())
    })
    .await;
    cluster.finish().await;
}

/// How many bytes a port sends to a client without transport security.
async fn in_the_clear(port: SocketAddr) -> usize {
    let mut stream = TcpStream::connect(port).await.expect("somebody listens");
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(preface).await.expect("it is sent");
    let mut answer = Vec::new();
    let _ = within("the end of the connection", stream.read_to_end(&mut answer)).await;
    // It may be told in the clear that this is no TLS, by an alert of 7 bytes.
    answer.len().saturating_sub(7)
}

// Guarantee: N-02, TM-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_speaks_to_nobody_who_is_not_the_replica() {
    let cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates();
    let admin = certificates.admin();
    let asked = async |tls: Option<ClientTls>, limit: Duration| {
        let mut builder = Client::builder().endpoints(vec![cluster.endpoint(1)]);
        if let Some(tls) = tls {
            builder = builder.tls(tls);
        }
        let client = builder
            .request_timeout(limit)
            .connect()
            .await
            .expect("the files can be used");
        let read = client.settings(ReadOptions::linearizable()).await;
        read.map(drop).map_err(|error| error.to_string())
    };
    asked(Some(admin.clone()), LIMIT)
        .await
        .expect("it is served");
    let other_name = ClientTls {
        server_name: Some("elsewhere".to_owned()),
        ..admin.clone()
    };
    let other_ca = ClientTls {
        trusted_ca: Pem::File(certificates.file("client-ca.pem")),
        ..admin.clone()
    };
    let nobody = ClientTls { own: None, ..admin };
    // These fail at their limits. On a busy machine no try may come as far as its fault within one.
    for (what, tls, told) in [
        (
            "it is for another host",
            other_name,
            "certificate not valid for name",
        ),
        ("another CA has signed it", other_ca, "UnknownIssuer"),
        ("it shows nothing", nobody, "CertificateRequired"),
    ] {
        eventually(what, async || {
            let fault = asked(Some(tls.clone()), SHORT).await.expect_err(what);
            fault.contains(told).then_some(()).ok_or(fault)
        })
        .await;
    }
    asked(None, SHORT)
        .await
        .expect_err("it speaks in the clear");
    cluster.finish().await;
}

// Guarantee: N-04, TM-35
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_used_keeps_the_old_one_and_raises_an_alarm() {
    let cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates();
    let good = certificates.read("server.pem");
    // The key is not that of this certificate.
    certificates.write("server.pem", &certificates.read("peer.pem"));
    let alarmed = async |is_expected: bool| {
        eventually("the alarm of every replica, or its end", async || {
            for id in IDS {
                let status = cluster.status(id).await?;
                let mut alarms = status.alarms.iter();
                let alarm = alarms.find(|alarm| alarm.kind == AlarmKind::Certificate);
                match alarm {
                    Some(alarm) if !is_expected => return Err(alarm.message.clone()),
                    None if is_expected => return Err(format!("replica {id} has no alarm")),
                    Some(alarm) => {
                        assert!(alarm.message.contains("server.pem"), "{}", alarm.message);
                        assert_eq!(alarm.replica_id, Some(id));
                    }
                    None => {}
                }
            }
            Ok(())
        })
        .await;
    };
    alarmed(true).await;
    for id in IDS {
        cluster.serving(id).await;
        let metrics = metrics(&cluster, id).await;
        let series = "synod_certificates_not_renewed_total{side=\"client\"}";
        assert_eq!(value(&metrics, series), 1.0);
    }
    certificates.write("server.pem", &good);
    alarmed(false).await;
    // A certificate that ends soon is told, too.
    let ending = certificates.sign("server-ca", (-90, 1), &[ServerAuth]);
    certificates.write("server-key.pem", &ending.key);
    certificates.write("server.pem", &ending.certificate);
    eventually("the alarm that it expires", async || {
        let status = cluster.status(1).await?;
        let messages: Vec<_> = status
            .alarms
            .into_iter()
            .map(|alarm| alarm.message)
            .collect();
        let told = messages
            .iter()
            .any(|message| message.contains("expires in 2"));
        told.then_some(()).ok_or_else(|| messages.join("; "))
    })
    .await;
    cluster.finish().await;
}

// Guarantee: N-06, TM-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ca_of_both_sides_is_refused_at_the_start_and_later() {
    let mut cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates().clone();
    let good = certificates.read("peer-ca.pem");
    let both = [good.clone(), certificates.read("client-ca.pem")].concat();
    certificates.write("peer-ca.pem", &both);
    eventually("the alarm", async || {
        let status = cluster.status(1).await?;
        let mut alarms = status.alarms.iter();
        let told = alarms.any(|alarm| {
            alarm.kind == AlarmKind::Certificate
                && ["peer-ca.pem", "client-ca.pem"]
                    .iter()
                    .all(|name| alarm.message.contains(name))
        });
        told.then_some(())
            .ok_or_else(|| format!("{:?}", status.alarms))
    })
    .await;
    let admin = certificates.shown("admin");
    let [_, peer, _] = cluster.ports(1);
    let let_in = certificates
        .greeted(peer, "peer-ca", Some(&admin), &[&TLS13])
        .await;
    assert!(let_in.is_err(), "a client is let in as a replica");
    let follower = cluster.follower().await;
    assert!(cluster.terminate(follower).await.success());
    cluster.launch(follower);
    let (status, log) = cluster.ended(follower).await;
    assert!(
        !status.success() && log.contains("peer-ca.pem has a CA that"),
        "{log}"
    );
    certificates.write("peer-ca.pem", &good);
    cluster.restart(follower).await;
    cluster.finish().await;
}

/// Clients that work while certificates are replaced.
struct Load {
    over: Arc<AtomicBool>,
    served: Arc<AtomicUsize>,
    /// Locked for writing while several files are replaced that belong together.
    files: Arc<RwLock<()>>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    /// One client that stays, and one that is made anew for each call.
    async fn start(cluster: &Cluster) -> Self {
        let over = Arc::<AtomicBool>::default();
        let served = Arc::<AtomicUsize>::default();
        let files = Arc::<RwLock<()>>::default();
        let staying = cluster.client().await;
        let builder = cluster.builder(cluster.endpoints());
        let tasks = [Some(staying), None].map(|staying| {
            let (over, served) = (Arc::clone(&over), Arc::clone(&served));
            let (files, builder) = (Arc::clone(&files), builder.clone());
            tokio::spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    let client = match &staying {
                        Some(client) => client.clone(),
                        None => {
                            let _unchanged = files.read().await;
                            let client = builder.clone().connect().await;
                            let client = client.expect("its files can be used");
                            client.status().await.expect("a new client is served");
                            client
                        }
                    };
                    let patch = SettingsPatch {
                        members_max: Some(1_000),
                        ..SettingsPatch::default()
                    };
                    let changed = client.update_settings(patch, None).await;
                    changed.expect("a call is served");
                    served.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        Self {
            over,
            served,
            files,
            tasks: tasks.into(),
        }
    }

    async fn end(self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        for task in self.tasks {
            within("the end of a client", task)
                .await
                .expect("no call failed");
        }
        self.served.load(Ordering::Relaxed)
    }
}

// Guarantee: N-03, TM-40
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_and_cas_are_replaced_under_load_without_a_failed_call() {
    let mut cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates().clone();
    let former = certificates.shown("admin");
    let load = Load::start(&cluster).await;
    let mut renewals = 0.0;
    let mut taken = async |cluster: &Cluster| {
        renewals += 1.0;
        renewed(cluster, renewals).await;
    };
    {
        let _changing = load.files.write().await;
        certificates.renew();
    }
    taken(&cluster).await;
    // New CAs are trusted beside the old ones, then sign all certificates, and are then trusted alone.
    let new = Certificates::make(&certificates.file("new"));
    for authority in ["server-ca.pem", "client-ca.pem", "peer-ca.pem"] {
        let both = [certificates.read(authority), new.read(authority)].concat();
        certificates.write(authority, &both);
    }
    taken(&cluster).await;
    {
        let _changing = load.files.write().await;
        for name in ["server", "peer", "admin"] {
            let Shown { certificate, key } = new.shown(name);
            certificates.write(&format!("{name}-key.pem"), &key);
            certificates.write(&format!("{name}.pem"), &certificate);
        }
    }
    taken(&cluster).await;
    for authority in ["server-ca.pem", "client-ca.pem", "peer-ca.pem"] {
        certificates.write(authority, &new.read(authority));
    }
    taken(&cluster).await;
    let [port, ..] = cluster.ports(1);
    let refused = certificates
        .greeted(port, "server-ca", Some(&former), &[&TLS13])
        .await;
    assert!(refused.is_err(), "the former CA is still trusted");
    // Whoever connects anew goes by the new files alone: replicas among themselves, and the client that stays.
    for id in IDS {
        assert!(cluster.terminate(id).await.success());
        cluster.restart(id).await;
    }
    let served = load.end().await;
    eprintln!("{served} calls while all certificates and CAs were replaced");
    cluster.finish().await;
}

/// Waits until every replica has taken new files into use so many times, on both sides.
async fn renewed(cluster: &Cluster, times: f64) {
    for id in IDS {
        eventually("the use of new certificates", async || {
            let metrics = metrics(cluster, id).await;
            let seen = ["client", "peer"].map(|side| {
                let series = format!("synod_certificates_renewed_total{{side=\"{side}\"}}");
                value(&metrics, &series)
            });
            let all = seen.iter().all(|seen| *seen >= times);
            all.then_some(())
                .ok_or_else(|| format!("{seen:?} of {times}"))
        })
        .await;
    }
}

// Guarantee: N-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_reached_nobody_goes_to_the_next_replica() {
    let cluster = Cluster::start_secured().await;
    // It accepts connections, and says nothing.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let silent = silent.expect("there is a port");
    let nobody = silent.local_addr().expect("it listens").to_string();
    let mut asked = 0;
    // A client begins with a random endpoint.
    for _ in 0..8 {
        let builder = cluster.builder(vec![nobody.clone(), cluster.endpoint(1)]);
        let client = builder
            .sessions(false)
            .connect_timeout(Duration::from_millis(300))
            .connect()
            .await
            .expect("the files can be used");
        let patch = SettingsPatch {
            members_max: Some(1_000),
            ..SettingsPatch::default()
        };
        let changed = client.update_settings(patch, None).await;
        changed.expect("it is known that the first one did not get it");
        while tokio::time::timeout(Duration::ZERO, silent.accept())
            .await
            .is_ok()
        {
            asked += 1;
        }
    }
    assert!(asked > 0, "nobody began with the silent one");
    cluster.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_may_be_given_as_bytes() {
    let cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates();
    let bytes = |text: &str| Pem::Bytes(text.as_bytes().into());
    let Shown { certificate, key } = certificates.shown("admin");
    let tls = ClientTls {
        trusted_ca: bytes(&certificates.read("server-ca.pem")),
        own: Some(KeyPair {
            certificate: bytes(&certificate),
            key: bytes(&key),
        }),
        server_name: Some("127.0.0.1".to_owned()),
    };
    assert!(!format!("{tls:?}").contains("BEGIN"), "it shows the key");
    let endpoint = format!("https://{}", cluster.endpoint(2));
    let client = Client::builder().endpoints(vec![endpoint]).tls(tls);
    let client = client.connect().await.expect("it can be used");
    client.status().await.expect("it is served");
    cluster.finish().await;
}

// Guarantee: N-10, TM-08
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probes_are_answered_to_everybody_and_metrics_to_who_shows_a_certificate() {
    let mut cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates().clone();
    let [_, _, port] = cluster.ports(1);
    let ask = async |path: &str, shown: Option<&Shown>| {
        let answer = certificates.get(port, path, shown).await;
        answer.expect("the port is served")
    };
    assert!(ask("/livez", None).await.starts_with("HTTP/1.1 200"));
    let ready = async || {
        let answer = ask("/readyz?verbose", None).await;
        let is_ready = answer.starts_with("HTTP/1.1 200") && answer.contains("[+]quorum ok");
        is_ready.then_some(()).ok_or(answer)
    };
    eventually("a replica that is ready", ready).await;
    assert!(ask("/metrics", None).await.starts_with("HTTP/1.1 403"));
    let admin = certificates.shown("admin");
    assert!(
        ask("/metrics", Some(&admin))
            .await
            .starts_with("HTTP/1.1 200")
    );
    let peer = certificates.shown("peer");
    let of_another_ca = certificates.get(port, "/livez", Some(&peer)).await;
    assert!(!of_another_ca.is_ok_and(|answer| answer.contains("200")));
    // Alone it lives, and is not ready.
    cluster.kill(2).await;
    cluster.kill(3).await;
    eventually("a replica that is not ready", async || {
        let answer = ask("/readyz", None).await;
        let is_told = answer.starts_with("HTTP/1.1 503") && answer.contains("[-]quorum failed");
        is_told.then_some(()).ok_or(answer)
    })
    .await;
    assert!(
        ask("/livez?verbose", None)
            .await
            .starts_with("HTTP/1.1 200")
    );
    cluster.restart(2).await;
    cluster.restart(3).await;
    eventually("a replica that is ready again", ready).await;
    cluster.finish().await;
}

/// The metrics of a replica behind transport security.
pub(crate) async fn metrics(cluster: &Cluster, id: u64) -> String {
    let [_, _, port] = cluster.ports(id);
    let certificates = cluster.certificates();
    let admin = certificates.shown("admin");
    let scraped = certificates.get(port, "/metrics", Some(&admin)).await;
    scraped.expect("metrics are served")
}

/// The value of a series.
pub(crate) fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series));
    let line = line.unwrap_or_else(|| panic!("no {series}"));
    line.trim().parse().expect("it is a number")
}
