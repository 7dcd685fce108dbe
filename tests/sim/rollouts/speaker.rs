//! A member that reports. Each statement is a letter that may be sent more than once, be abandoned by its sender, and
//! arrive after later ones.

use std::collections::BTreeSet;

use std::time::Duration;

use rand::RngExt;
use synod_client::{
    ApiVersion, Epoch, Error, JoinOptions, Labels, Membership, ReportEntry, Stance, StoredIn, Ttl,
    VersionSet,
};
use synod_model::{Report, Revision, StatementNumber};
use synod_proto::v1::sessions_client::SessionsClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;
use synod_proto::{Change, status, v1};
use tokio::time::timeout;
use tonic::transport::Channel;

use super::ledger::Taken;
use super::{Participant, kind, member, rolls, until_done, version};
use crate::visitor::channel;
use crate::world::HOSTS;

/// The label of all speakers, as `key=value`.
pub(super) const LABEL: &str = "rollout=yes";

/// The versions that every entry decodes, so that all members can read whatever one of them encodes.
const COMMON: [u64; 2] = [1, 2];

/// A statement, to be sent any number of times.
#[derive(Clone)]
struct Letter {
    epoch: Epoch,
    request: v1::StorageVersionsReportRequest,
}

/// Joins, reports and ends, again and again. At the end it joins, reports once more and stays.
pub(super) async fn run(mut speaker: Participant) {
    // Counts on over all its epochs, so that a statement of an earlier epoch can be recognized.
    let mut said = 0;
    while !speaker.is_over() {
        match join(&speaker).await {
            Ok(membership) => live(&mut speaker, membership, &mut said).await,
            Err(_) => speaker.pause(100..500).await,
        }
    }
    let membership = until_done(|| join(&speaker)).await;
    until_done(|| membership.report(vec![entry(1, said + 1)])).await;
    speaker.ledger.keep(membership);
}

async fn join(speaker: &Participant) -> Result<Membership, Error> {
    let labels = Labels::parse([LABEL.split_once('=').unwrap()]).unwrap();
    let options = JoinOptions::new(member(speaker.host)).labels(labels);
    let ttl = Ttl::from_millis(5_000).unwrap();
    speaker.client.join(options.ttl(ttl)).await
}

/// One epoch: writes letters, and sends each of them now, again or later.
async fn live(speaker: &mut Participant, membership: Membership, said: &mut u64) {
    let Some(epoch) = membership.epoch() else {
        return;
    };
    let replicas = HOSTS.map(|replica| channel(speaker.host, &speaker.net, replica));
    let session = open_session(speaker, &replicas).await;
    let mut letters: Vec<Letter> = Vec::new();
    for _ in 0..speaker.rng.random_range(10..40) {
        if speaker.is_over() {
            break;
        }
        *said += 1;
        let encoding = 1 + u64::from(speaker.rng.random_ratio(1, 5));
        letters.push(letter(speaker, epoch, session, encoding, *said));
        // Letters are not sent in order: one that is left out may be sent later.
        for _ in 0..speaker.rng.random_range(0..3) {
            let newest = letters.len() - 1;
            let oldest = newest.saturating_sub(4);
            let chosen = if speaker.rng.random_ratio(1, 2) {
                newest
            } else {
                speaker.rng.random_range(oldest..=newest)
            };
            post(speaker, &replicas, letters[chosen].clone());
        }
        speaker.pause(20..250).await;
    }
    match speaker.rng.random_range(0..3) {
        0 => drop(membership.leave(Duration::from_millis(500)).await),
        // It joins again under its own id.
        1 => drop(membership),
        // It stops renewing until it has expired.
        _ => {
            drop(membership);
            speaker.pause(3_000..8_000).await;
        }
    }
    // The last letter of this epoch arrives in the next one.
    if let Some(last) = letters.last() {
        post_after(speaker, &replicas, last.clone(), 500..3_000);
    }
}

async fn open_session(speaker: &mut Participant, replicas: &[Channel; 3]) -> Option<u64> {
    let replica = speaker.rng.random_range(0..replicas.len());
    let mut sessions = SessionsClient::new(replicas[replica].clone());
    let opened = sessions.open(v1::SessionsOpenRequest {});
    let opened = timeout(Duration::from_secs(1), opened).await.ok()?.ok()?;
    Some(opened.into_inner().session)
}

fn letter(
    speaker: &mut Participant,
    epoch: Epoch,
    session: Option<u64>,
    encoding: u64,
    number: u64,
) -> Letter {
    let session = session.filter(|_| speaker.rng.random_ratio(1, 2));
    let request_id = session.map(|session| v1::RequestId {
        session,
        sequence: number,
        lowest_unanswered: 1,
        cluster_id: String::new(),
    });
    let report = Report {
        member: member(speaker.host),
        epoch,
        number: StatementNumber::new(number).unwrap(),
        entries: vec![entry(encoding, number)],
        replace: false,
    };
    let request = v1::StorageVersionsReportRequest {
        request_id,
        ..(&Change::new(report)).into()
    };
    Letter { epoch, request }
}

/// An entry that carries the number of the statement: one of the versions that it decodes stands for that number.
fn entry(encoding: u64, number: u64) -> ReportEntry {
    let versions = || COMMON.map(version).into_iter().chain([marker(number)]);
    ReportEntry {
        resource: rolls(),
        kind: kind(),
        decodable: VersionSet::from_iter(versions()),
        served: VersionSet::from_iter(versions()),
        stance: Stance::Fixed {
            encoding: version(encoding),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

/// The version that stands for this statement number.
fn marker(number: u64) -> ApiVersion {
    version(number + 1_000)
}

/// The number of the statement that an entry with these versions came from.
pub(super) fn number(decodable: &VersionSet) -> u64 {
    let numbers = decodable.iter().filter_map(|version| {
        let number = version.version().strip_prefix('v')?;
        number.parse::<u64>().ok()?.checked_sub(1_000)
    });
    numbers.max().expect("every entry shows its number")
}

fn post(speaker: &mut Participant, replicas: &[Channel; 3], letter: Letter) {
    post_after(speaker, replicas, letter, 0..300);
}

/// Sends a letter to some replica after this many milliseconds, with a short timeout.
fn post_after(
    speaker: &mut Participant,
    replicas: &[Channel; 3],
    letter: Letter,
    after: std::ops::Range<u64>,
) {
    let replica = speaker.rng.random_range(0..replicas.len());
    let mut stub = StorageVersionsClient::new(replicas[replica].clone());
    let after = Duration::from_millis(speaker.rng.random_range(after));
    let patience = Duration::from_millis(speaker.rng.random_range(30..1_500));
    let (ledger, member) = (speaker.ledger.clone(), member(speaker.host));
    tokio::spawn(async move {
        tokio::time::sleep(after).await;
        let (epoch, number) = (letter.epoch, letter.request.number);
        match timeout(patience, stub.report(letter.request)).await {
            // Timed out: it may still be in flight.
            Err(_) => {}
            Ok(Err(refused)) => ledger.refuse(&status::from_status(&refused)),
            Ok(Ok(answer)) => {
                let header = answer.into_inner().header;
                let revision = header.expect("every answer has a header").revision;
                ledger.take(Taken {
                    member,
                    epoch,
                    number,
                    revision: Revision::new(revision),
                });
            }
        }
    });
}
