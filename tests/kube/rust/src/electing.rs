//! Leaders: by the elector that controllers of kube-rs use, and by leases that are written on what was read.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::entry::{CommitError, Entry};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use kube_leader_election::{LeaseLock, LeaseLockParams, LeaseLockResult};
use kube_of_the_elector as of_the_elector;
use tokio::time::interval;

use crate::widget::NAMESPACE;
use crate::{Fault, Replica, must};

/// A candidate for the lease `elected`, as the elector has it.
fn candidate(replica: &Replica, name: &str) -> Result<LeaseLock, Fault> {
    let mut config = of_the_elector::Config::new(replica.address.parse()?);
    if let Some([ca, certificate, key]) = replica.files.clone() {
        config.root_cert_file = Some(ca.into());
        config.auth_info.client_certificate = Some(certificate);
        config.auth_info.client_key = Some(key);
    }
    let params = LeaseLockParams {
        holder_id: name.to_owned(),
        lease_name: "elected".to_owned(),
        lease_ttl: Duration::from_secs(2),
    };
    Ok(LeaseLock::new(
        of_the_elector::Client::try_from(config)?,
        NAMESPACE,
        params,
    ))
}

/// Tries until the candidate leads. Another one may have been faster.
async fn comes_to_lead(candidate: &LeaseLock) -> Result<(), Fault> {
    let mut ticks = interval(Duration::from_millis(100));
    loop {
        ticks.tick().await;
        match candidate.try_acquire_or_renew().await {
            Ok(LeaseLockResult::Acquired(_)) => return Ok(()),
            Ok(LeaseLockResult::NotAcquired(_)) => {}
            Err(kube_leader_election::Error::AcquireLease(of_the_elector::Error::Api(status)))
                if status.code == 409 => {}
            Err(fault) => return Err(fault.into()),
        }
    }
}

/// One leads until it steps down, and another one until it says nothing any more.
pub(crate) async fn elects(replica: &Replica) -> Result<(), Fault> {
    let (one, two) = (candidate(replica, "one")?, candidate(replica, "two")?);
    comes_to_lead(&one).await?;
    for _ in 0..3 {
        let other = two.try_acquire_or_renew().await?;
        must(matches!(other, LeaseLockResult::NotAcquired(_)), || {
            format!("{other:?}")
        })?;
        let renewed = one.try_acquire_or_renew().await?;
        must(matches!(renewed, LeaseLockResult::Acquired(_)), || {
            format!("{renewed:?}")
        })?;
    }
    one.step_down().await?;
    comes_to_lead(&two).await?;
    // Nothing is heard of the second one, so its lease runs out.
    comes_to_lead(&one).await?;
    let other = two.try_acquire_or_renew().await?;
    must(matches!(other, LeaseLockResult::NotAcquired(_)), || {
        format!("{other:?}")
    })
}

fn leases(client: &Client) -> Api<Lease> {
    Api::namespaced(client.clone(), NAMESPACE)
}

fn held_by(name: &str) -> Lease {
    Lease {
        metadata: ObjectMeta::default(),
        spec: Some(LeaseSpec {
            holder_identity: Some(name.to_owned()),
            lease_duration_seconds: Some(60),
            ..LeaseSpec::default()
        }),
    }
}

/// Writes the lease, as it was read, with this holder.
async fn takes(entry: Entry<'_, Lease>, name: &str) -> Result<(), CommitError> {
    let mut entry = match entry {
        Entry::Vacant(entry) => entry.insert(held_by(name)),
        Entry::Occupied(mut entry) => {
            entry.get_mut().spec = held_by(name).spec;
            entry
        }
    };
    entry.commit(&PostParams::default()).await
}

/// Of two who have read the same, one has it, and the other one is told so.
pub(crate) async fn races(replica: &Replica) -> Result<(), Fault> {
    let client = replica.client()?;
    let api = leases(&client);
    for round in ["nobody had it", "it was released"] {
        let read = async || Ok::<_, Fault>((api.entry("raced").await?, api.entry("raced").await?));
        let (one, two) = read().await?;
        let (one, two) = tokio::join!(takes(one, "one"), takes(two, "two"));
        let (winner, fault) = match (one, two) {
            (Ok(()), Err(fault)) => ("one", fault),
            (Err(fault), Ok(())) => ("two", fault),
            both => return Err(format!("{round}: {both:?}").into()),
        };
        let CommitError::Save(kube::Error::Api(status)) = &fault else {
            return Err(format!("{round}: {fault}").into());
        };
        must(status.code == 409, || format!("{round}: {status:?}"))?;
        let Entry::Occupied(mut entry) = api.entry("raced").await? else {
            return Err("it is not there".into());
        };
        let spec = entry.get().spec.clone().unwrap_or_default();
        must(spec.holder_identity.as_deref() == Some(winner), || {
            format!("{round}: {spec:?}")
        })?;
        must(
            spec.renew_time.is_some() && spec.acquire_time.is_some(),
            || format!("{round}: {spec:?}"),
        )?;
        // Renewed, and let go.
        entry.get_mut();
        entry.commit(&PostParams::default()).await?;
        entry.get_mut().spec.get_or_insert_default().holder_identity = None;
        entry.commit(&PostParams::default()).await?;
    }
    Ok(())
}
