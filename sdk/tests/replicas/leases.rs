//! Locks and elections.

use std::time::Duration;

use synod_client::{
    Client, Election, ErrorKind, HolderIdentity, LeadershipEnd, LeaseKey, Lock, LockOptions,
    MemberId, PutLeaseCandidate, ReadOptions, SemanticVersion, Strategy, Ttl,
};
use tokio::task::JoinHandle;

use crate::cluster::{Cluster, endpoint, legal, pass, within};

const TTL: Duration = Duration::from_secs(6);

fn key(name: &str) -> LeaseKey {
    legal(LeaseKey::new("default", name))
}

fn holder(identity: &str) -> HolderIdentity {
    legal(HolderIdentity::parse(identity))
}

fn options(name: &str, identity: &str) -> LockOptions {
    let ttl = legal(Ttl::from_millis(TTL.as_millis() as u64));
    LockOptions::new(key(name))
        .holder(holder(identity))
        .ttl(ttl)
}

/// Waits for a lock in a task of its own. Returns once this many wait.
async fn waits(client: &Client, identity: &str, waiting: u64) -> JoinHandle<Lock> {
    let (client, lock) = (client.clone(), options("lock", identity));
    let asked = client.clone();
    let task = tokio::spawn(async move { client.lock(lock).await.unwrap() });
    within(async {
        let count = async || {
            let view = asked.lease(&key("lock"), ReadOptions::default()).await;
            view.unwrap().item.waiting
        };
        while count().await != Some(waiting) {}
    })
    .await;
    task
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_kept_and_goes_to_the_next_in_order_also_when_the_leader_is_killed() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let first = within(client.lock(options("lock", "first"))).await.unwrap();
    let second = waits(&client, "second", 1).await;
    let third = waits(&client, "third", 2).await;
    pass(TTL * 4).await;
    first.check().unwrap();
    let leader = cluster.leader(&client).await;
    cluster.kill(leader);
    pass(TTL * 3).await;
    first.check().unwrap();
    assert!(!second.is_finished() && !third.is_finished());
    let token = first.token();
    within(first.release()).await.unwrap();
    let second = within(second).await.unwrap();
    assert!(second.token() > token);
    assert!(!third.is_finished());
    within(second.release()).await.unwrap();
    within(third).await.unwrap().check().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_another_holds_is_refused_with_who_holds_it() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _held = within(client.try_lock(options("lock", "a"))).await.unwrap();
    let error = within(client.try_lock(options("lock", "b")))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.current().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_is_not_named_has_the_name_of_its_client_or_of_its_member() {
    let cluster = Cluster::start(1).await;
    let builder = Client::builder().endpoints(vec![endpoint(1)]);
    let name = legal(MemberId::parse("controller"));
    let client = builder.seams(cluster.seams()).name(name);
    let client = client.connect().await.unwrap();
    let of_client = within(client.lock(LockOptions::new(key("one")))).await;
    let of_client = of_client.unwrap();
    assert!(of_client.holder().as_str().starts_with("controller_"));
    let nameless = cluster.client().await;
    let random = within(nameless.lock(LockOptions::new(key("two")))).await;
    assert_eq!(random.unwrap().holder().as_str().len(), 32);
}

// Guarantee: L-09
#[tokio::test(start_paused = true)]
async fn a_holder_that_was_suspended_beyond_its_ttl_knows_it_at_once_and_its_token_is_refused() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let lock = within(client.lock(options("lock", "a"))).await.unwrap();
    lock.check().unwrap();
    // No timer has fired yet: only the clock shows the suspension.
    cluster.clock.suspend(TTL);
    assert_eq!(lock.check().unwrap_err().kind(), ErrorKind::StaleEpoch);
    let (stale, lost) = (lock.token(), lock.lost());
    within(lost).await;
    drop(lock);
    let next = within(client.lock(options("lock", "b"))).await.unwrap();
    assert!(next.token() > stale);
    let refused = within(client.send_renew_lease(&key("lock"), stale, None)).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::StaleEpoch);
    next.check().unwrap();
}

// Guarantee: L-09
#[tokio::test(start_paused = true)]
async fn a_dropped_lock_ends_by_itself_and_a_lost_one_says_so() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let lock = within(client.lock(options("lock", "a"))).await.unwrap();
    let waiting = waits(&client, "b", 1).await;
    drop(lock);
    let lock = within(waiting).await.unwrap();
    for number in 1..=3 {
        cluster.isolate(number);
    }
    let error = within(lock.lost()).await;
    assert_eq!(error.kind(), ErrorKind::StaleEpoch);
}

#[tokio::test(start_paused = true)]
async fn an_election_has_one_leader_and_everyone_can_observe_who_it_is() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let one = Election::new(&client, options("leader", "one"));
    let other = Election::new(&client, options("leader", "other"));
    let mut observer = one.observe();
    assert_eq!(within(observer.next()).await.unwrap(), None);
    let leading = within(one.campaign()).await.unwrap();
    let seen = within(observer.next()).await.unwrap().unwrap();
    assert_eq!(seen.hold.unwrap().holder, holder("one"));
    let campaign = tokio::spawn(async move { other.campaign().await.unwrap() });
    pass(TTL * 2).await;
    assert!(!campaign.is_finished());
    within(leading.release()).await.unwrap();
    let leading = within(campaign).await.unwrap();
    let seen = within(observer.next()).await.unwrap().unwrap();
    assert_eq!(seen.hold.unwrap().token, leading.token());
}

fn candidate(client: &Client, identity: &str, version: &str) -> Election {
    let version = legal(SemanticVersion::parse(version));
    let ttl = legal(Ttl::from_millis(TTL.as_millis() as u64));
    Election::coordinated(
        client,
        key("leader"),
        holder(identity),
        version.clone(),
        version,
        ttl,
    )
}

// Guarantee: L-10
#[tokio::test(start_paused = true)]
async fn in_a_coordinated_election_the_older_version_takes_over_in_order() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let new = candidate(&client, "new", "1.33.0");
    let leading = within(new.campaign()).await.unwrap();
    assert_eq!(leading.holder(), &holder("new"));
    let old = candidate(&client, "old", "1.32.0");
    let campaign = tokio::spawn({
        let old = old.clone();
        async move { old.campaign().await.unwrap() }
    });
    let LeadershipEnd::Preferred(preferred) = within(new.over(&leading)).await else {
        panic!("the lease is not lost")
    };
    assert_eq!(preferred, holder("old"));
    leading.check().unwrap();
    within(leading.release()).await.unwrap();
    let leading = within(campaign).await.unwrap();
    assert_eq!(leading.holder(), &holder("old"));
    within(old.withdraw()).await.unwrap();
    within(new.withdraw()).await.unwrap();
    let leader = key("leader");
    let standing = client.lease_candidates(&leader, ReadOptions::default());
    assert!(within(standing).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_withdraws_before_it_releases_is_followed_by_the_best_of_the_others() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let oldest = candidate(&client, "oldest", "1.31.0");
    let leading = within(oldest.campaign()).await.unwrap();
    let campaigns = [("newest", "1.33.0"), ("newer", "1.32.0")].map(|(identity, version)| {
        let election = candidate(&client, identity, version);
        tokio::spawn(async move { election.campaign().await.unwrap() })
    });
    let leader = key("leader");
    loop {
        let standing = client.lease_candidates(&leader, ReadOptions::default());
        if within(standing).await.unwrap().len() == 3 {
            break;
        }
    }
    // If it released first, it would be given the lease again, since no candidate comes before it.
    within(oldest.withdraw()).await.unwrap();
    leading.check().unwrap();
    within(leading.release()).await.unwrap();
    let [newest, newer] = campaigns;
    let leading = within(newer).await.unwrap();
    assert_eq!(leading.holder(), &holder("newer"));
    assert!(!newest.is_finished());
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_ends_as_it_is_chosen_leaves_the_lease_to_others() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let version = SemanticVersion::parse("1.33.0").unwrap();
    let stands = PutLeaseCandidate {
        key: key("leader"),
        identity: holder("one"),
        binary_version: version.clone(),
        emulation_version: Some(version),
        strategy: Strategy::OldestEmulationVersion,
        ttl: Ttl::DEFAULT,
    };
    within(client.send_put_candidate(stands)).await.unwrap();
    let leader = key("leader");
    let lease = within(client.lease(&leader, ReadOptions::default())).await;
    let hold = lease.unwrap().item.lease.hold;
    assert_eq!(hold.unwrap().holder, holder("one"), "it is chosen at once");
    let one = candidate(&client, "one", "1.33.0");
    let ended = one.campaign_unless(std::future::ready(()));
    assert!(within(ended).await.unwrap().is_none());
    let lease = within(client.lease(&leader, ReadOptions::default())).await;
    // A lease without a holder and without waiters may have been removed.
    let hold = lease.ok().and_then(|view| view.item.lease.hold);
    assert!(hold.is_none(), "nobody leads by {hold:?}");
}
