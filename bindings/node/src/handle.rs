//! What the classes have in common: each is a handle around a value of `synod-bound`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, Error, Result};
use synod_bound::{Caller, Feed, Taken};

use crate::call_token::CallToken;
use crate::calls::{CANCELLED, Thrown, handed, promise};

/// A value that an object of JavaScript holds until it lets it go.
#[derive(Debug)]
pub(crate) struct Held<T>(Mutex<Present<T>>);

/// A value, or why it can be used no longer.
type Present<T> = std::result::Result<Arc<T>, &'static str>;

impl<T> Held<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(Ok(Arc::new(value))))
    }

    /// The value.
    pub(crate) fn bound(&self) -> Result<Arc<T>> {
        self.present().clone().map_err(Error::from_reason)
    }

    /// Lets the value go. Who uses it from now on is told this.
    pub(crate) fn let_go(&self, told: &'static str) {
        // It is dropped after the lock was given back.
        let _gone = std::mem::replace(&mut *self.present(), Err(told));
    }

    fn present(&self) -> MutexGuard<'_, Present<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the value answers at once.
    pub(crate) fn now<V>(
        &self,
        ask: impl FnOnce(Arc<T>) -> std::result::Result<V, Thrown>,
    ) -> Result<V> {
        Ok(ask(self.bound()?)?)
    }

    /// The promise of what the value answers in time.
    pub(crate) fn later<'env, V, W>(
        &self,
        env: &'env Env,
        token: Option<&CallToken>,
        ask: impl FnOnce(Arc<T>) -> W,
    ) -> Result<PromiseRaw<'env, V>>
    where
        V: ToNapiValue + Send + 'static,
        W: Future<Output = std::result::Result<V, Thrown>> + Send + 'static,
    {
        let caller = token.map(CallToken::caller);
        promise(env, token, Caller::of(caller, ask(self.bound()?)))
    }

    /// The promise of the one result of a feed. The feed goes with it, so what nobody takes is given back.
    pub(crate) fn fed<'env, F, V>(
        &self,
        env: &'env Env,
        token: Option<&CallToken>,
        ask: impl FnOnce(Arc<T>) -> std::result::Result<Feed<F>, Thrown>,
    ) -> Result<PromiseRaw<'env, V>>
    where
        F: Taken + Send + 'static,
        V: ToNapiValue + From<F> + 'static,
    {
        let caller = token.map(CallToken::caller);
        let feed = self.now(|value| Caller::of_sync(caller, || ask(value)))?;
        let feed = Arc::new(feed);
        let waited = Arc::clone(&feed);
        let ready = async move { waited.ready().await };
        handed(env, token, ready, move |_| {
            let result = feed.pop().map(V::from);
            result.ok_or_else(|| Error::from_reason(CANCELLED))
        })
    }
}

/// A class, what it is a handle around, and its methods, as [`methods!`] takes them.
macro_rules! handle {
    ($about:literal $class:ident($bound:ty) $($methods:tt)*) => {
        #[doc = $about]
        #[derive(Debug)]
        #[napi_derive::napi]
        pub struct $class {
            pub(crate) held: $crate::handle::Held<$bound>,
        }

        impl From<$bound> for $class {
            fn from(value: $bound) -> Self {
                let held = $crate::handle::Held::new(value);
                Self { held }
            }
        }

        $crate::handle::methods! { $class: $($methods)* }
    };
}

/// Methods of a class of [`handle!`]. A row says what a method is for, how it answers, its name, what the value is called
/// in the body, the arguments, what JavaScript is answered, and the body, in which `?` passes a failure on. Behind `or`
/// stands when it fails. [`From`] makes the answer:
///
/// - `now`: of the value of the body, at once. In brackets stands what `#[napi]` is told beside.
/// - `later`: of the value of the body, which may wait. The method answers a promise.
/// - `fed`: of the one result of the feed that is the value of the body. The method answers a promise.
///
/// ```text
/// handle! {
///     "An election in which this process takes part."
///     Election(synod_bound::Election)
///
///     "Waits until this process leads."
///     fed campaign(election) -> Lock { election.campaign() }
/// }
/// ```
///
/// The texts are no comments: `napi-derive` garbles comments that a macro hands on. A method of another form is written by
/// hand, in a block beside.
macro_rules! methods {
    ($class:ident: $(
        $about:literal
        $form:ident $(($told:ident))? $name:ident($value:ident $($arguments:tt)*) -> $answer:ty { $($body:tt)* }
        $(or $fails:literal)?
    )*) => { $(
        $crate::handle::methods! {
            @ $form $class $about [$($fails)?] [$(($told))?]
            $name [$($arguments)*] $answer, $value { $($body)* }
        }
    )* };
    (
        @ now $class:ident $about:literal [$($fails:literal)?] [$($told:tt)?]
        $name:ident [$($arguments:tt)*] $answer:ty, $value:ident $body:block
    ) => {
        #[napi_derive::napi]
        impl $class {
            #[doc = $about]
            $(#[doc = ""] #[doc = "# Errors"] #[doc = ""] #[doc = $fails])?
            #[napi $($told)?]
            pub fn $name(&self $($arguments)*) -> napi::Result<$answer> {
                self.held.now(|$value| Ok(<$answer>::from($body)))
            }
        }
    };
    (@ $form:ident $class:ident $about:literal [] $($row:tt)*) => {
        $crate::handle::methods! { @ $form $class $about ["No promise could be made."] $($row)* }
    };
    (
        @ $form:ident $class:ident $about:literal [$fails:literal] []
        $name:ident [$($arguments:tt)*] $answer:ty, $value:ident $body:block
    ) => {
        #[napi_derive::napi]
        impl $class {
            #[doc = $about]
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = ""]
            #[doc = $fails]
            #[napi]
            pub fn $name<'env>(
                &self,
                env: &'env napi::Env
                $($arguments)*,
                token: Option<&$crate::call_token::CallToken>,
            ) -> napi::Result<napi::bindgen_prelude::PromiseRaw<'env, $answer>> {
                self.held.$form(env, token, $crate::handle::methods!(@ $form |$value| $answer, $body))
            }
        }
    };
    (@ later |$value:ident| $answer:ty, $body:block) => {
        |$value| async move { Ok(<$answer>::from($body)) }
    };
    (@ fed |$value:ident| $answer:ty, $body:block) => {
        |$value| Ok($body)
    };
}

pub(crate) use {handle, methods};
