//! Lists that are too long for one answer: every list of the client is read here, page by page.
//!
//! All pages are of one revision, which the token of the first one pins: how to read is said only with the first. Once that
//! revision has left the window, the next page fails with `COMPACTED`, and nothing is left out or told twice, unless the
//! caller goes on at the present revision: then pages say where the revision changes.

use std::collections::VecDeque;
use std::fmt;

use futures::Stream;
use futures::future::BoxFuture;
use futures::stream::unfold;
use synod_model::limits::LIST_PAGE_MAX;
use synod_proto::v1;

use crate::client::stubs;
use crate::values::read;
use crate::{
    Client, CollectionPage, Error, HistoryPage, LeaseCandidatePage, LeasePage, MemberPage,
    MigrationPage, ObjectPage, RosterPage, StorageVersionPage,
};

/// The pages of a list, such as [`MemberPage`]s. Nothing is asked for before the first call of [`next`](Self::next).
pub struct Pages<P> {
    client: Client,
    /// What to ask for next; `None` at the end.
    next: Option<Box<dyn PageRequest<Page = P>>>,
}

/// One page of a list: [`MemberPage`], [`ObjectPage`] and the like, and nothing else.
pub trait Page: sealed::Parts + Send + 'static {}

impl<P: sealed::Parts + Send + 'static> Page for P {}

pub(crate) mod sealed {
    /// What pages are made of.
    pub trait Parts: Sized {
        /// What is listed.
        type Item: Send;

        /// Puts a page behind those before it: they are inconsistent if any of them is.
        fn append(&mut self, page: Self);

        /// What is on it, in order.
        fn into_items(self) -> Vec<Self::Item>;
    }
}

/// A request for a page of a list.
pub(crate) trait PageRequest: Send + Sync {
    /// The page.
    type Page;

    /// Asks for it. Answers it with the token of the page after it, which is empty at the end.
    fn ask<'a>(&'a self, client: &'a Client) -> BoxFuture<'a, Result<(Self::Page, String), Error>>;

    /// Becomes the request for the page that a token is of.
    fn go_on(&mut self, token: String);

    /// Asks for the page, and those after it, as they are when they are read.
    fn go_on_at_present(&mut self);

    /// Where the page begins; empty if it is the first.
    fn token(&self) -> &str;
}

impl<P: Page> Pages<P> {
    /// From the page that `first` asks for.
    pub(crate) fn new(client: Client, first: impl PageRequest<Page = P> + 'static) -> Self {
        Self {
            client,
            next: Some(Box::new(first)),
        }
    }

    /// The same list, but from where this token was given, at the revision of its first page.
    ///
    /// [`next`](Self::next) fails with `COMPACTED` if that revision is not kept any more, and with `INVALID_ARGUMENT` if
    /// the token is of another list.
    #[must_use]
    pub fn resumed(mut self, token: &str) -> Self {
        if let Some(next) = &mut self.next {
            next.go_on(token.to_owned());
        }
        self
    }

    /// The same list, but every further page is read at the present revision, behind where the one before it ended: what to
    /// do about `COMPACTED` where a list that begins again would never end.
    ///
    /// Nothing is told twice, and nothing is left out that was there all the time; what happens meanwhile to what was told
    /// already is not. Each page that is of another revision than the one before it says so
    /// ([`ObjectPage::inconsistent`] and the like).
    #[must_use]
    pub fn at_present(mut self) -> Self {
        if let Some(next) = &mut self.next {
            next.go_on_at_present();
        }
        self
    }

    /// Where the next page begins; `None` at the end, and before the first page.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        let next = self.next.as_ref()?;
        Some(next.token()).filter(|token| !token.is_empty())
    }

    /// The next page; `None` after the last. A page that failed is asked for again by the next call.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again, or go on
    /// [`Self::at_present`].
    pub async fn next(&mut self) -> Result<Option<P>, Error> {
        let Some(request) = &self.next else {
            return Ok(None);
        };
        let (page, token) = request.ask(&self.client).await?;
        self.next = self.next.take().filter(|_| !token.is_empty());
        if let Some(next) = &mut self.next {
            next.go_on(token);
        }
        Ok(Some(page))
    }

    /// All that is left, as one page: inconsistent if any of them is.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next); also if nothing was left.
    pub async fn all(mut self) -> Result<P, Error> {
        let mut all = self.next().await?.ok_or_else(Error::at_the_end)?;
        while let Some(page) = self.next().await? {
            all.append(page);
        }
        Ok(all)
    }

    /// One item after the other, at the revisions of their pages; a page is asked for when the one before is used up. It
    /// ends after an error.
    pub fn stream(self) -> impl Stream<Item = Result<P::Item, Error>> + Send {
        let begin = (Some(self), VecDeque::new());
        unfold(begin, |(mut pages, mut items)| async move {
            loop {
                if let Some(item) = items.pop_front() {
                    return Some((Ok(item), (pages, items)));
                }
                match pages.as_mut()?.next().await {
                    Ok(Some(page)) => items = page.into_items().into(),
                    Ok(None) => return None,
                    Err(error) => return Some((Err(error), (None, items))),
                }
            }
        })
    }
}

impl<P> fmt::Debug for Pages<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let next = self.next.as_ref().map(|next| next.token());
        f.debug_struct("Pages")
            .field("next", &next)
            .finish_non_exhaustive()
    }
}

/// A page has at most so many items, whatever is asked for.
pub(crate) fn page_size(asked: Option<u32>) -> Option<u32> {
    asked.map(|size| size.clamp(1, LIST_PAGE_MAX as u32))
}

/// What pages are made of, by their items.
macro_rules! parts {
    ($($page:ident of $item:ty;)*) => {
        $(
            impl sealed::Parts for $page {
                type Item = $item;

                fn append(&mut self, page: Self) {
                    self.inconsistent |= page.inconsistent;
                    self.items.extend(page.items);
                }

                fn into_items(self) -> Vec<Self::Item> {
                    self.items
                }
            }
        )*
    };
}

parts! {
    MemberPage of crate::MemberItem;
    StorageVersionPage of crate::StorageVersionItem;
    MigrationPage of crate::Migration;
    CollectionPage of crate::CollectionItem;
    RosterPage of crate::Roster;
    ObjectPage of crate::ObjectItem;
    LeasePage of crate::LeaseItem;
    LeaseCandidatePage of crate::LeaseCandidateItem;
    HistoryPage of crate::ControllerRevision;
}

macro_rules! pages {
    ($($service:ident.$method:ident: $request:ident, $answer:ident => $page:ident;)*) => { $(
        impl PageRequest for v1::$request {
            type Page = $page;

            fn ask<'a>(
                &'a self,
                client: &'a Client,
            ) -> BoxFuture<'a, Result<($page, String), Error>> {
                Box::pin(async move {
                    let answer = client.read(|attempt| {
                        let request = attempt.request(self.clone());
                        async move { stubs::$service(attempt.channel).$method(request).await }
                    });
                    let mut answer: v1::$answer = answer.await?;
                    let token = std::mem::take(&mut answer.continue_token);
                    Ok((read(answer)?, token))
                })
            }

            fn go_on(&mut self, token: String) {
                self.read = None;
                self.continue_token = token;
            }

            fn go_on_at_present(&mut self) {
                self.continue_at_present = true;
            }

            fn token(&self) -> &str {
                &self.continue_token
            }
        }
    )* };
}

pages! {
    membership.list: MembershipListRequest, MembershipListResponse => MemberPage;
    storage_versions.list: StorageVersionsListRequest, StorageVersionsListResponse => StorageVersionPage;
    migrations.list: MigrationsListRequest, MigrationsListResponse => MigrationPage;
    collections.list: CollectionsListRequest, CollectionsListResponse => CollectionPage;
    rosters.list: RostersListRequest, RostersListResponse => RosterPage;
    objects.list: ObjectsListRequest, ObjectsListResponse => ObjectPage;
    leases.list: LeasesListRequest, LeasesListResponse => LeasePage;
    leases.list_candidates: LeasesListCandidatesRequest, LeasesListCandidatesResponse => LeaseCandidatePage;
    controller_revisions.list: ControllerRevisionsListRequest, ControllerRevisionsListResponse => HistoryPage;
    controller_revisions.history: ControllerRevisionsHistoryRequest, ControllerRevisionsHistoryResponse => HistoryPage;
}
