//! `api_error_texts.json`: error messages in the words of Kubernetes.

use synod_client::{
    Client, CollectionRules, Content, CreateCollection, CreateObject, DeleteObject, Error,
    ErrorKind, JoinOptions, Kind, MediaType, ObjectKey, ObjectName, Preconditions, ReadOptions,
    Revision, Uid,
};

use super::suite::{self, Case};
use super::{expect, text};
use crate::cluster::{Cluster, id, legal, resource, version, within};

#[test]
fn every_error_is_told_in_the_words_of_kubernetes() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let cluster = runtime.block_on(Cluster::start(1));
    suite::run("api_error_texts.json", 5, &[], |_, case| {
        runtime.block_on(async {
            let stage = Stage::set(&cluster).await;
            let checked = stage.check(case).await;
            stage.clear().await;
            checked
        })
    });
}

/// A collection without namespaces, with one object in it.
struct Stage {
    client: Client,
    uid: Uid,
    resource_version: Revision,
}

const GADGETS: &str = "gadgets.example.io";

impl Stage {
    async fn set(cluster: &Cluster) -> Self {
        let client = cluster.client().await;
        let create = CreateCollection {
            resource: resource(GADGETS),
            kind: legal(Kind::parse("Gadget")),
            namespaced: false,
            rules: CollectionRules::default(),
        };
        within(client.collections().create(create)).await.unwrap();
        let created = within(client.raw_objects().create(gadget("one", 2))).await;
        let result = created.unwrap().result;
        Self {
            client,
            uid: result.uid,
            resource_version: result.resource_version,
        }
    }

    async fn clear(self) {
        self.delete(Preconditions::default()).await.unwrap();
        let delete = synod_client::DeleteCollection {
            resource: resource(GADGETS),
            preconditions: Preconditions::default(),
        };
        within(self.client.collections().delete(delete))
            .await
            .unwrap();
    }

    async fn check(&self, case: &Case<'_>) -> Result<(), String> {
        match text(case, "reason") {
            "AlreadyExists" => {
                let objects = self.client.raw_objects();
                let error = within(objects.create(gadget("one", 2))).await.unwrap_err();
                let told = words(case, &[("<resource.group>", GADGETS), ("<name>", "one")]);
                expect_error(&error, ErrorKind::AlreadyExists, &told)
            }
            "Conflict" => self.check_conflicts(case).await,
            "Timeout" => self.check_future(case).await,
            "ServiceUnavailable" => self.check_gate(case).await,
            "RequestEntityTooLarge" => self.check_size(case).await,
            other => Err(format!("nothing is known of {other}")),
        }
    }

    /// The file has a text for the uid and one for the resource version.
    async fn check_conflicts(&self, case: &Case<'_>) -> Result<(), String> {
        let other_uid = Uid::from_bytes([9; 16]);
        let other_version = self.resource_version.next();
        let of_uid = Preconditions {
            uid: Some(other_uid),
            resource_version: None,
        };
        let of_version = Preconditions {
            uid: None,
            resource_version: Some(other_version),
        };
        let facts = [
            (of_uid, other_uid.to_string(), self.uid.to_string()),
            (
                of_version,
                other_version.to_string(),
                self.resource_version.to_string(),
            ),
        ];
        let texts: Vec<&str> = text(case, "message").split(" | ").collect();
        expect(&texts.len().to_string(), &facts.len().to_string())?;
        for (told, (preconditions, asked, present)) in texts.into_iter().zip(facts) {
            let told = told.replace("<a>", &asked).replace("<b>", &present);
            let error = self.delete(preconditions).await.unwrap_err();
            // The name of the object stands before it, as in the answers of an API server.
            let told = format!("Operation cannot be fulfilled on {GADGETS} \"one\": {told}");
            expect_error(&error, ErrorKind::Conflict, &told)?;
        }
        Ok(())
    }

    async fn check_future(&self, case: &Case<'_>) -> Result<(), String> {
        let future = Revision::new(1 << 40);
        let read = ReadOptions::at_revision(future);
        let error = within(self.client.raw_objects().get(&key("one"), read)).await;
        let error = error.unwrap_err();
        let current = error.metadata()["current_revision"].clone();
        let facts = [("<rv>", future.to_string()), ("<cur>", current)];
        let facts: Vec<(&str, &str)> = facts.iter().map(|(key, fact)| (*key, &**fact)).collect();
        let told = words(case, &facts);
        // Kubernetes puts its reason before the message; Synod has an error kind for it.
        let told = told.strip_prefix("Timeout: ").ok_or("another reason")?;
        expect_error(&error, ErrorKind::FutureRevision, told)
    }

    async fn check_gate(&self, case: &Case<'_>) -> Result<(), String> {
        let joined = self.client.join(JoinOptions::new(id("server")));
        let membership = within(joined).await.unwrap();
        let error = membership
            .gate()
            .try_permit(&resource(GADGETS))
            .unwrap_err();
        let told = words(case, &[("<gr>", GADGETS), ("<err>", "<nil>")]);
        expect_error(&error, ErrorKind::Unavailable, &told)
    }

    /// An object within the limit of the file is not too large.
    async fn check_size(&self, case: &Case<'_>) -> Result<(), String> {
        let limit = case["limitBytes"].as_u64().expect("it is a number");
        let limit = usize::try_from(limit).expect("it is small");
        let error = within(self.client.raw_objects().create(gadget("two", limit + 1))).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::TooLarge);
        let large = within(
            self.client
                .raw_objects()
                .create(gadget("two", limit / 2 + 1)),
        )
        .await;
        match large {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn delete(&self, preconditions: Preconditions) -> Result<(), Error> {
        let delete = DeleteObject {
            key: key("one"),
            propagation: None,
            preconditions,
            fences: Default::default(),
        };
        within(self.client.raw_objects().delete(delete))
            .await
            .map(drop)
    }
}

fn expect_error(error: &Error, kind: ErrorKind, told: &str) -> Result<(), String> {
    expect(error.kind().reason(), kind.reason())?;
    expect(error.message(), told)
}

/// The message of a case, with the facts inserted.
fn words(case: &Case<'_>, facts: &[(&str, &str)]) -> String {
    let message = text(case, "message").to_owned();
    facts.iter().fold(message, |message, (key, fact)| {
        assert!(message.contains(key), "{message}: no {key}");
        message.replace(key, fact)
    })
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(resource(GADGETS), None, &legal(ObjectName::parse(name)))
}

/// A gadget with this many bytes of data.
fn gadget(name: &str, bytes: usize) -> CreateObject {
    CreateObject {
        key: key(name),
        attributes: Default::default(),
        content: Content {
            encoding: version("example.io/v1"),
            media_type: MediaType::JSON,
            data: format!("\"{}\"", "x".repeat(bytes - 2)).into(),
        },
        ttl: None,
        fences: Default::default(),
    }
}
