//! What was made of PEM texts, and made anew when they change.

use std::sync::{Arc, Mutex, TryLockError};

use arc_swap::ArcSwap;

use crate::fault::Fault;
use crate::validity::Validities;

/// What a refresh found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refreshed {
    /// Nothing has changed since.
    Same,
    /// Something has changed, and connections from now on use it.
    Anew,
}

/// Where PEM texts stand, and what is made of them.
pub(crate) trait Recipe {
    /// The texts, as they were read together.
    type Texts: PartialEq;
    /// What is made of them.
    type Made;

    fn read(&self) -> Result<Self::Texts, Fault>;
    fn make(&self, texts: &Self::Texts) -> Result<Self::Made, Fault>;
    fn validities(&self, texts: &Self::Texts) -> Result<Validities, Fault>;
}

/// What a recipe made of the texts as they were when they could be used last.
pub(crate) struct Reloaded<R: Recipe> {
    recipe: R,
    current: ArcSwap<Current<R::Made>>,
    /// The texts of `current`. Locked while they are compared.
    texts: Mutex<R::Texts>,
}

struct Current<T> {
    made: Arc<T>,
    validities: Validities,
}

impl<R: Recipe> Reloaded<R> {
    /// Reads the texts for the first time.
    pub(crate) fn load(recipe: R) -> Result<Self, Fault> {
        let texts = recipe.read()?;
        Ok(Self {
            current: ArcSwap::from_pointee(Current::of(&recipe, &texts)?),
            texts: Mutex::new(texts),
            recipe,
        })
    }

    pub(crate) fn current(&self) -> Arc<R::Made> {
        Arc::clone(&self.current.load().made)
    }

    pub(crate) fn validities(&self) -> Validities {
        self.current.load().validities
    }

    /// Reads the texts again, unless somebody does so just now. A fault changes nothing.
    pub(crate) fn refresh(&self) -> Result<Refreshed, Fault> {
        let mut texts = match self.texts.try_lock() {
            Ok(texts) => texts,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Nobody waits for another one's disk.
            Err(TryLockError::WouldBlock) => return Ok(Refreshed::Same),
        };
        let read = self.recipe.read()?;
        if read == *texts {
            return Ok(Refreshed::Same);
        }
        let current = Current::of(&self.recipe, &read)?;
        self.current.store(Arc::new(current));
        *texts = read;
        Ok(Refreshed::Anew)
    }
}

impl<T> Current<T> {
    fn of<R: Recipe<Made = T>>(recipe: &R, texts: &R::Texts) -> Result<Self, Fault> {
        Ok(Self {
            validities: recipe.validities(texts)?,
            made: Arc::new(recipe.make(texts)?),
        })
    }
}
