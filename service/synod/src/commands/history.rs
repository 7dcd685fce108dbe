//! `synod history`: shows, rolls back and truncates the histories of controllers.

use clap::ArgMatches;
use synod_client::{
    Client, ControllerHistory, ErrorKind, History, Kind, Labels, ListControllerRevisions,
    Namespace, NamespacedName, ObjectName, OwnerReference, ReadOptions, Revision, RevisionNumber,
    RollbackTarget, Uid, Violation, Violations,
};

use super::{connect, now, show};
use crate::args::{HistoryCommand, OwnerArgs, QueryArgs, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(crate) async fn run(command: &HistoryCommand, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        HistoryCommand::List {
            owner,
            namespace,
            labels,
            query,
        } => {
            let asked = asked(owner.as_deref(), namespace.as_deref(), labels)?;
            list(asked, owner.is_some(), query, matches).await
        }
        HistoryCommand::Show {
            name,
            namespace,
            query,
        } => {
            let [name] = names([("NAME", name)])?;
            let key = NamespacedName::new(Some(&space(namespace)?), &name);
            let client = connect(&query.client, matches).await?;
            let options = ReadOptions::linearizable();
            let view = client.controller_revision(&key, options).await?;
            show(&views::controller_revision(&view, now()), query.output)
        }
        HistoryCommand::Diff {
            from,
            to,
            namespace,
            query,
        } => diff((from, to), &space(namespace)?, query, matches).await,
        HistoryCommand::Rollback {
            owner,
            to,
            to_name,
            write,
        } => {
            let target = target(*to, to_name.as_deref())?;
            rollback(owner, target, write, matches).await
        }
        HistoryCommand::Truncate {
            owner,
            limit,
            write,
        } => truncate(owner, *limit, write, matches).await,
    }
}

async fn list(
    asked: ListControllerRevisions,
    of_one: bool,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let mut page = client.controller_revisions(asked).await?;
    if of_one {
        page.items.sort_by_key(|revision| revision.place());
    }
    show(&views::controller_revisions(&page, now()), query.output)
}

async fn diff(
    (from, to): (&str, &str),
    namespace: &Namespace,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let mut found = Violations::new();
    let mut name = |place: &str, text: &str| {
        let given = (!text.is_empty()).then(|| ObjectName::parse(text));
        found.parsed(place, given.transpose()).flatten()
    };
    let (from, to) = (name("FROM", from), name("TO", to));
    if !found.is_empty() {
        return Err(Failure::invalid("this names no snapshot", found));
    }
    let client = connect(&query.client, matches).await?;
    let diff = client.diff_controller_revisions(namespace, from.as_ref(), to.as_ref());
    show(&views::revision_diff(&diff.await?), query.output)
}

async fn rollback(
    owner: &OwnerArgs,
    to: RollbackTarget,
    write: &WriteArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let wanted = Owner::of(owner)?;
    let client = connect(&write.query.client, matches).await?;
    let history = wanted.history(&client).await?;
    let if_newest = write.if_revision.map(Revision::new);
    let done = history.rollback(to, if_newest, write.dry_run).await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    show(&views::rolled_back(&done?), write.query.output)
}

async fn truncate(
    owner: &OwnerArgs,
    limit: u32,
    write: &WriteArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let wanted = Owner::of(owner)?;
    let client = connect(&write.query.client, matches).await?;
    let history = wanted.history(&client).await?;
    let if_newest = write.if_revision.map(Revision::new);
    let done = history.truncate(limit, if_newest, write.dry_run).await;
    let _ = client.close().await;
    show(&views::truncated(&done?), write.query.output)
}

/// A controller's own object, as the arguments name it.
struct Owner {
    namespace: Namespace,
    kind: Kind,
    name: ObjectName,
    uid: Option<Uid>,
}

impl Owner {
    fn of(args: &OwnerArgs) -> Result<Self, Failure> {
        let namespace = space(&args.namespace)?;
        let (kind, name) = kind_and_name(&args.owner)?;
        let uid = args.uid.as_deref().map(Uid::parse).transpose();
        let uid =
            uid.map_err(|fault| Failure::invalid("this is no uid", fault.at("--uid").into()))?;
        Ok(Self {
            namespace,
            kind,
            name,
            uid,
        })
    }

    /// The history of this owner. Snapshots hold a full owner reference; people name only its kind and name.
    async fn history(self, client: &Client) -> Result<History, Failure> {
        let Self {
            namespace,
            kind,
            name,
            uid,
        } = self;
        let called = format!("{kind}/{name} of the namespace {namespace}");
        let asked = ListControllerRevisions::new().of_owner(namespace.clone(), kind, name);
        let page = client.controller_revisions(asked).await?;
        let owners = page.items.into_iter().filter_map(|found| found.controller);
        let mut owners: Vec<OwnerReference> = owners
            .filter(|owner| uid.is_none_or(|uid| owner.uid == uid))
            .collect();
        owners.sort_by_key(|owner| owner.uid);
        owners.dedup_by_key(|owner| owner.uid);
        match owners.len() {
            0 => {
                let message = format!("there is no history of {called}");
                let advice = "see with `synod history list` whose histories there are";
                Err(Failure::of(ErrorKind::NotFound, message).with_advice(advice))
            }
            1 => Ok(client.history(ControllerHistory {
                namespace,
                owner: owners.remove(0),
                selector: Labels::default(),
            })),
            _ => {
                let uids: Vec<String> = owners.iter().map(|owner| owner.uid.to_string()).collect();
                let rule = format!("several have been called so: {}", uids.join(", "));
                let fault = Violation::required(rule).at("--uid");
                let message = format!("{called} is not one owner");
                Err(Failure::invalid(&message, fault.into()))
            }
        }
    }
}

/// The list that the arguments ask for.
fn asked(
    owner: Option<&str>,
    namespace: Option<&str>,
    labels: &[String],
) -> Result<ListControllerRevisions, Failure> {
    let mut asked = ListControllerRevisions::new();
    asked.namespace = namespace.map(space).transpose()?;
    if let Some(owner) = owner {
        let namespace = match asked.namespace.take() {
            Some(namespace) => namespace,
            None => space("default")?,
        };
        let (kind, name) = kind_and_name(owner)?;
        asked = asked.of_owner(namespace, kind, name);
    }
    let pairs = labels.iter().map(|label| {
        let pair = label.split_once('=');
        pair.ok_or_else(|| {
            Violation::invalid(label, "must be key=value")
                .at("--labels")
                .into()
        })
    });
    let pairs: Result<Vec<_>, Violations> = pairs.collect();
    let parsed = pairs.and_then(|pairs| {
        let mut found = Violations::new();
        let labels = found.parsed("--labels", Labels::parse(pairs));
        labels.ok_or(found)
    });
    asked.labels = parsed.map_err(|found| Failure::invalid("these are no labels", found))?;
    Ok(asked)
}

fn target(number: Option<u64>, name: Option<&str>) -> Result<RollbackTarget, Failure> {
    if let Some(number) = number {
        let number = RevisionNumber::new(number);
        let number = number
            .map_err(|fault| Failure::invalid("this is no number", fault.at("--to").into()))?;
        return Ok(RollbackTarget::Number(number));
    }
    let Some(name) = name else {
        return Ok(RollbackTarget::Previous);
    };
    let [name] = names([("--to-name", name)])?;
    Ok(RollbackTarget::Name(name))
}

fn kind_and_name(owner: &str) -> Result<(Kind, ObjectName), Failure> {
    let mut found = Violations::new();
    let Some((kind, name)) = owner.split_once('/') else {
        found.push(Violation::invalid(owner, "must be Kind/name").at("OWNER"));
        return Err(Failure::invalid("this is no owner", found));
    };
    let kind = found.parsed("OWNER", Kind::parse(kind));
    let name = found.parsed("OWNER", ObjectName::parse(name));
    match (kind, name) {
        (Some(kind), Some(name)) => Ok((kind, name)),
        _ => Err(Failure::invalid("this is no owner", found)),
    }
}

fn space(namespace: &str) -> Result<Namespace, Failure> {
    Namespace::parse(namespace)
        .map_err(|fault| Failure::invalid("this is no namespace", fault.at("--namespace").into()))
}

fn names<const N: usize>(texts: [(&str, &str); N]) -> Result<[ObjectName; N], Failure> {
    let mut found = Violations::new();
    let names = texts.map(|(place, text)| found.parsed(place, ObjectName::parse(text)));
    match names
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .map(TryInto::try_into)
    {
        Some(Ok(names)) => Ok(names),
        _ => Err(Failure::invalid("this names no snapshot", found)),
    }
}
