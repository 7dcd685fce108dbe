//! The vault as a migration worker sees it, which holds both keys.

use synod_client::{ContinueToken, Migration, MigrationReason, Store, StoreError, StorePage};
use tokio::time::sleep;

use super::keyring::{Keyring, Sealed};
use super::vault::{Vault, name};
use super::{Load, legal};

const PAGE: usize = 500;

pub(crate) struct Rewriting {
    pub(crate) vault: Vault,
    pub(crate) keyring: Keyring,
    pub(crate) load: Load,
}

impl Store for Rewriting {
    type Object = (usize, Sealed);

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Self::Object>, StoreError> {
        assert_eq!(migration.reason, MigrationReason::RewriteAll);
        let from: usize = token.map_or(0, |token| legal(token.as_str().parse()));
        let until = self.vault.len().min(from + PAGE);
        let listed = (from..until).map(|object| (object, self.vault.stored(object)));
        let stale = listed
            .filter(|(_, sealed)| migration.rewrites(&sealed.key, migration.start_revision()));
        let next = (until < self.vault.len()).then(|| until.to_string());
        Ok(StorePage {
            objects: stale.collect(),
            next: next.map(|next| legal(ContinueToken::parse(&next))),
            remaining: None,
        })
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        (object, read): &Self::Object,
    ) -> Result<(), StoreError> {
        let target = migration.target.version.as_ref();
        let target = target.expect("a key has a name");
        let plain = legal(self.keyring.open(&name(*object), read));
        let sealed = legal(self.keyring.seal(target, &name(*object), &plain));
        sleep(self.load.store).await;
        match self.vault.replace(*object, read, sealed) {
            true => Ok(()),
            false => Err(StoreError::Conflict),
        }
    }
}
