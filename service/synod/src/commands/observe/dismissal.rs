//! `synod observe --dismiss`: ends what looks at discovery have shown.

use clap::ArgMatches;
use synod_client::{Client, DismissLooks, ObservedServer, ObserverName, ResourceSpelling};

use crate::args::ObserveArgs;
use crate::commands::{connect, spelling};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::Resolver;
use crate::output;

/// The place of a resource in a message.
const RESOURCE: &str = "--dismiss";

pub(super) async fn run(args: &ObserveArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spellings = args.dismiss.iter().map(|name| spelling(name, RESOURCE));
    let spellings = spellings.collect::<Result<Vec<_>, _>>()?;
    let observer = args.observer.as_deref().map(observer_name).transpose()?;
    let server = args.server.as_deref().map(server_name).transpose()?;
    let client = connect(&args.client, matches).await?;
    let ended = dismiss(&client, &spellings, observer.as_ref(), server.as_ref()).await;
    let _ = client.close().await;
    ended
}

async fn dismiss(
    client: &Client,
    spellings: &[ResourceSpelling],
    observer: Option<&ObserverName>,
    server: Option<&ObservedServer>,
) -> Result<Exit, Failure> {
    for spelling in spellings {
        let resolver = Resolver::load(client).await?;
        let resource = resolver.resolve_one(RESOURCE, spelling)?;
        let answer = client
            .dismiss_looks(DismissLooks {
                resource: resource.clone(),
                observer: observer.cloned(),
                server: server.cloned(),
            })
            .await?;
        let revision = answer.header.revision;
        let name = resource.qualified();
        output::print(&format!(
            "{name}  dismissed at revision {revision}: what was shown drains\n"
        ))?;
    }
    Ok(Exit::Ok)
}

pub(super) fn observer_name(text: &str) -> Result<ObserverName, Failure> {
    ObserverName::parse(text)
        .map_err(|fault| Failure::invalid("this is no observer", fault.at("--observer").into()))
}

fn server_name(text: &str) -> Result<ObservedServer, Failure> {
    ObservedServer::parse(text)
        .map_err(|fault| Failure::invalid("this is no server", fault.at("--server").into()))
}
