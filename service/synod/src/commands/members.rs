//! `synod members`: shows the members.

use clap::ArgMatches;
use synod_client::{ListMembers, MemberId, ReadOptions};

use super::{connect, now, show};
use crate::args::{MembersArgs, MembersCommand, QueryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(crate) async fn run(args: &MembersArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.command {
        None => list(&args.query, matches).await,
        Some(MembersCommand::List(query)) => list(query, matches).await,
        Some(MembersCommand::Get { id, query }) => get(id, query, matches).await,
    }
}

async fn list(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client.members(ListMembers::new()).all().await?;
    show(&views::members(&page, now()), query.output)
}

async fn get(id: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let id = MemberId::parse(id)
        .map_err(|fault| Failure::invalid("this is no id of a member", fault.at("ID").into()))?;
    let client = connect(&query.client, matches).await?;
    let view = client.member(&id, ReadOptions::linearizable()).await?;
    show(&views::member(&view, now()), query.output)
}
