//! `synod members`: shows the members, and puts one out.

use clap::ArgMatches;
use synod_client::{
    Client, Epoch, ErrorKind, Header, ListMembers, ListStorageVersions, MemberEpoch, MemberId,
    ReadOptions,
};

use super::{connect, done, now, show};
use crate::args::{ClientArgs, MembersArgs, MembersCommand, QueryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(crate) async fn run(args: &MembersArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.command {
        None => list(&args.query, matches).await,
        Some(MembersCommand::List(query)) => list(query, matches).await,
        Some(MembersCommand::Get { id, query }) => get(id, query, matches).await,
        Some(MembersCommand::Evict {
            id,
            stopped,
            client,
        }) => evict(id, *stopped, client, matches).await,
    }
}

async fn list(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client.members(ListMembers::new()).all().await?;
    show(&views::members(&page, now()), query.output)
}

async fn get(id: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let id = named(id)?;
    let client = connect(&query.client, matches).await?;
    let view = client.member(&id, ReadOptions::linearizable()).await?;
    show(&views::member(&view, now()), query.output)
}

async fn evict(
    id: &str,
    stopped: bool,
    args: &ClientArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let id = named(id)?;
    let client = connect(args, matches).await?;
    let evicted = evict_present(&client, &id, stopped).await;
    let _ = client.close().await;
    done(&format!("{id} is evicted"), &evicted?)
}

/// Evicts the member as it is now: the cluster compares its epoch. Of one that is gone without a gate, it can still be said that
/// it has stopped.
async fn evict_present(client: &Client, id: &MemberId, stopped: bool) -> Result<Header, Failure> {
    let member = match client.member(id, ReadOptions::linearizable()).await {
        Ok(view) => MemberEpoch {
            member: id.clone(),
            epoch: view.member.epoch,
            cluster: Some(view.header.cluster),
        },
        Err(error) if stopped && error.kind() == ErrorKind::NotFound => {
            let epoch = last_epoch_without_gate(client, id).await?;
            MemberEpoch {
                member: id.clone(),
                epoch: epoch.ok_or(error)?,
                cluster: None,
            }
        }
        Err(error) => return Err(error.into()),
    };
    Ok(client.evict_member(&member, stopped).await?)
}

/// The last epoch of a member without a gate that went without saying so.
async fn last_epoch_without_gate(client: &Client, id: &MemberId) -> Result<Option<Epoch>, Failure> {
    let all = ListStorageVersions::new().with_unreported();
    let page = client.storage_versions(all).all().await?;
    let states = page.items.iter().flat_map(|item| &item.storage_state);
    let mut gone = states.flat_map(|state| &state.ungated_gone);
    Ok(gone.find(|gone| gone.member == *id).map(|gone| gone.epoch))
}

fn named(id: &str) -> Result<MemberId, Failure> {
    MemberId::parse(id)
        .map_err(|fault| Failure::invalid("this is no id of a member", fault.at("ID").into()))
}
