//! The policy that is deployed on Kubernetes, and those who are deployed beside API servers.

use std::time::Duration;

use rcgen::ExtendedKeyUsagePurpose::ClientAuth;
use synod_client::{
    ClaimKey, Client, ErrorKind, GroupResource, HolderIdentity, LeaseKey, ListMigrations,
    ListStorageVersions, LockOptions, ObjectKind, ObserveStorage, SettingsPatch,
    StorageVersionHash, Ttl, WorkerName,
};

use crate::cluster::Cluster;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_and_a_migrator_may_do_what_they_are_deployed_for() {
    let path = synod_tests::checkout().join("deploy/kubernetes/base/policy.toml");
    let policy = std::fs::read_to_string(path).expect("there is a policy");
    let cluster = Cluster::start_with_policy(&policy).await;
    // What was written before anybody looked lands soon, so that the worker does not wait long for it.
    let patch = SettingsPatch {
        write_grace: Some(Duration::from_secs(1)),
        ..SettingsPatch::default()
    };
    let admin = cluster.client().await;
    let changed = admin.update_settings(patch, None).await;
    changed.expect("an admin may change settings");
    let observer = client(&cluster, "observer").await;
    let key = LeaseKey::new("default", "observer").expect("it is a name");
    let held = |holder: &str| {
        let holder = HolderIdentity::parse(holder).expect("it is a name");
        LockOptions::new(key.clone()).holder(holder)
    };
    let lock = observer.lock(held("synod-observer-7d9c-x2x4")).await;
    let lock = lock.expect("it is the name of its pod");
    let other = observer.lock(held("apiserver-1")).await;
    let error = other.expect_err("it is another's name");
    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
    let known = observer.storage_versions(ListStorageVersions::new().with_unreported());
    known.all().await.expect("it may read");
    let observe = ObserveStorage::unnamed(
        GroupResource::new("example.io", "widgets").expect("it is a name"),
        [StorageVersionHash::of("example.io", "v1", "Widget")].into(),
    );
    observer.observe(observe).await.expect("it may observe");
    lock.release().await.expect("it is its own");

    let migrator = client(&cluster, "migrator").await;
    let watched = migrator.reflect(vec![ObjectKind::Migration]).await;
    drop(watched.expect("it may read"));
    let pending = migrator.migrations(ListMigrations::new()).all().await;
    let pending = pending.expect("it may read").items;
    let worker = WorkerName::parse("synod-migrator-5b8f-k1k2").expect("it is a name");
    let claimed = loop {
        let claimed = migrator.claim_migration(&pending[0].id, &worker, Ttl::DEFAULT);
        match claimed.await {
            // What the servers wrote before anybody looked may still land.
            Err(error) if error.kind() == ErrorKind::Draining => tokio::task::yield_now().await,
            claimed => break claimed.expect("it is the name of its pod"),
        }
    };
    let claim = ClaimKey {
        id: pending[0].id.clone(),
        token: claimed.token,
        cluster: claimed.header.cluster,
    };
    let completed = migrator.complete_migration(&claim).await;
    completed.expect("it is its own");
    cluster.finish().await;
}

/// A client with the certificate that cert-manager gives to this one.
async fn client(cluster: &Cluster, name: &str) -> Client {
    let certificates = cluster.certificates();
    let id = format!("spiffe://synod/{name}");
    let shown = certificates.sign_for(&[&id], "client-ca", (-1, 9), &[ClientAuth]);
    certificates.write(&format!("{name}.pem"), &shown.certificate);
    certificates.write(&format!("{name}-key.pem"), &shown.key);
    let builder = cluster.builder(cluster.endpoints());
    let client = builder.tls(certificates.client(name)).connect().await;
    client.expect("it is let in")
}
