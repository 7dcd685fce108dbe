//! What the classes have in common: each is a handle around a value of the client.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use synod_bound::{Caller, Feed, Taken};

use crate::call::{Call, object};
use crate::caller::Followed;
use crate::failure::{self, Failure, raised};
use crate::runtime::{Home, OnRuntime};

/// A value of the client, or why it can be used no longer.
type Present<T> = Result<Arc<T>, &'static str>;

/// A value of the client that an object of Python holds until it lets it go.
pub(crate) struct Held<T> {
    kept: OnRuntime<Mutex<Present<T>>>,
}

impl<T> Held<T> {
    pub(crate) fn new(home: Home, value: T) -> Self {
        Self {
            kept: OnRuntime::new(home, Mutex::new(Ok(Arc::new(value)))),
        }
    }

    pub(crate) fn home(&self) -> &Home {
        &self.kept.home
    }

    /// The value.
    pub(crate) fn bound(&self) -> PyResult<Arc<T>> {
        self.present()?.clone().map_err(failure::closed)
    }

    /// Lets the value go. Who uses it from now on is told this.
    pub(crate) fn let_go(&self, told: &'static str) -> PyResult<()> {
        let gone = std::mem::replace(&mut *self.present()?, Err(told));
        self.home().within(|| drop(gone));
        Ok(())
    }

    fn present(&self) -> PyResult<MutexGuard<'_, Present<T>>> {
        let present = self.kept.get()?;
        Ok(present.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers what the value answers at once.
    pub(crate) fn now<V, P: Of<V>>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(Arc<T>) -> Result<V, Failure>,
    ) -> PyResult<P> {
        let value = self.bound()?;
        let answer = raised(py, self.home().within(|| ask(value)))?;
        Ok(P::of(answer, self.home()))
    }

    /// A call that answers what the value answers in time, by asking this of a replica.
    pub(crate) fn later<V, P, W>(
        &self,
        py: Python<'_>,
        request: Option<&str>,
        ask: impl FnOnce(Arc<T>) -> W,
    ) -> PyResult<Call>
    where
        V: Send + 'static,
        P: Of<V> + for<'py> IntoPyObject<'py>,
        W: Future<Output = Result<V, Failure>> + Send + 'static,
    {
        let value = self.bound()?;
        let followed = Followed::begin(py, request)?;
        let work = Caller::of(followed.caller(), ask(value));
        let home = self.home().clone();
        let call = Call::finished(self.home(), work, move |py, answer| {
            object(py, P::of(answer, &home))
        });
        Ok(call.followed(followed))
    }

    /// A call that answers the one result of a feed, which asks this of a replica.
    pub(crate) fn fed<V, P>(
        &self,
        py: Python<'_>,
        request: Option<&str>,
        ask: impl FnOnce(Arc<T>) -> Result<Feed<V>, Failure>,
    ) -> PyResult<Call>
    where
        V: Taken + Send + 'static,
        P: Of<V> + for<'py> IntoPyObject<'py>,
    {
        let followed = Followed::begin(py, request)?;
        let caller = followed.caller();
        let feed: Feed<V> = self.now(py, |value| Caller::of_sync(caller, || ask(value)))?;
        let home = self.home().clone();
        let work = async move {
            feed.ready().await?;
            Ok(feed)
        };
        let call = Call::finished(self.home(), work, move |py, feed| match feed.pop() {
            Some(result) => object(py, P::of(result, &home)),
            None => Err(failure::closed("it was closed while this was waited for")),
        });
        Ok(call.followed(followed))
    }
}

/// What Python has of a value of the client: the value as it is, or a handle around it.
pub(crate) trait Of<T> {
    fn of(value: T, home: &Home) -> Self;
}

impl<T> Of<T> for T {
    fn of(value: T, _: &Home) -> Self {
        value
    }
}

/// A class, what it is a handle around, and its methods. A row says how a method answers, its name, what the value is
/// called in the body, the arguments, what Python is answered, and the body, in which `?` passes a failure on:
///
/// - `now`: the value of the body, at once.
/// - `later`: a [`Call`] that answers the value of the body, which may wait. Its arguments are owned.
/// - `fed`: a [`Call`] that answers the one result of the feed that is the value of the body.
///
/// A method of another form is written by hand behind the rows: a class has one block of methods.
///
/// ```text
/// handle! {
///     /// An election.
///     Election(synod_bound::Election) {
///         fed campaign(election) -> Lock { election.campaign() }
///         now observe(election) -> Observer { election.observe() }
///         later withdraw(election) -> () { election.withdraw().await? }
///     }
///
///     fn over(&self, lock: &Lock) -> PyResult<Call> { … }
/// }
/// ```
macro_rules! handle {
    (
        $(#[$class_doc:meta])*
        $class:ident($bound:ty) { $(
            $(#[$doc:meta])*
            $form:ident $name:ident($value:ident $($arguments:tt)*) -> $answer:ty { $($body:tt)* }
        )* }
        $($by_hand:tt)*
    ) => {
        $(#[$class_doc])*
        #[pyclass(frozen, module = "synod._synod")]
        pub(crate) struct $class {
            held: $crate::handle::Held<$bound>,
        }

        impl $crate::handle::Of<$bound> for $class {
            fn of(value: $bound, home: &$crate::runtime::Home) -> Self {
                let held = $crate::handle::Held::new(home.clone(), value);
                Self { held }
            }
        }

        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                fn $name(&self, py: Python<'_> $($arguments)*) -> PyResult<$crate::handle::handle!(@ $form $answer)> {
                    $crate::handle::handle!(@ $form $answer, self.held, py, $class $name, $value, { $($body)* })
                }
            )*
            $($by_hand)*
        }
    };
    (@ now $answer:ty) => { $answer };
    (@ $call:ident $answer:ty) => { $crate::call::Call };
    (@ now $answer:ty, $held:expr, $py:ident, $class:ident $name:ident, $value:ident, $body:block) => {
        $held.now($py, |$value| Ok($body))
    };
    (@ later $answer:ty, $held:expr, $py:ident, $class:ident $name:ident, $value:ident, $body:block) => {
        $held.later::<_, $answer, _>($py, synod_bound::request_of(concat!(stringify!($class), ".", stringify!($name))), |$value| async move { Ok($body) })
    };
    (@ fed $answer:ty, $held:expr, $py:ident, $class:ident $name:ident, $value:ident, $body:block) => {
        $held.fed::<_, $answer>($py, synod_bound::request_of(concat!(stringify!($class), ".", stringify!($name))), |$value| Ok($body))
    };
}

pub(crate) use handle;
