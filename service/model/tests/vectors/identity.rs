use synod_model::{StorageVersionHash, apiserver_id};

use crate::{expect_eq, suite, text};

#[test]
fn an_api_server_has_the_id_that_kubernetes_gives_it() {
    // The negative list names ids that are made up.
    suite::run("apiserver_id.json", 4, &["negative"], |_, case| {
        expect_eq(
            apiserver_id(text(case, "hostname")).as_str(),
            text(case, "id"),
        )
    });
}

#[test]
fn a_storage_version_hash_is_the_one_in_discovery() {
    suite::run("storage_version_hash.json", 47, &[], |_, case| {
        let [group, version, kind] = ["group", "version", "kind"].map(|part| text(case, part));
        let hash = StorageVersionHash::of(group, version, kind);
        let expected = text(case, "hash");
        expect_eq(hash.to_string().as_str(), expected)?;
        expect_eq(StorageVersionHash::parse(expected), Ok(hash))
    });
}
