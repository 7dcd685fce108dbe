//! No secret is in what replicas and clients say of themselves while they log everything: data of objects, private keys,
//! passwords and tokens are planted, and looked for in each text.

use std::fs::File;
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use data_encoding::{BASE64, HEXLOWER};
use flate2::read::GzDecoder;
use prost::Message as _;
use synod_client::{
    ApiVersion, Attributes, Client, ClientTls, CollectionRules, Content, CreateCollection,
    CreateObject, Fences, GroupResource, Kind, ListObjects, MediaType, NamespacedName, ObjectKey,
    ObjectName, Preconditions, ReadOptions, TtlChange, UpdateObject,
};
use synod_proto::v1;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::raw::Raw;
use crate::cluster::{Cluster, IDS};
use crate::commands::run;
use crate::traces::collector::Collector;
use crate::waiting::eventually;

/// What must be nowhere, and what it is.
struct Plant {
    what: String,
    text: String,
}

/// Texts that something says of itself, each with where it was said.
type Told = Vec<(String, String)>;

const DATA: &str = "data-of-an-object-8f31c2";
const UPDATED: &str = "data-of-an-update-97ab04";
const PASSWORD: &str = "password-in-a-url-5d1e77";
const TOKEN: &str = "token-of-a-caller-3c90fe";

/// The private keys that the cluster and its admin use. The second line of each holds nothing but key.
const KEYS: [&str; 3] = ["server", "peer", "admin"];

// Guarantee: F-01, TM-38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_in_any_log_metric_trace_dump_or_bundle_while_everything_is_logged() {
    let collector = Collector::start().await;
    let url = collector.url();
    let traces = ["--otlp-endpoint", &url, "--trace-sampling-ratio", "1"];
    let cluster = Cluster::start_audited(&traces).await;
    let mut plants: Vec<Plant> = [
        ("the data of an object", DATA),
        ("the data of an update", UPDATED),
        ("a password in a URL", PASSWORD),
        ("the token of a caller", TOKEN),
    ]
    .map(|(what, text)| Plant {
        what: what.to_owned(),
        text: text.to_owned(),
    })
    .into();
    for name in KEYS {
        let key = cluster.certificates().read(&format!("{name}-key.pem"));
        plants.push(Plant {
            what: format!("the private key of {name}"),
            text: key.lines().nth(2).expect("a key has lines").to_owned(),
        });
    }
    let mut told = Told::new();
    log_everything(&cluster, &mut told).await;
    let client = speak(&cluster).await;
    assert!(client.contains("TRACE"), "the client logs everything");
    told.push(("the log of a client".to_owned(), client));
    speak_with_a_token(&cluster).await;
    commands(&cluster, &mut told).await;
    bundle(&cluster, &mut told).await;
    replicas(&cluster, &mut told).await;
    told.push(("the traces".to_owned(), traced(&collector).await));
    let found = leaks(&plants, &told);
    assert!(found.is_empty(), "{}", found.join("\n"));
    cluster.finish().await;
}

/// Has every replica log all that it can, by the command for it.
async fn log_everything(cluster: &Cluster, told: &mut Told) {
    let all = cluster.endpoints().join(",");
    let arguments = ["log-level", "trace", "--for", "5m", "--endpoints", &all];
    let output = command(cluster, &arguments).await;
    for id in IDS {
        let endpoint = cluster.endpoint(id);
        let row = output.lines().find(|line| line.starts_with(&endpoint));
        assert!(row.is_some_and(|row| row.contains("trace")), "{output}");
    }
    told.push(("log-level".to_owned(), output));
}

/// What a client logs that stores, changes and reads secrets at a follower, so that they go through two replicas.
#[expect(
    clippy::disallowed_methods,
    reason = "the log of a thread is caught, and no simulator runs here"
)]
async fn speak(cluster: &Cluster) -> String {
    let endpoint = cluster.endpoint(cluster.follower().await);
    let admin = cluster.certificates().admin();
    let speaking = move || {
        let lines = Lines::default();
        let log = tracing_subscriber::fmt::layer().with_writer(lines.clone());
        let everything = tracing_subscriber::registry().with(log);
        // The log of this thread alone.
        let _logging = tracing::subscriber::set_default(everything);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime
            .expect("there are threads")
            .block_on(calls(endpoint, admin));
        let bytes = lines.0.lock().expect("nobody panics with it").clone();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    tokio::task::spawn_blocking(speaking)
        .await
        .expect("it is served")
}

async fn calls(endpoint: String, admin: ClientTls) {
    let client = Client::builder().endpoints(vec![endpoint]).tls(admin);
    let client = client.connect().await.expect("the files can be used");
    let resource = GroupResource::new("example.io", "secrets").expect("it is a name");
    let create = CreateCollection {
        resource: resource.clone(),
        kind: Kind::parse("Secret").expect("it is a kind"),
        namespaced: false,
        rules: CollectionRules::default(),
    };
    client
        .collections()
        .create(create)
        .await
        .expect("it is new");
    let name = ObjectName::parse("one").expect("it is a name");
    let key = ObjectKey {
        resource: resource.clone(),
        name: NamespacedName::new(None, &name),
    };
    let content = |text: &str| Content {
        encoding: ApiVersion::parse("example.io/v1").expect("it is a version"),
        media_type: MediaType::JSON,
        data: format!(r#"{{"secret":"{text}"}}"#).into_bytes().into(),
    };
    let create = CreateObject {
        key: key.clone(),
        attributes: Attributes::default(),
        content: content(DATA),
        ttl: None,
        fences: Fences::default(),
    };
    let objects = client.raw_objects();
    let created = objects.create(create.clone()).await.expect("it is new");
    objects.create(create).await.expect_err("it is there");
    let update = UpdateObject {
        key: key.clone(),
        attributes: Attributes::default(),
        content: content(UPDATED),
        ttl: TtlChange::Keep,
        preconditions: Preconditions {
            uid: None,
            resource_version: Some(created.result.resource_version),
        },
        fences: Fences::default(),
    };
    objects.update(update).await.expect("it is there");
    let read = objects.get(&key, ReadOptions::linearizable()).await;
    let data = read.expect("it is there").object.content.data;
    assert!(
        data.windows(UPDATED.len())
            .any(|part| part == UPDATED.as_bytes())
    );
    let list = ListObjects::new(resource);
    objects.list(&list).all().await.expect("they can be listed");
    client.close().await.expect("the session ends");
}

/// Calls a replica with a token, which it does not ask for.
async fn speak_with_a_token(cluster: &Cluster) {
    let [port, ..] = cluster.ports(cluster.follower().await);
    let shown = cluster.certificates().shown("admin");
    let raw = Raw::connect(cluster.certificates(), port, &shown).await;
    let request = v1::ClusterGetSettingsRequest { read: None };
    let method = "synod.v1.Cluster/GetSettings";
    let header = format!("Bearer {TOKEN}");
    let _ = raw
        .unary_as(method, request.encode_to_vec().into(), &header)
        .await;
}

/// What commands print that dump what there is, and that are given secrets by mistake.
async fn commands(cluster: &Cluster, told: &mut Told) {
    let all = cluster.endpoints().join(",");
    for words in [
        &["status"][..],
        &["settings"],
        &["members"],
        &["collections", "list"],
    ] {
        let arguments = [words, &["-o", "json", "--endpoints", &all]].concat();
        told.push((words.join(" "), command(cluster, &arguments).await));
    }
    let doctor = ["doctor", "-o", "json", "--endpoints", &all];
    // It may end with a fault on a machine that has much else to do.
    told.push((
        "doctor".to_owned(),
        text(&run(&shown(cluster, &doctor)).await),
    ));
    let top = ["top", "--once", "--endpoints", &all];
    told.push(("top".to_owned(), command(cluster, &top).await));
    let url = format!("https://me:{PASSWORD}@127.0.0.1:1");
    let key = cluster
        .certificates()
        .file("admin-key.pem")
        .display()
        .to_string();
    for mistaken in [["--endpoints", &url], ["--cacert", &key]] {
        let output = run(&[&["status"], &mistaken[..]].concat()).await;
        assert!(!output.status.success(), "{output:?}");
        told.push(("a mistake".to_owned(), text(&output)));
    }
}

/// What a bundle holds, file by file.
async fn bundle(cluster: &Cluster, told: &mut Told) {
    let out = cluster.log_of("bundle").with_extension("tar.gz");
    let all = cluster.endpoints().join(",");
    let path = out.display().to_string();
    let arguments = ["debug", "bundle", "--out", &path, "--endpoints", &all];
    told.push((
        "debug bundle".to_owned(),
        command(cluster, &arguments).await,
    ));
    let mut names = Vec::new();
    let file = File::open(&out).expect("it was written");
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    for entry in archive.entries().expect("it is an archive") {
        let mut entry = entry.expect("it is whole");
        let name = entry.path().expect("it has a name").display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).expect("it is a text");
        names.push(name.clone());
        told.push((name, text));
    }
    for id in IDS {
        for file in [
            "status.json",
            "settings.json",
            "configuration.json",
            "metrics.txt",
            "readiness.txt",
        ] {
            let file = format!("/replica-{id}/{file}");
            assert!(
                names.iter().any(|name| name.ends_with(&file)),
                "no {file}: {names:?}"
            );
        }
    }
    for file in ["/manifest.json", "/findings.json", "/client.json"] {
        assert!(
            names.iter().any(|name| name.ends_with(file)),
            "no {file}: {names:?}"
        );
    }
}

/// What the replicas have logged, and what their ports show.
async fn replicas(cluster: &Cluster, told: &mut Told) {
    let shown = cluster.certificates().shown("admin");
    for id in IDS {
        let [_, _, port]: [SocketAddr; 3] = cluster.ports(id);
        for path in ["/metrics", "/readyz?verbose", "/livez?verbose"] {
            let answer = cluster.certificates().get(port, path, Some(&shown)).await;
            told.push((
                format!("{path} of replica {id}"),
                answer.expect("it is served"),
            ));
        }
        // What is read and written, and what consensus does, is logged in every detail.
        eventually("a log with every detail", async || {
            let log = cluster.log(id);
            let has = |text: &str| {
                log.lines()
                    .any(|line| line.contains("TRACE") && line.contains(text))
            };
            (has("h2") || has("hyper"))
                .then_some(())
                .ok_or_else(|| format!("{} bytes", log.len()))
        })
        .await;
        told.push((format!("the log of replica {id}"), cluster.log(id)));
        told.push((format!("the audit log of replica {id}"), cluster.audit(id)));
    }
}

/// What the replicas have exported of the calls with the secrets.
async fn traced(collector: &Collector) -> String {
    eventually("the spans of the calls", async || {
        let text = collector.text();
        let lacks = |name: &&&str| !text.contains(**name);
        let calls = [
            "Objects/Create",
            "Objects/Update",
            "Objects/Get",
            "Objects/List",
        ];
        let stages = ["synod.forward", "synod.log", "synod.apply"];
        match calls.iter().chain(&stages).find(lacks) {
            None => Ok(text),
            Some(name) => Err(format!("no {name} in {} bytes", text.len())),
        }
    })
    .await
}

/// The output of a command that an admin runs.
async fn command(cluster: &Cluster, arguments: &[&str]) -> String {
    let output = run(&shown(cluster, arguments)).await;
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    text(&output)
}

/// The arguments of a command that an admin runs.
fn shown(cluster: &Cluster, arguments: &[&str]) -> Vec<String> {
    let files = [
        ("--cacert", "server-ca.pem"),
        ("--cert", "admin.pem"),
        ("--key", "admin-key.pem"),
    ];
    let file = |name: &str| cluster.certificates().file(name).display().to_string();
    let flags = files.map(|(flag, name)| [flag.to_owned(), file(name)]);
    let given = arguments.iter().map(|argument| (*argument).to_owned());
    given.chain(flags.into_iter().flatten()).collect()
}

fn text(output: &std::process::Output) -> String {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    lossy(&output.stdout) + &lossy(&output.stderr)
}

/// Where a secret was found, in any of the forms in which programs print bytes.
fn leaks(plants: &[Plant], told: &Told) -> Vec<String> {
    let mut found = Vec::new();
    for Plant { what, text } in plants {
        let forms = forms(text.as_bytes());
        for (place, said) in told {
            let form = forms.iter().find_map(|form| Some((form, said.find(form)?)));
            if let Some((form, at)) = form {
                let begin = said[..at].rfind('\n').map_or(0, |line| line + 1);
                let line: String = said[begin..].chars().take(300).collect();
                found.push(format!("{what} is in {place}, as {form:?}: {line}"));
            }
        }
    }
    found
}

/// As text, as numbers, in hexadecimal digits, and in base64 wherever its bytes begin.
fn forms(secret: &[u8]) -> Vec<String> {
    let numbers: Vec<String> = secret.iter().map(u8::to_string).collect();
    let mut forms = vec![
        String::from_utf8_lossy(secret).into_owned(),
        numbers.join(", "),
        HEXLOWER.encode(secret),
    ];
    for skipped in 0..3 {
        // Only whole groups of three bytes have the same letters wherever they stand.
        let whole = (secret.len() - skipped) / 3 * 3;
        forms.push(BASE64.encode(&secret[skipped..skipped + whole]));
    }
    forms
}

/// The lines of a log in memory.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with it").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

// Guarantee: F-01
#[test]
fn a_secret_is_found_in_every_form_in_which_it_can_be_printed() {
    let plants = [Plant {
        what: "a secret".to_owned(),
        text: TOKEN.to_owned(),
    }];
    let bytes = format!("x{TOKEN}y").into_bytes();
    for said in [
        format!("got {TOKEN:?}"),
        format!("got {bytes:?}"),
        format!("got {}", HEXLOWER.encode(&bytes)),
        format!("got {}", BASE64.encode(&bytes)),
        format!("got {}", BASE64.encode(&bytes[1..])),
        format!("got {}", BASE64.encode(&[b"-", &bytes[..]].concat())),
    ] {
        let told = vec![("a log".to_owned(), format!("first\n{said}\nlast"))];
        assert_eq!(leaks(&plants, &told).len(), 1, "{said}");
    }
    let told = vec![("a log".to_owned(), "nothing".to_owned())];
    assert_eq!(leaks(&plants, &told), [""; 0]);
}
