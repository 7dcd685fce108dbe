//! What is served, and what this program may do.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, verbs};
use kube::{Api, Discovery};

use crate::{Fault, Replica, must};

/// Plain discovery and aggregated discovery say the same of widgets and leases.
pub(crate) async fn discovers(replica: &Replica) -> Result<(), Fault> {
    let client = replica.client()?;
    for found in [
        Discovery::new(client.clone()).run().await?,
        Discovery::new(client.clone()).run_aggregated().await?,
    ] {
        let kind = GroupVersionKind::gvk("example.io", "v1", "Widget");
        let (resource, can) = found.resolve_gvk(&kind).ok_or("there are no widgets")?;
        must(
            resource.plural == "widgets" && can.scope == Scope::Namespaced,
            || format!("{resource:?}"),
        )?;
        must(
            can.supports_operation(verbs::WATCH) && can.supports_operation(verbs::PATCH),
            || format!("{can:?}"),
        )?;
        must(
            can.subresources
                .iter()
                .any(|(one, _)| one.plural == "status"),
            || format!("{can:?}"),
        )?;
        must(found.has_group("coordination.k8s.io"), || {
            "there are no leases".to_owned()
        })?;
    }
    let version = client.apiserver_version().await?;
    must(version.git_version.contains("-synod-"), || {
        format!("{version:?}")
    })
}

pub(crate) async fn reviews(replica: &Replica) -> Result<(), Fault> {
    let client = replica.client()?;
    let asked = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                group: Some("example.io".to_owned()),
                resource: Some("widgets".to_owned()),
                verb: Some("create".to_owned()),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let answer = Api::all(client.clone())
        .create(&PostParams::default(), &asked)
        .await?;
    must(
        answer.status.as_ref().is_some_and(|status| status.allowed),
        || format!("{answer:?}"),
    )?;
    let me = Api::all(client)
        .create(&PostParams::default(), &SelfSubjectReview::default())
        .await?;
    let name = me
        .status
        .as_ref()
        .and_then(|status| status.user_info.as_ref()?.username.as_deref());
    let expected = if replica.files.is_some() {
        "spiffe://synod/admin"
    } else {
        "system:anonymous"
    };
    must(name == Some(expected), || format!("{me:?}"))
}
