//! Lists that are too long for one answer: every list of the client is read here, page by page.
//!
//! All pages are of one revision, which the token of the first one pins: how to read is said only with the first. Once that
//! revision has left the window, the next page fails with `COMPACTED`, and nothing is left out or told twice, unless the
//! caller goes on at the present revision: then pages say where the revision changes.

use synod_model::limits::LIST_PAGE_MAX;
use synod_proto::v1;

use crate::client::stubs;
use crate::values::read;
use crate::{
    Client, CollectionPage, Error, HistoryPage, LeaseCandidatePage, LeasePage, MemberPage,
    MigrationPage, ObjectPage, RosterPage, StorageVersionPage,
};

/// A request for a page of a list.
pub(crate) trait PageRequest: Clone {
    /// The page.
    type Page;

    /// Asks for it. Answers it with the token of the page after it, which is empty at the end.
    fn ask(
        &self,
        client: &Client,
    ) -> impl Future<Output = Result<(Self::Page, String), Error>> + Send;

    /// Asks for the page that a token is of.
    #[must_use]
    fn at(self, token: String) -> Self;

    /// Asks for the page, and those after it, as they are when they are read.
    #[must_use]
    fn at_present(self) -> Self;

    /// Where the page begins; empty if it is the first.
    fn token(&self) -> &str;

    /// Puts a page behind those before it: they are inconsistent if any of them is.
    fn append(all: &mut Self::Page, page: Self::Page);
}

/// The pages of a list.
#[derive(Debug)]
pub(crate) struct Pages<R> {
    client: Client,
    /// What to ask for next; `None` at the end.
    next: Option<R>,
}

impl<R: PageRequest> Pages<R> {
    /// From the page that `first` asks for.
    pub(crate) fn new(client: Client, first: R) -> Self {
        Self {
            client,
            next: Some(first),
        }
    }

    /// The same list from the page of this token on.
    pub(crate) fn resumed(self, token: &str) -> Self {
        let next = self.next.map(|next| next.at(token.to_owned()));
        Self { next, ..self }
    }

    /// Where the next page begins; `None` at the end, and before the first page.
    pub(crate) fn token(&self) -> Option<&str> {
        let next = self.next.as_ref()?;
        Some(next.token()).filter(|token| !token.is_empty())
    }

    /// The same list, whose further pages are read as it is then.
    pub(crate) fn at_present(self) -> Self {
        let next = self.next.map(R::at_present);
        Self { next, ..self }
    }

    /// The next page; `None` after the last. A page that failed is asked for again by the next call.
    pub(crate) async fn next(&mut self) -> Result<Option<R::Page>, Error> {
        let Some(request) = &self.next else {
            return Ok(None);
        };
        let (page, token) = request.ask(&self.client).await?;
        let request = self.next.take().filter(|_| !token.is_empty());
        self.next = request.map(|request| request.at(token));
        Ok(Some(page))
    }

    /// All that is left, as one page; an error also if nothing was left.
    pub(crate) async fn all(mut self) -> Result<R::Page, Error> {
        let mut all = self.next().await?.ok_or_else(Error::at_the_end)?;
        while let Some(page) = self.next().await? {
            R::append(&mut all, page);
        }
        Ok(all)
    }
}

/// A page has at most so many items, whatever is asked for.
pub(crate) fn page_size(asked: Option<u32>) -> Option<u32> {
    asked.map(|size| size.clamp(1, LIST_PAGE_MAX as u32))
}

/// The reading side of the pages of a list, the same for every list.
macro_rules! pager {
    ($pages:ident, $page:ident) => {
        impl $pages {
            /// The same list, but every further page is read at the present revision, behind where the one before it ended:
            /// what to do about `COMPACTED` where a list that begins again would never end.
            ///
            /// Nothing is told twice, and nothing is left out that was there all the time; what happens meanwhile to what was
            /// told already is not. Each page that is of another revision than the one before it says so
            #[doc = concat!("([`", stringify!($page), "::inconsistent`]).")]
            #[must_use]
            pub fn at_present(self) -> Self {
                Self(self.0.at_present())
            }

            /// The next page; `None` after the last. A page that failed is asked for again by the next call.
            ///
            /// # Errors
            ///
            /// `COMPACTED`: the list took so long that its revision left the window: begin again, or go on
            /// [`Self::at_present`].
            pub async fn next(&mut self) -> Result<Option<$page>, Error> {
                self.0.next().await
            }

            /// All that is left, as one page: inconsistent if any of them is.
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", stringify!($pages), "::next`]; also if nothing was left.")]
            pub async fn all(self) -> Result<$page, Error> {
                self.0.all().await
            }
        }
    };
}

pub(crate) use pager;

macro_rules! pages {
    ($service:ident.$method:ident, $request:ident, $answer:ident, $page:ident) => {
        pages!($service.$method, $request, $answer, $page, |answer| answer);
    };
    ($service:ident.$method:ident, $request:ident, $answer:ident, $page:ident, $parts:expr) => {
        impl PageRequest for v1::$request {
            type Page = $page;

            async fn ask(&self, client: &Client) -> Result<($page, String), Error> {
                let answer = client.read(|attempt| {
                    let request = attempt.request(self.clone());
                    async move { stubs::$service(attempt.channel).$method(request).await }
                });
                let mut answer: v1::$answer = answer.await?;
                let token = std::mem::take(&mut answer.continue_token);
                let parts: fn(v1::$answer) -> _ = $parts;
                Ok((read(parts(answer))?, token))
            }

            fn at(self, continue_token: String) -> Self {
                Self {
                    read: None,
                    continue_token,
                    ..self
                }
            }

            fn at_present(self) -> Self {
                Self {
                    continue_at_present: true,
                    ..self
                }
            }

            fn token(&self) -> &str {
                &self.continue_token
            }

            fn append(all: &mut $page, page: $page) {
                all.inconsistent |= page.inconsistent;
                all.items.extend(page.items);
            }
        }
    };
}

pages!(
    membership.list,
    MembershipListRequest,
    MembershipListResponse,
    MemberPage
);
pages!(
    storage_versions.list,
    StorageVersionsListRequest,
    StorageVersionsListResponse,
    StorageVersionPage
);
pages!(
    migrations.list,
    MigrationsListRequest,
    MigrationsListResponse,
    MigrationPage
);
pages!(
    collections.list,
    CollectionsListRequest,
    CollectionsListResponse,
    CollectionPage
);
pages!(
    rosters.list,
    RostersListRequest,
    RostersListResponse,
    RosterPage
);
pages!(
    objects.list,
    ObjectsListRequest,
    ObjectsListResponse,
    ObjectPage
);
pages!(
    leases.list,
    LeasesListRequest,
    LeasesListResponse,
    LeasePage
);
pages!(
    leases.list_candidates,
    LeasesListCandidatesRequest,
    LeasesListCandidatesResponse,
    LeaseCandidatePage
);
pages!(
    controller_revisions.list,
    ControllerRevisionsListRequest,
    ControllerRevisionsListResponse,
    HistoryPage,
    |answer| (answer.header, answer.items, answer.inconsistent)
);
pages!(
    controller_revisions.history,
    ControllerRevisionsHistoryRequest,
    ControllerRevisionsHistoryResponse,
    HistoryPage,
    |answer| (answer.header, answer.items, answer.inconsistent)
);
