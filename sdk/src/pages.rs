//! Lists that are too long for one answer: every list of the client is read here, page by page.
//!
//! All pages are of one revision, which the token of the first page pins: only the first request has read options. Once
//! that revision has left the window, the next page fails with `COMPACTED`, so that nothing is left out or delivered
//! twice. A caller may continue at the present revision instead: then pages say where the revision changes.

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

/// The pages of a list, such as [`MemberPage`]s. No request is sent before the first call of [`next`](Self::next).
pub struct Pages<P> {
    client: Client,
    /// The next request; `None` at the end.
    next: Option<Box<dyn PageRequest<Page = P>>>,
}

/// One page of a list: [`MemberPage`], [`ObjectPage`] and the like. No other type can implement this.
pub trait Page: sealed::Parts + Send + 'static {}

impl<P: sealed::Parts + Send + 'static> Page for P {}

pub(crate) mod sealed {
    /// The parts of a page.
    pub trait Parts: Sized {
        /// The type of the listed items.
        type Item: Send;

        /// Appends the next page; the result is inconsistent if either of them is.
        fn append(&mut self, page: Self);

        /// The items of the page, in order.
        fn into_items(self) -> Vec<Self::Item>;
    }
}

/// A request for a page of a list.
pub(crate) trait PageRequest: Send + Sync {
    /// The page.
    type Page;

    /// Sends the request. Returns the page with the token of the next page, which is empty at the end.
    fn ask<'a>(&'a self, client: &'a Client) -> BoxFuture<'a, Result<(Self::Page, String), Error>>;

    /// Turns this into the request for the page of this token.
    fn go_on(&mut self, token: String);

    /// Has this page, and those after it, read at the revision that is present then.
    fn go_on_at_present(&mut self);

    /// Where the page begins; empty if it is the first.
    fn token(&self) -> &str;
}

impl<P: Page> Pages<P> {
    /// The list that begins with the page of `first`.
    pub(crate) fn new(client: Client, first: impl PageRequest<Page = P> + 'static) -> Self {
        Self {
            client,
            next: Some(Box::new(first)),
        }
    }

    /// The same list, continued where this token was given, at the revision of its first page.
    ///
    /// [`next`](Self::next) fails with `COMPACTED` if that revision is not kept any more, and with `INVALID_ARGUMENT`
    /// if the token is of another list.
    #[must_use]
    pub fn resumed(mut self, token: &str) -> Self {
        if let Some(next) = &mut self.next {
            next.go_on(token.to_owned());
        }
        self
    }

    /// The same list, but every further page is read at the present revision, behind the last item of the previous
    /// page. Use this after `COMPACTED` if a list that begins again would never end.
    ///
    /// Nothing is delivered twice, and nothing that exists all the time is left out; later changes of items that were
    /// already delivered are not delivered. Each page that is of another revision than the one before it says so
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

    /// The next page; `None` after the last. A page that failed is requested again by the next call.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again, or continue
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

    /// All remaining pages as one, which is inconsistent if any of them is.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next); also if no page is left.
    pub async fn all(mut self) -> Result<P, Error> {
        let mut all = self.next().await?.ok_or_else(Error::at_the_end)?;
        while let Some(page) = self.next().await? {
            all.append(page);
        }
        Ok(all)
    }

    /// The items one after the other, at the revisions of their pages; a page is requested when the previous one is
    /// used up. The stream ends after an error.
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

/// The page size to request, within the bounds that the cluster allows.
pub(crate) fn page_size(asked: Option<u32>) -> Option<u32> {
    asked.map(|size| size.clamp(1, LIST_PAGE_MAX as u32))
}

/// Implements `sealed::Parts` for pages of these items.
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
