//! Objects of another namespace cannot be seen.

use synod_client::ErrorKind;
use synod_proto::v1;

use super::owners::owner;
use super::{attributes, check_invalid, create, key, start, stored, things};
use crate::agreement::agree;
use crate::cluster::IDS;
use crate::requests::{Wire, kind, refusal, timely};

fn list(namespace: &str, continue_token: &str) -> v1::ObjectsListRequest {
    v1::ObjectsListRequest {
        resource: Some(things()),
        namespace: namespace.to_owned(),
        page_size: Some(1),
        continue_token: continue_token.to_owned(),
        ..v1::ObjectsListRequest::default()
    }
}

// Guarantee: O-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_seen_of_another_namespace_through_a_token_an_owner_or_a_refusal() {
    const SECRET: &str = "launch-code";
    let cluster = start().await;
    let first = Wire::to(&cluster.endpoint(1));
    let uid = stored(&first, create("theirs", SECRET, "{}")).await;
    stored(&first, create("mine", "zebra", "{}")).await;
    let page = first.objects().list(timely(list("mine", ""))).await;
    let token = page.expect("it is a list").into_inner().continue_token;
    let cut = &token[..token.len() - 1];
    let turned: String = token.chars().rev().collect();
    let before = agree(&cluster).await;
    for id in IDS {
        let objects = || Wire::to(&cluster.endpoint(id)).objects();
        // A continue token works at other replicas too, but only for the list that it came from.
        let rest = objects().list(timely(list("mine", &token))).await;
        assert_eq!(rest.expect("it goes on").into_inner().items.len(), 1);
        for request in [
            list("theirs", &token),
            list("", &token),
            list("mine", cut),
            list("mine", &turned),
            list("mine", "\0"),
        ] {
            let refused = refusal(objects().list(timely(request)).await);
            check_invalid("a token", &refused, "continueToken");
            assert!(!format!("{refused:?}").contains(SECRET), "{refused:?}");
        }
        // A refusal does not tell whether the owner is in another namespace or does not exist.
        let mut rules = Vec::new();
        for uid in [uid.as_str(), "00000000-0000-8000-8000-000000000000"] {
            let mut request = create("mine", "new", "{}");
            attributes(&mut request).owner_references = vec![owner(SECRET, uid)];
            let refused = refusal(objects().create(timely(request)).await);
            check_invalid("an owner", &refused, "ownerReferences[0]");
            rules.push(format!("{refused:?}").replace(uid, "UID"));
        }
        assert_eq!(rules[0], rules[1], "replica {id}");
        let get = v1::ObjectsGetRequest {
            key: Some(key("mine", SECRET)),
            read: None,
        };
        let absent = refusal(objects().get(timely(get)).await);
        assert_eq!(absent.kind, ErrorKind::NotFound);
        assert_eq!(absent.current, None);
    }
    assert_eq!(agree(&cluster).await, before);
    // Once its revision is trimmed from the history, a token is too old at every replica.
    let patch = v1::SettingsPatch {
        history_revisions: Some(1),
        ..v1::SettingsPatch::default()
    };
    let update = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    let updated = first.cluster().update_settings(timely(update)).await;
    updated.expect("the settings can be changed");
    stored(&first, create("mine", "late", "{}")).await;
    // A replica that has not applied the change yet still keeps the revision.
    agree(&cluster).await;
    for id in IDS {
        let objects = || Wire::to(&cluster.endpoint(id)).objects();
        let old = objects().list(timely(list("mine", &token))).await;
        assert_eq!(kind(old), ErrorKind::Compacted, "replica {id}");
    }
    cluster.finish().await;
}
