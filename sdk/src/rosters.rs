//! Rosters: which members must report a resource before an answer about it counts.

use synod_model::{DeleteRoster, ResourceScope, SetRoster};
use synod_proto::{Change, v1};

use crate::client::stubs;
use crate::pages::{Pages, page_size};
use crate::read_options::list_options;
use crate::transport::Try;
use crate::values::read;
use crate::{Client, Error, Header, ReadOptions, RosterChanged, RosterPage, RosterView};

/// The rosters of a cluster. Get it with [`Client::rosters`].
#[derive(Clone, Debug)]
pub struct Rosters {
    client: Client,
    dry_run: bool,
}

/// How to list rosters: by default linearizable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRosters {
    /// How to read.
    pub read: ReadOptions,
    /// How many to ask for at a time; at most 5,000. `None`: 500.
    pub page_size: Option<u32>,
}

impl Client {
    /// The rosters: which members must report which resources before an answer about them counts.
    #[must_use]
    pub fn rosters(&self) -> Rosters {
        Rosters {
            client: self.clone(),
            dry_run: false,
        }
    }
}

impl Rosters {
    /// The same rosters, with every change as a dry run: every check runs and nothing is changed.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Sets which members must report the resources of a scope. This replaces the scope's earlier roster.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: the roster is not of the named revision; [`Error::current`] has it. `NOT_FOUND`: a revision was
    /// named and there is no roster. `QUOTA`: there are 1,000 rosters and none of this scope, or the state is full.
    pub async fn set(&self, set: SetRoster) -> Result<RosterChanged, Error> {
        let dry_run = self.dry_run;
        let change = Change::new(set);
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::RostersSetRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::rosters(attempt.channel).set(request).await }
        });
        read::<v1::RostersSetResponse, _>(answer.await?)
    }

    /// Deletes a roster. Its resources are then covered by the next wider roster, if there is one.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `CONFLICT`: the roster is not of the named revision; [`Error::current`] has it.
    pub async fn delete(&self, delete: DeleteRoster) -> Result<Header, Error> {
        let dry_run = self.dry_run;
        let change = Change::new(delete);
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::RostersDeleteRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::rosters(attempt.channel).delete(request).await }
        });
        let answer: v1::RostersDeleteResponse = answer.await?;
        read(answer.header)
    }

    /// Reads the roster of a scope.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no roster of this scope; a wider one may cover its resources.
    pub async fn get(
        &self,
        scope: &ResourceScope,
        options: ReadOptions,
    ) -> Result<RosterView, Error> {
        let message = v1::RostersGetRequest {
            scope: scope.to_string(),
            read: options.to_wire(),
        };
        let answer = self.client.read(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::rosters(attempt.channel).get(request).await }
        });
        read::<v1::RostersGetResponse, _>(answer.await?)
    }

    /// Reads rosters, page by page, all at one revision: of all resources first, then of groups, then of single ones.
    #[must_use]
    pub fn list(&self, list: &ListRosters) -> Pages<RosterPage> {
        let first = v1::RostersListRequest {
            read: list.read.to_wire(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Pages::new(self.client.clone(), first)
    }
}

impl ListRosters {
    /// All rosters, linearizable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

list_options!(ListRosters);
