//! Tests of lists in pages.

use std::collections::BTreeMap;

use synod_proto::v1;

use crate::cluster::{Clients, Cluster, entry, join, reason, report};

fn page(size: u32, continue_token: String) -> v1::MembershipListRequest {
    v1::MembershipListRequest {
        page_size: Some(size),
        continue_token,
        ..v1::MembershipListRequest::default()
    }
}

async fn list(
    clients: &mut Clients,
    request: v1::MembershipListRequest,
) -> Result<(Vec<String>, u64, String), tonic::Status> {
    let listed = clients.membership.list(request).await?.into_inner();
    let names = listed
        .items
        .into_iter()
        .map(|item| item.member.unwrap().metadata.unwrap().name);
    Ok((
        names.collect(),
        listed.header.unwrap().revision,
        listed.continue_token,
    ))
}

// Guarantee: R-04
#[tokio::test(flavor = "multi_thread")]
async fn all_pages_of_a_list_are_of_one_revision_on_whichever_replica_they_are_read() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    for number in 0..7 {
        clients.join(&format!("server-{number}"), 60_000).await;
    }
    let (mut names, revision, mut token) =
        list(&mut clients, page(3, String::new())).await.unwrap();
    assert_eq!(names.len(), 3);
    let mut on = cluster.ids().into_iter().cycle();
    while !token.is_empty() {
        // Changes made between the pages do not appear in the list.
        clients
            .join(&format!("server-3-{}", names.len()), 60_000)
            .await;
        let mut other = cluster.clients(on.next().unwrap()).await;
        let (more, of, next) = list(&mut other, page(3, token)).await.unwrap();
        assert_eq!(of, revision);
        names.extend(more);
        token = next;
    }
    let expected: Vec<String> = (0..7).map(|number| format!("server-{number}")).collect();
    assert_eq!(names, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_refused_that_is_none_or_foreign_or_too_old() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    for number in 0..3 {
        clients.join(&format!("server-{number}"), 60_000).await;
    }
    let garbage = list(&mut clients, page(1, "garbage".to_owned()))
        .await
        .unwrap_err();
    assert_eq!(reason(&garbage), "INVALID_ARGUMENT");

    let (_, _, token) = list(&mut clients, page(1, String::new())).await.unwrap();
    let elsewhere = Cluster::start(1).await;
    let foreign = list(&mut elsewhere.clients(1).await, page(1, token.clone()))
        .await
        .unwrap_err();
    assert_eq!(reason(&foreign), "COMPACTED");

    let patch = v1::SettingsPatch {
        history_revisions: Some(1),
        ..v1::SettingsPatch::default()
    };
    let update = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    clients.cluster.update_settings(update).await.unwrap();
    clients.join("server-late", 60_000).await;
    assert_eq!(
        reason(
            &list(&mut clients, page(1, token.clone()))
                .await
                .unwrap_err()
        ),
        "COMPACTED"
    );

    let at_present = v1::MembershipListRequest {
        continue_at_present: true,
        ..page(2, token.clone())
    };
    let went_on = clients.membership.list(at_present.clone()).await.unwrap();
    let went_on = went_on.into_inner();
    assert!(went_on.inconsistent);
    assert_eq!(went_on.items.len(), 2, "those behind the token");
    assert!(!went_on.continue_token.is_empty(), "and a third one");
    // A token of another cluster's list is refused at whatever revision.
    let foreign = list(&mut elsewhere.clients(1).await, at_present).await;
    assert_eq!(reason(&foreign.unwrap_err()), "COMPACTED");
    let garbage = v1::MembershipListRequest {
        continue_token: "garbage".to_owned(),
        ..page(1, token)
    };
    let garbage = list(&mut clients, garbage).await.unwrap_err();
    assert_eq!(reason(&garbage), "INVALID_ARGUMENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_by_labels_has_those_that_have_all_of_them() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    for (id, zone) in [
        ("server-a", "east"),
        ("server-b", "west"),
        ("server-c", "east"),
    ] {
        let labels = BTreeMap::from([("zone".to_owned(), zone.to_owned())]);
        clients
            .membership
            .join(v1::MembershipJoinRequest {
                labels,
                ..join(id, 60_000)
            })
            .await
            .unwrap();
    }
    let labels = BTreeMap::from([("zone".to_owned(), "east".to_owned())]);
    let request = v1::MembershipListRequest {
        labels,
        ..page(1, String::new())
    };
    let (first, _, continue_token) = list(&mut clients, request.clone()).await.unwrap();
    // Without the labels it would be another list, to which the token does not belong.
    let unlike = list(&mut clients, page(1, continue_token.clone())).await;
    assert_eq!(reason(&unlike.unwrap_err()), "INVALID_ARGUMENT");
    let (second, _, end) = list(
        &mut clients,
        v1::MembershipListRequest {
            continue_token,
            ..request
        },
    )
    .await
    .unwrap();
    assert_eq!(
        (first, second, end),
        (
            vec!["server-a".to_owned()],
            vec!["server-c".to_owned()],
            String::new()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_listed_with_or_without_those_that_nobody_reports() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let all = vec![
        entry("deployments", "apps/v1"),
        entry("replicasets", "apps/v1"),
    ];
    clients
        .storage_versions
        .report(report(&member, all))
        .await
        .unwrap();
    clients
        .storage_versions
        .report(report(&member, vec![entry("deployments", "apps/v1")]))
        .await
        .unwrap();
    let mut names = async |include_unreported| -> Vec<String> {
        let request = v1::StorageVersionsListRequest {
            include_unreported,
            ..v1::StorageVersionsListRequest::default()
        };
        let listed = clients
            .storage_versions
            .list(request)
            .await
            .unwrap()
            .into_inner();
        listed
            .items
            .into_iter()
            .map(|item| item.storage_state.unwrap().resource.unwrap().resource)
            .collect()
    };
    assert_eq!(names(false).await, ["deployments"]);
    assert_eq!(names(true).await, ["deployments", "replicasets"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_of_a_resource_tells_every_agreement() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let first = clients.report(&member, "apps/v1").await;
    let second = clients.report(&member, "apps/v2").await;
    let resource = Some(crate::cluster::group_resource("deployments"));
    let request = v1::StorageVersionsHistoryRequest {
        resource,
        read: None,
    };
    let changes = clients
        .storage_versions
        .history(request)
        .await
        .unwrap()
        .into_inner()
        .changes;
    let told: Vec<_> = changes
        .iter()
        .map(|change| (change.to_version.as_deref(), change.revision))
        .collect();
    assert_eq!(told, [(Some("apps/v1"), first), (Some("apps/v2"), second)]);
    assert_eq!(changes[1].cause_member.as_deref(), Some("server-a"));
}
