//! Objects that are applied, and those that are written in all other ways.

use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::widget::{Widget, widget, widgets};
use crate::{Fault, Replica, must, refused};

/// A field belongs to who has applied it, until another one takes it by force.
pub(crate) async fn applies(replica: &Replica) -> Result<(), Fault> {
    let api = widgets(&replica.client()?);
    let apply = async |manager: &str, size: i64, is_forced: bool| {
        let mut params = PatchParams::apply(manager);
        params.force = is_forced;
        api.patch("applied", &params, &Patch::Apply(widget("applied", size)))
            .await
    };
    apply("one", 1, false).await?;
    let (code, message) = refused(apply("two", 2, false).await)?;
    must(
        code == 409 && message.contains("conflict with \"one\": .spec.size"),
        || format!("{code} {message}"),
    )?;
    let dry = PatchParams::apply("two").force().dry_run();
    let dry = api
        .patch("applied", &dry, &Patch::Apply(widget("applied", 3)))
        .await?;
    must(
        dry.spec.size == 3 && api.get("applied").await?.spec.size == 1,
        || format!("{dry:?}"),
    )?;
    let forced = apply("two", 2, true).await?;
    must(forced.spec.size == 2, || format!("{forced:?}"))?;
    let managing = |manager: &str| {
        let mut entries = forced.managed_fields().iter();
        let entry = entries.find(|entry| entry.manager.as_deref() == Some(manager));
        entry.map(|entry| serde_json::to_string(&entry.fields_v1).unwrap_or_default())
    };
    let (one, two) = (managing("one"), managing("two"));
    must(one.is_some_and(|fields| !fields.contains("f:size")), || {
        format!("{:?}", forced.managed_fields())
    })?;
    must(two.is_some_and(|fields| fields.contains("f:size")), || {
        format!("{:?}", forced.managed_fields())
    })?;

    // What it says no more of is gone, and what another one manages stays.
    let label = json!({ "apiVersion": "example.io/v1", "kind": "Widget", "metadata": { "labels": { "kept": "yes" } } });
    api.patch(
        "applied",
        &PatchParams::apply("three"),
        &Patch::Apply(label),
    )
    .await?;
    let bare = json!({ "apiVersion": "example.io/v1", "kind": "Widget", "spec": {} });
    let raw: Api<kube::core::DynamicObject> = {
        let resource = kube::api::ApiResource::erase::<Widget>(&());
        Api::namespaced_with(replica.client()?, crate::widget::NAMESPACE, &resource)
    };
    let left = raw
        .patch("applied", &PatchParams::apply("two"), &Patch::Apply(bare))
        .await?;
    must(
        left.data["spec"] == json!({}) && left.labels()["kept"] == "yes",
        || format!("{left:?}"),
    )?;
    let strict = PatchParams::apply("two").validation_strict();
    let bogus =
        json!({ "apiVersion": "example.io/v1", "kind": "Widget", "metadata": { "bogus": 1 } });
    let (code, message) = refused(raw.patch("applied", &strict, &Patch::Apply(bogus)).await)?;
    must(
        matches!(code, 400 | 422 | 500) && message.contains("bogus"),
        || format!("{code} {message}"),
    )?;
    raw.delete("applied", &DeleteParams::default()).await?;
    Ok(())
}

/// Everything that a client does to objects beside that.
pub(crate) async fn writes(replica: &Replica) -> Result<(), Fault> {
    let api = widgets(&replica.client()?);
    let post = PostParams::default();
    let made = api.create(&post, &widget("a", 1)).await?;
    must(made.metadata.generation == Some(1), || format!("{made:?}"))?;
    must(
        refused(api.create(&post, &widget("a", 1)).await)?.0 == 409,
        || "it is created twice".to_owned(),
    )?;
    must(api.get_opt("nothing").await?.is_none(), || {
        "what is not there is found".to_owned()
    })?;

    let mut newer = made.clone();
    newer.spec.size = 2;
    let newer = api.replace("a", &post, &newer).await?;
    let (code, message) = refused(api.replace("a", &post, &made).await)?;
    must(
        code == 409 && message.contains("the object has been modified"),
        || message,
    )?;

    let patches = PatchParams::default();
    let operations = json!([{ "op": "test", "path": "/spec/size", "value": 2 }, { "op": "replace", "path": "/spec/size", "value": 3 }]);
    let operations: Patch<()> = Patch::Json(serde_json::from_value(operations)?);
    let patched = api.patch("a", &patches, &operations).await?;
    must(
        patched.spec.size == 3 && patched.uid() == newer.uid(),
        || format!("{patched:?}"),
    )?;
    must(
        refused(api.patch("a", &patches, &operations).await)?.0 == 422,
        || "a test did not fail".to_owned(),
    )?;
    let labels = json!({ "metadata": { "labels": { "app": "web" } } });
    let labelled = api
        .patch_metadata("a", &patches, &Patch::Merge(labels))
        .await?;
    must(labelled.labels()["app"] == "web", || {
        format!("{labelled:?}")
    })?;

    // The status is written apart.
    let seen = Patch::Merge(json!({ "status": { "seen": 3 }, "spec": { "size": 9 } }));
    let status = api.patch_status("a", &patches, &seen).await?;
    must(
        status.spec.size == 3 && status.status.is_some_and(|status| status.seen == 3),
        || "the status".to_owned(),
    )?;

    pages(&api).await?;
    let other = Preconditions {
        uid: Some("00000000-0000-8000-8000-000000000000".to_owned()),
        resource_version: None,
    };
    let other = DeleteParams::default().preconditions(other);
    must(refused(api.delete("a", &other).await)?.0 == 409, || {
        "another object was deleted".to_owned()
    })?;
    let deleted = api.delete("a", &DeleteParams::default()).await?;
    must(deleted.is_right(), || format!("{deleted:?}"))?;
    api.delete_collection(&DeleteParams::default(), &ListParams::default())
        .await?;
    let left = api.list(&ListParams::default()).await?;
    must(left.items.is_empty(), || format!("{left:?}"))
}

/// Reads what there is by pages, beside the object `a`, and by a selector.
async fn pages(api: &Api<Widget>) -> Result<(), Fault> {
    let post = PostParams::default();
    for number in 0..4 {
        api.create(&post, &widget(&format!("page{number}"), number))
            .await?;
    }
    let first = api.list_metadata(&ListParams::default().limit(3)).await?;
    let token = first
        .metadata
        .continue_
        .clone()
        .ok_or("there is one page alone")?;
    let second = api
        .list_metadata(&ListParams::default().limit(3).continue_token(&token))
        .await?;
    let names: Vec<String> = first
        .iter()
        .chain(second.iter())
        .map(ResourceExt::name_any)
        .collect();
    must(names == ["a", "page0", "page1", "page2", "page3"], || {
        format!("{names:?}")
    })?;
    let selected = api.list(&ListParams::default().labels("app=web")).await?;
    must(selected.items.len() == 1, || format!("{selected:?}"))?;
    Ok(())
}
