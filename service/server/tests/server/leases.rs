//! Tests of leases: acquired, waited for, handed on, lost.

use std::time::Duration;

use synod_proto::v1;
use synod_proto::v1::leases_acquire_response::Result as Acquired;
use synod_proto::v1::leases_renew_response::Result as Renewal;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request};

use crate::answers::hurried;
use crate::cluster::{Clients, Cluster, next_events, reason, within};

fn key(name: &str) -> Option<v1::LeaseKey> {
    Some(v1::LeaseKey {
        namespace: "default".to_owned(),
        name: name.to_owned(),
    })
}

fn acquire(name: &str, holder: &str, ttl_ms: u64) -> v1::LeasesAcquireRequest {
    v1::LeasesAcquireRequest {
        lease: key(name),
        holder: holder.to_owned(),
        ttl_ms: Some(ttl_ms),
        ..v1::LeasesAcquireRequest::default()
    }
}

fn wait_for(name: &str, holder: &str, ttl_ms: u64) -> v1::LeasesAcquireRequest {
    v1::LeasesAcquireRequest {
        wait_ms: Some(60_000),
        ..acquire(name, holder, ttl_ms)
    }
}

fn release(name: &str, holder: &str) -> v1::LeasesReleaseRequest {
    v1::LeasesReleaseRequest {
        lease: key(name),
        holder: holder.to_owned(),
        ..v1::LeasesReleaseRequest::default()
    }
}

fn get(name: &str) -> v1::LeasesGetRequest {
    v1::LeasesGetRequest {
        lease: key(name),
        read: None,
    }
}

fn held(response: v1::LeasesAcquireResponse) -> u64 {
    match response.result.unwrap() {
        Acquired::Held(held) => held.token,
        Acquired::Queued(queued) => panic!("still waiting: {queued:?}"),
    }
}

impl Clients {
    /// Acquires a free lease, and returns its token.
    async fn takes(&mut self, name: &str, holder: &str, ttl_ms: u64) -> u64 {
        let response = self.leases.acquire(acquire(name, holder, ttl_ms)).await;
        held(response.unwrap().into_inner())
    }

    /// Waits for a lease in a task of its own, until it holds it. Returns once every replica has applied the place, or the
    /// lease is given already.
    async fn waits(&self, name: &str, holder: &str, place: u64) -> JoinHandle<u64> {
        let mut clients = self.clone();
        let wanted = wait_for(name, holder, 60_000);
        let waiting = tokio::spawn(async move {
            loop {
                let mut request = Request::new(wanted.clone());
                request.set_timeout(Duration::from_secs(60));
                match clients.leases.acquire(request).await {
                    // The leader ended between giving the place and answering. A caller that asks again keeps the place.
                    Err(status) if status.code() == Code::Unknown => {}
                    answer => return held(answer.unwrap().into_inner()),
                }
            }
        });
        let mut clients = self.clone();
        within("a place in the queue", async {
            let queued = async |clients: &mut Clients| {
                let lease = clients.leases.get(get(name)).await.unwrap().into_inner();
                lease.waiting.unwrap()
            };
            while !waiting.is_finished() && queued(&mut clients).await < place {}
        })
        .await;
        waiting
    }

    /// The candidates for a lease.
    async fn standing(&mut self, name: &str) -> Vec<String> {
        let request = v1::LeasesListCandidatesRequest {
            lease: key(name),
            ..v1::LeasesListCandidatesRequest::default()
        };
        let standing = self.leases.list_candidates(request).await;
        let items = standing.unwrap().into_inner().items.into_iter();
        let names = items.map(|item| {
            assert!(item.remaining_ms.is_some());
            item.candidate.unwrap().metadata.unwrap().name
        });
        names.collect()
    }

    async fn releases(&mut self, name: &str, holder: &str) -> bool {
        let response = self.leases.release(release(name, holder)).await;
        response.unwrap().into_inner().changed
    }

    /// Renews a lease once.
    async fn renews(&mut self, name: &str, token: u64) -> Renewal {
        let (sender, queue) = tokio::sync::mpsc::channel(1);
        let renewal = v1::LeasesRenewRequest {
            what: Some(v1::leases_renew_request::What::Lease(v1::LeaseToken {
                lease: key(name),
                token,
                cluster_id: String::new(),
            })),
            correlation: 7,
        };
        sender.send(renewal).await.unwrap();
        let answers = self.leases.renew(ReceiverStream::new(queue)).await;
        let mut answers = answers.unwrap().into_inner();
        let answer = within("an answer to a renewal", answers.message()).await;
        let answer = answer.unwrap().unwrap();
        assert_eq!(answer.correlation, 7);
        answer.result.unwrap()
    }
}

// Guarantee: L-06
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_goes_round_in_the_order_in_which_replicas_were_asked_for_it() {
    let cluster = Cluster::start(3).await;
    let mut clients = Vec::new();
    for id in cluster.ids() {
        clients.push(cluster.clients(id).await);
    }
    let mut last = clients[0].takes("lock", "first", 60_000).await;
    let mut waiting = Vec::new();
    for number in 0..9_u64 {
        let name = format!("waiter-{number}");
        let replica = &clients[usize::try_from(number).unwrap() % 3];
        waiting.push((name.clone(), replica.waits("lock", &name, number + 1).await));
    }
    let mut holder = "first".to_owned();
    for (name, waiter) in waiting {
        assert!(!waiter.is_finished(), "{name} has to wait");
        assert!(clients[2].releases("lock", &holder).await);
        let token = within("the lease", waiter).await.unwrap();
        assert!(token > last, "every holder has a higher token");
        (last, holder) = (token, name);
    }
    let lease = clients[0]
        .leases
        .get(get("lock"))
        .await
        .unwrap()
        .into_inner();
    let hold = lease.lease.unwrap().hold.unwrap();
    assert_eq!((hold.holder, hold.token), ("waiter-8".to_owned(), last));
    assert_eq!(lease.waiting, Some(0));
}

// Guarantee: L-07
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_goes_on_waiting_when_the_leader_is_killed() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let others: Vec<u64> = cluster
        .ids()
        .into_iter()
        .filter(|id| *id != leader)
        .collect();
    let mut clients = cluster.clients(others[0]).await;
    let token = clients.takes("lock", "holder", 60_000).await;
    let second = cluster
        .clients(others[1])
        .await
        .waits("lock", "second", 1)
        .await;
    let third = clients.waits("lock", "third", 2).await;
    cluster.kill(leader);
    within("a renewal under the next leader", async {
        while !matches!(clients.renews("lock", token).await, Renewal::Renewed(_)) {}
    })
    .await;
    assert!(!second.is_finished() && !third.is_finished());
    assert!(clients.releases("lock", "holder").await);
    let token = within("the lease", second).await.unwrap();
    assert!(!third.is_finished());
    assert!(clients.releases("lock", "second").await);
    assert!(within("the lease", third).await.unwrap() > token);
}

// Guarantee: L-03
#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_does_not_renew_loses_the_lease_to_who_waits_and_its_token_is_refused() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    let lost = clients.takes("lock", "silent", 1_000).await;
    let waiter = clients.waits("lock", "waiter", 1).await;
    let token = within("the lease", waiter).await.unwrap();
    assert!(token > lost);
    let Renewal::Refusal(refusal) = clients.renews("lock", lost).await else {
        panic!("the token is lost")
    };
    assert_eq!(refusal.reason(), v1::ErrorReason::StaleEpoch);
    assert!(matches!(
        clients.renews("lock", token).await,
        Renewal::Renewed(_)
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_stops_waiting_keeps_its_place_and_who_asks_again_elsewhere_has_it() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    clients.takes("lock", "holder", 60_000).await;
    let wanted = |holder| wait_for("lock", holder, 60_000);
    let (ticket, ahead) = asks_in_vain(&clients, wanted("a")).await;
    assert_eq!(ahead, 0);
    let (later, ahead) = asks_in_vain(&clients, wanted("b")).await;
    assert_eq!(ahead, 1);
    assert!(later > ticket);
    let elsewhere = cluster.clients(2).await;
    assert_eq!(asks_in_vain(&elsewhere, wanted("a")).await, (ticket, 0));
    let refused = clients.leases.acquire(acquire("lock", "c", 60_000)).await;
    assert_eq!(reason(&refused.unwrap_err()), "CONFLICT");
    assert!(clients.releases("lock", "a").await, "it gives up its place");
    assert_eq!(asks_in_vain(&elsewhere, wanted("b")).await, (later, 0));
}

/// The ticket of who stops waiting before its turn, and how many are ahead of it. If the answer comes too late for the
/// deadline, it asks again, which keeps the place.
async fn asks_in_vain(clients: &Clients, wanted: v1::LeasesAcquireRequest) -> (u64, u64) {
    let mut clients = clients.clone();
    let answer = hurried("the place in the queue", async |patience| {
        let mut request = Request::new(wanted.clone());
        request.set_timeout(patience);
        clients.leases.acquire(request).await.ok()
    });
    match answer.await.into_inner().result.unwrap() {
        Acquired::Queued(queued) => (queued.ticket, queued.ahead),
        Acquired::Held(held) => panic!("another holds it: {held:?}"),
    }
}

// Guarantee: L-08
#[tokio::test(flavor = "multi_thread")]
async fn an_acquisition_whose_answer_was_lost_is_executed_once() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    let opened = clients.sessions.open(v1::SessionsOpenRequest {}).await;
    let session = opened.unwrap().into_inner().session;
    let of = |sequence, request| v1::LeasesAcquireRequest {
        request_id: Some(v1::RequestId {
            session,
            sequence,
            lowest_unanswered: 1,
            cluster_id: String::new(),
        }),
        ..request
    };
    let first = of(1, acquire("lock", "a", 60_000));
    let token = held(
        clients
            .leases
            .acquire(first.clone())
            .await
            .unwrap()
            .into_inner(),
    );
    assert!(clients.releases("lock", "a").await);
    let holder = clients.takes("lock", "b", 60_000).await;
    for id in cluster.ids() {
        let mut elsewhere = cluster.clients(id).await;
        let again = elsewhere.leases.acquire(first.clone()).await.unwrap();
        assert_eq!(
            held(again.into_inner()),
            token,
            "the first answer, not a new lease"
        );
        let asked = v1::SessionsGetOutcomeRequest {
            session,
            sequence: 1,
            cluster_id: String::new(),
        };
        let outcome = elsewhere
            .sessions
            .get_outcome(asked)
            .await
            .unwrap()
            .into_inner();
        let Some(v1::recorded_outcome::Answer::LeaseHeld(kept)) = outcome.outcome.unwrap().answer
        else {
            panic!("it was given the lease")
        };
        assert_eq!(kept.token, token);
    }
    let lease = clients.leases.get(get("lock")).await.unwrap().into_inner();
    assert_eq!(lease.lease.unwrap().hold.unwrap().token, holder);
}

// Guarantee: L-08
#[tokio::test(flavor = "multi_thread")]
async fn a_retry_of_one_who_waited_has_what_its_place_was_given() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    let opened = clients.sessions.open(v1::SessionsOpenRequest {}).await;
    let session = opened.unwrap().into_inner().session;
    let holder = clients.takes("lock", "b", 60_000).await;
    let queued = v1::LeasesAcquireRequest {
        request_id: Some(v1::RequestId {
            session,
            sequence: 1,
            lowest_unanswered: 1,
            cluster_id: String::new(),
        }),
        ..wait_for("lock", "c", 60_000)
    };
    let (_, ahead) = asks_in_vain(&clients, queued.clone()).await;
    assert_eq!(ahead, 0);
    assert!(clients.releases("lock", "b").await);
    let token = held(
        clients
            .leases
            .acquire(queued.clone())
            .await
            .unwrap()
            .into_inner(),
    );
    assert!(token > holder, "the retry has what its place was given");
    assert!(clients.releases("lock", "c").await);
    let lost = clients.leases.acquire(queued).await.unwrap_err();
    assert_eq!(
        reason(&lost),
        "CONFLICT",
        "a definite answer: it is lost already"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_and_its_candidates_are_watched_with_their_namespace() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let mut watch = clients.watch(None).await;
    crate::cluster::next(&mut watch).await;
    let candidate = |identity: &str, emulation: &str| v1::LeasesPutCandidateRequest {
        candidate: Some(v1::LeaseContender {
            lease: key("leader"),
            identity: identity.to_owned(),
        }),
        binary_version: "1.33.0".to_owned(),
        emulation_version: emulation.to_owned(),
        ..v1::LeasesPutCandidateRequest::default()
    };
    clients
        .leases
        .put_candidate(candidate("new", "1.33.0"))
        .await
        .unwrap();
    let events = next_events(&mut watch).await.events;
    assert_eq!(events.len(), 2, "it stands, and has the lease");
    assert_eq!(events[0].kind(), v1::ObjectKind::LeaseCandidate);
    assert_eq!(
        (events[0].namespace.as_str(), events[0].name.as_str()),
        ("default", "new")
    );
    assert_eq!(events[1].kind(), v1::ObjectKind::Lease);
    assert_eq!(
        (events[1].namespace.as_str(), events[1].name.as_str()),
        ("default", "leader")
    );

    clients
        .leases
        .put_candidate(candidate("old", "1.32.0"))
        .await
        .unwrap();
    let events = next_events(&mut watch).await.events;
    let Some(v1::event::Object::Lease(lease)) = events[1].object.clone() else {
        panic!("the lease says who is preferred")
    };
    assert_eq!(lease.preferred_holder, "old");
    assert_eq!(clients.standing("leader").await, ["new", "old"]);
    assert!(clients.releases("leader", "new").await);
    let events = next_events(&mut watch).await.events;
    let Some(v1::event::Object::Lease(lease)) = events[0].object.clone() else {
        panic!("the lease is handed on")
    };
    assert_eq!(lease.hold.unwrap().holder, "old");
    let withdraw = v1::LeasesWithdrawCandidateRequest {
        request_id: None,
        candidate: Some(v1::LeaseContender {
            lease: key("leader"),
            identity: "new".to_owned(),
        }),
    };
    let withdrawn = clients.leases.withdraw_candidate(withdraw).await.unwrap();
    assert!(withdrawn.into_inner().changed);
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_are_listed_in_pages_by_namespace_at_one_revision() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    for name in ["a", "b", "c"] {
        clients.takes(name, "holder", 60_000).await;
    }
    let other = v1::LeasesAcquireRequest {
        lease: Some(v1::LeaseKey {
            namespace: "other".to_owned(),
            name: "d".to_owned(),
        }),
        ..acquire("d", "holder", 60_000)
    };
    clients.leases.acquire(other).await.unwrap();
    let request = v1::LeasesListRequest {
        namespace: "default".to_owned(),
        page_size: Some(2),
        ..v1::LeasesListRequest::default()
    };
    let first = clients
        .leases
        .list(request.clone())
        .await
        .unwrap()
        .into_inner();
    clients.takes("bb", "holder", 60_000).await;
    let next = v1::LeasesListRequest {
        continue_token: first.continue_token.clone(),
        ..request
    };
    let second = clients.leases.list(next).await.unwrap().into_inner();
    assert!(second.continue_token.is_empty());
    let names = first.items.into_iter().chain(second.items);
    let names = names.map(|item| item.lease.unwrap().metadata.unwrap().name);
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b", "c"]);
    let gone = clients.leases.get(get("nobody")).await.unwrap_err();
    assert_eq!(reason(&gone), "NOT_FOUND");
    let bad = clients.leases.get(get("Not A Name")).await.unwrap_err();
    assert_eq!(reason(&bad), "INVALID_ARGUMENT");
}
