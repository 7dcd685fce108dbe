//! Measures a list of 100,000 objects in pages of 500, while others write to them.

use std::collections::BTreeMap;

use synod_client::{ListObjects, ObjectKey, ObjectName, Revision};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::replicas::Replicas;
use crate::sample::print_time;
use crate::stored::{LEGAL, content, key, namespace, resource};
use crate::writers::{Write, Written, write_until};
use crate::{BYTES, MANY, NAMESPACES};

const PAGE: u32 = 500;

/// The number of objects in the namespace at first.
const LISTED: usize = MANY / NAMESPACES;

/// Lists them, and compares every object with what the acknowledged writes had stored at the revision of the list.
pub(crate) async fn pages_during_writes(replicas: &Replicas) {
    let client = replicas.client().await;
    let (listed, end) = oneshot::channel();
    let list = tokio::spawn(async move {
        let begin = Instant::now();
        let list = ListObjects::new(resource())
            .with_namespace(namespace(0))
            .with_page_size(PAGE);
        let mut pages = client.raw_objects().list(&list);
        let (mut revision, mut found, mut count) = (None, BTreeMap::new(), 0);
        while let Some(page) = pages.next().await.expect("a page is read") {
            let of_first = *revision.get_or_insert(page.header.revision);
            assert_eq!(page.header.revision, of_first, "pages are of one revision");
            count += 1;
            for item in page.items {
                let object = item.object;
                assert!(
                    object.metadata.resource_version <= of_first,
                    "it is not newer"
                );
                let before = found.insert(object.key, object.content);
                assert!(before.is_none(), "an object stands in a list once");
            }
        }
        let taken = begin.elapsed();
        // An error means that the writers have ended already.
        let _ = listed.send(());
        (revision.expect("there is a page"), found, count, taken)
    });
    let written = write_until(replicas, write, async {
        let _ = end.await;
    })
    .await;
    let (revision, found, pages, taken) = list.await.expect("the list is read");
    let after = written.iter().filter(|write| write.revision > revision);
    let later = after.count();
    let expected = expected(&written, revision);
    assert!(
        found.len() == expected.len(),
        "exactly those of the revision"
    );
    for (key, number) in expected {
        let data = found.get(&key).map(|content| &content.data);
        let is_it = |data: &&bytes::Bytes| **data == content(number, BYTES).data;
        assert!(data.is_some_and(|data| is_it(&data)), "{key}: another one");
    }
    let name = format!(
        "list of {} in {pages} pages of {PAGE}, {later} writes meanwhile",
        found.len()
    );
    print_time(&name, taken);
}

/// Most writes change an object; one in ten creates an object, and one in ten deletes such an object a while later.
fn write(number: u64) -> Write {
    let passing = |number: u64| {
        let name = ObjectName::parse(&format!("passing-{number}")).expect(LEGAL);
        ObjectKey::new(resource(), Some(&namespace(0)), &name)
    };
    match number % 10 {
        0 => Write {
            key: passing(number),
            bytes: Some(BYTES),
        },
        5 => Write {
            key: passing(number.saturating_sub(505)),
            bytes: None,
        },
        _ => Write {
            // Spread over the namespace, so that no object is written twice at once.
            key: key(number as usize * 7_919 % LISTED * NAMESPACES),
            bytes: Some(BYTES),
        },
    }
}

/// The objects of the namespace at the revision, with the number in each.
fn expected(written: &[Written], revision: Revision) -> BTreeMap<ObjectKey, u64> {
    let first = (0..LISTED).map(|at| (key(at * NAMESPACES), (at * NAMESPACES) as u64));
    let mut expected: BTreeMap<ObjectKey, u64> = first.collect();
    let mut made: Vec<&Written> = written
        .iter()
        .filter(|write| write.revision <= revision)
        .collect();
    made.sort_by_key(|write| write.revision);
    for write in made {
        match write.number {
            Some(number) => expected.insert(write.key.clone(), number),
            None => expected.remove(&write.key),
        };
    }
    expected
}
