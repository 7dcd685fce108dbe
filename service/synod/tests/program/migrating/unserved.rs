//! `synod migrate` of resources that its API server does not serve.

use synod_client::{FailureClass, ListMigrations, Migration, MigrationPhase};

use super::{Stage, WIDGETS, ended, events, next};
use crate::certificates::Serves;
use crate::cluster::Server;

/// A resource that members report, and that the API server does not serve.
const GADGETS: &str = "gadgets.example.io";

impl Stage {
    /// The same, with a migration of gadgets beside that of widgets.
    async fn with_gadgets() -> Self {
        let stage = Self::set(3, Serves::Anybody).await;
        let server = Server::join(&stage.client, "server-b").await;
        server.encodes(GADGETS, "example.io/v2").await;
        stage
    }

    async fn gadgets(&self) -> Migration {
        let all = self.client.migrations(ListMigrations::new()).all().await;
        let mut all = all.unwrap().items.into_iter();
        all.find(|one| one.id.resource().qualified() == GADGETS)
            .unwrap()
    }
}

#[tokio::test]
async fn a_named_resource_that_is_not_served_ends_it_with_8() {
    let stage = Stage::with_gadgets().await;
    for more in [&["--once", GADGETS], &["--dry-run", GADGETS]] {
        let printed = stage.cluster.ask(&stage.words(more)).await;
        assert_eq!(printed.code, 8, "{}{}", printed.out, printed.err);
        let told = events(&printed);
        assert_eq!(told[0]["unserved"]["resource"], GADGETS, "{told:?}");
        assert_eq!(told.len(), 1, "{told:?}");
    }
    // One that nothing knows is misspelt, unless the caller says that it is new.
    let unknown = stage.words(&["--once", "widget.example.io"]);
    let printed = stage.cluster.ask(&unknown).await;
    assert_eq!(printed.code, 3, "{}", printed.err);
    assert!(printed.err.contains(WIDGETS), "{}", printed.err);
    let (code, told) = stage.work(&["widget.example.io", "--new"]).await;
    assert_eq!((code, told.len()), (8, 1), "{told:?}");
    let text = ["--once", GADGETS, "-o", "text"];
    let printed = stage.cluster.ask(&stage.words(&text)).await;
    let line = "gadgets.example.io  not served: the API server has no such resource that can be listed and updated\n";
    assert_eq!((printed.code, printed.out.as_str()), (8, line));
    // The others are worked at all the same.
    let (code, told) = stage.work(&[GADGETS, WIDGETS]).await;
    assert_eq!((code, &ended(&told)["outcome"]), (8, &"COMPLETED".into()));
    assert_eq!(stage.gadgets().await.phase, MigrationPhase::Pending);
}

#[tokio::test]
async fn what_is_not_served_is_left_to_others_where_no_resource_is_named() {
    let stage = Stage::with_gadgets().await;
    let (code, told) = stage.work(&[]).await;
    assert_eq!((code, &ended(&told)["outcome"]), (0, &"COMPLETED".into()));
    assert_eq!(stage.gadgets().await.phase, MigrationPhase::Pending);
}

#[tokio::test]
async fn the_migration_of_a_named_resource_that_stays_unserved_is_given_up() {
    let stage = Stage::with_gadgets().await;
    let mut running = stage.begin(&[GADGETS, "--unserved-after", "10ms"]);
    assert_eq!(next(&mut running, "unserved").await["resource"], GADGETS);
    let ended = next(&mut running, "ended").await;
    assert_eq!(ended["outcome"], "FAILED", "{ended}");
    let migration = stage.gadgets().await;
    assert_eq!(migration.phase, MigrationPhase::Failed);
    let failure = migration.failure.unwrap();
    assert_eq!(failure.class, FailureClass::NotSupported);
    assert_eq!(
        failure.reason.as_str(),
        "the resource to be listed does not exist"
    );
}
