//! Resources that the API server does not serve.
//!
//! Where resources are named, the caller expects this worker to migrate them. A migration of one that stays unserved is given up,
//! as Kubernetes gives it up: it would wait for ever. Where none is named, another worker may have an API server that serves it.

use synod_client::{
    Attempt, ContinueToken, Error, Migration, Migrator, Store, StoreError, StorePage, Walk, Worked,
};
use tokio_util::sync::CancellationToken;

use super::report::Event;
use super::waits::Waits;
use super::{Attended, Worker};

impl Worker<'_> {
    /// Reports each named resource that the API server does not serve. Returns whether there is one.
    pub(super) async fn report_unserved(&self) -> bool {
        let mut is_any = false;
        for resource in self.only.iter().flatten() {
            // A fault is reported where a migration meets it.
            if let Ok(None) = self.find(resource, None).await {
                self.report.quietly(&Event::unserved(resource));
                is_any = true;
            }
        }
        is_any
    }

    /// Gives a migration up whose resource is named and has been unserved for too long.
    pub(super) async fn give_up_unserved(
        &self,
        migration: &Migration,
        waits: &mut Waits,
        stop: &CancellationToken,
    ) -> Result<Attended, Error> {
        // With `--once` the exit code says it.
        if self.only.is_none() || self.args.once {
            return Ok(Attended::NotOurs);
        }
        let event = Event::unserved(migration.id.resource());
        self.tell_once(waits, migration, "unserved", &event);
        if waits.unserved_for(&migration.id) < self.args.unserved_after {
            return Ok(Attended::NotYet);
        }
        let options = self.options(migration);
        let migrator = Migrator::new(self.client.clone(), UnservedStore, options);
        let working = migrator.run_one_until(&migration.id, stop.cancelled());
        match Box::pin(working).await? {
            Attempt::Worked(Worked::Failed(failure)) => {
                self.metrics.ended(&full_name(migration), "Failed");
                self.report.quietly(&Event::given_up(migration, &failure));
                Ok(Attended::GivenUp)
            }
            Attempt::Worked(_) => Ok(Attended::Well),
            Attempt::Refused(refusal) => Ok(self.waits(waits, migration, &refusal)),
            Attempt::Stopped => Ok(Attended::NotYet),
        }
    }
}

/// The full name of a migration's resource in metrics, in the version that it is migrated to: none is served.
fn full_name(migration: &Migration) -> String {
    let resource = migration.id.resource();
    let version = migration.target.version.as_ref();
    let version = version.map(|version| version.version()).unwrap_or_default();
    format!(
        "{}/{version}, Resource={}",
        resource.group(),
        resource.resource()
    )
}

/// The store of a resource that is not served.
struct UnservedStore;

impl Store for UnservedStore {
    type Object = ();

    fn walks(&self) -> Walk {
        Walk::Both
    }

    async fn list_page(
        &self,
        _: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<()>, StoreError> {
        Err(StoreError::NotFound)
    }

    async fn rewrite(&self, _: &Migration, (): &()) -> Result<(), StoreError> {
        Err(StoreError::NotFound)
    }
}
