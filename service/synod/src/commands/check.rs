//! `synod storage-versions check`: whether the members agree on resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use synod_client::{
    Assumed, Assumption, Client, ErrorKind, GroupResource, ListRosters, ListStorageVersions,
    ObjectKind, ReadOptions, Reflector, ResourceScope, ResourceSpelling, Revision, StorageState,
    StorageVersion, Violations,
};
use tokio::time::{Instant, timeout_at};

use super::connect;
use crate::args::QueryArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{Resolver, spelling};
use crate::output;
use crate::verdict::ResourceVerdict;
use crate::views;

pub(crate) async fn run(
    (names, is_new): (&[String], bool),
    wait: Option<Duration>,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let spellings = spellings(names)?;
    let client = connect(&query.client, matches).await?;
    let wanted = resources(&client, &spellings, is_new).await?;
    let known = match wait {
        None => Known::read(&client).await?,
        Some(wait) => wait_for(&client, &wanted, Instant::now() + wait).await?,
    };
    if let Some(missing) = known.missing(&wanted) {
        let message = format!("{} was never reported", missing.qualified());
        return Err(Failure::of(ErrorKind::NotFound, message));
    }
    let verdicts = known.verdicts(&wanted);
    let assumed = known.assumed(&wanted);
    let document = views::verdicts(known.revision, &verdicts, assumed.as_slice());
    output::print(&document.render(query.output))?;
    Ok(if verdicts.iter().all(ResourceVerdict::is_agreed) {
        Exit::Ok
    } else {
        Exit::Disagree
    })
}

fn spellings(names: &[String]) -> Result<Vec<ResourceSpelling>, Failure> {
    let mut faults = Violations::new();
    let names = names.iter().enumerate();
    let found = names.filter_map(|(place, name)| faults.parsed("", spelling(name, &at(place))));
    let found = found.collect();
    if faults.is_empty() {
        Ok(found)
    } else {
        Err(Failure::invalid("these are no resources", faults))
    }
}

/// The named resources; none means all that are reported.
async fn resources(
    client: &Client,
    spellings: &[ResourceSpelling],
    is_new: bool,
) -> Result<BTreeSet<GroupResource>, Failure> {
    if spellings.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut resolver = Resolver::load_unless_new(client, is_new).await?;
    let spellings = spellings.iter().enumerate();
    let found = spellings.filter_map(|(place, name)| resolver.resolve(&at(place), name));
    let found = found.collect();
    resolver.finish(Some(found))
}

/// The place of a name in a message.
fn at(place: usize) -> String {
    format!("NAMES[{place}]")
}

/// Watches until there is agreement. Returns what is known then, or at the deadline.
async fn wait_for(
    client: &Client,
    wanted: &BTreeSet<GroupResource>,
    deadline: Instant,
) -> Result<Known, Failure> {
    let kinds = vec![
        ObjectKind::StorageVersion,
        ObjectKind::StorageState,
        ObjectKind::Roster,
    ];
    let reflector = client.reflect(kinds).await?;
    loop {
        let known = Known::of(&reflector);
        if known.is_agreed(wanted) {
            return Ok(known);
        }
        match timeout_at(deadline, reflector.changed(known.revision)).await {
            Ok(changed) => changed.map(drop)?,
            Err(_) => return Ok(Known::of(&reflector)),
        }
    }
}

/// What is known of all resources at one revision.
struct Known {
    revision: Revision,
    reported: BTreeMap<GroupResource, Arc<StorageVersion>>,
    /// The storage state of every resource that was ever reported.
    states: BTreeMap<GroupResource, Arc<StorageState>>,
    /// The scopes of all rosters.
    rosters: Vec<ResourceScope>,
}

impl Known {
    async fn read(client: &Client) -> Result<Self, Failure> {
        let list = ListStorageVersions::new().with_unreported();
        let page = client.storage_versions(list).all().await?;
        let states = page
            .items
            .iter()
            .filter_map(|item| item.storage_state.clone());
        let states = states
            .map(|state| (state.resource.clone(), Arc::new(state)))
            .collect();
        let versions = page
            .items
            .iter()
            .filter_map(|item| item.storage_version.clone());
        let reported = versions
            .map(|version| (version.resource.clone(), Arc::new(version)))
            .collect();
        let revision = page.header.revision;
        let list = ListRosters::new().with_read(ReadOptions::at_revision(revision));
        let rosters = client.rosters().list(&list).all().await?.items.into_iter();
        Ok(Self {
            revision,
            reported,
            states,
            rosters: rosters.map(|roster| roster.scope).collect(),
        })
    }

    fn of(reflector: &Reflector) -> Self {
        // The revision is read first: a change after it is looked at once more, and none is missed.
        let revision = reflector.revision();
        let versions = reflector.storage_versions().into_iter();
        let states = reflector.storage_states().into_iter();
        Self {
            revision,
            reported: versions
                .map(|version| (version.resource.clone(), version))
                .collect(),
            states: states
                .map(|state| (state.resource.clone(), state))
                .collect(),
            rosters: reflector
                .rosters()
                .iter()
                .map(|roster| roster.scope.clone())
                .collect(),
        }
    }

    /// The assumption for those of the resources that no roster covers, whether or not there is agreement on them.
    fn assumed(&self, wanted: &BTreeSet<GroupResource>) -> Option<Assumed> {
        let shown: Vec<&GroupResource> = if wanted.is_empty() {
            self.reported.keys().collect()
        } else {
            wanted.iter().collect()
        };
        let covered = |resource: &GroupResource| {
            let mut scopes = self.rosters.iter();
            scopes.any(|scope| scope.covers(resource))
        };
        let without = shown.into_iter().filter(|resource| !covered(resource));
        let resources: Vec<GroupResource> = without.cloned().collect();
        let mut states = resources.iter().filter_map(|of| self.states.get(of));
        let observed = states.any(|state| !state.observed.is_empty() && !state.observation_expired);
        (!resources.is_empty()).then(|| Assumed {
            reason: Assumption::NoRoster,
            message: Assumption::NoRoster.sentence(observed).to_owned(),
            resources,
            omitted: 0,
        })
    }

    fn verdicts(&self, wanted: &BTreeSet<GroupResource>) -> Vec<ResourceVerdict> {
        let verdict = |resource: &GroupResource| {
            let version = self.reported.get(resource).map(AsRef::as_ref);
            let state = self.states.get(resource).map(AsRef::as_ref);
            ResourceVerdict::of(resource, version, state)
        };
        if wanted.is_empty() {
            self.reported.keys().map(verdict).collect()
        } else {
            wanted.iter().map(verdict).collect()
        }
    }

    fn is_agreed(&self, wanted: &BTreeSet<GroupResource>) -> bool {
        self.verdicts(wanted).iter().all(ResourceVerdict::is_agreed)
    }

    /// A wanted resource that was never reported, perhaps because its name was mistyped.
    fn missing<'a>(&self, wanted: &'a BTreeSet<GroupResource>) -> Option<&'a GroupResource> {
        wanted.iter().find(|resource| {
            !self.reported.contains_key(resource) && !self.states.contains_key(*resource)
        })
    }
}
