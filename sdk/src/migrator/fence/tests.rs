use std::sync::Mutex;

use super::*;

const CLUSTER: &str = "0b1d7e0c-4a3f-8c21-9d55-0123456789ab";
const RESTORED: &str = "0b1d7e0c-4a3f-8c21-9d55-0123456789ac";

fn fence_of(cluster: &str, resource: &str, agreement: u64) -> Fence {
    let resource = GroupResource::parse_qualified(resource).unwrap();
    Fence::new(
        ClusterId::parse(cluster).unwrap(),
        resource,
        Revision::new(agreement),
    )
}

fn fence(agreement: u64) -> Fence {
    fence_of(CLUSTER, "widgets.example.io", agreement)
}

#[test]
fn a_fence_is_its_text_and_nothing_else_is_one() {
    for fence in [fence(7), fence_of(CLUSTER, "pods", 0)] {
        assert_eq!(Fence::parse(&fence.to_string()), Ok(fence));
    }
    let text = fence(7).to_string();
    assert_eq!(text, format!("{CLUSTER} widgets.example.io 7"));
    for other in [
        String::new(),
        format!("{text} "),
        format!("{CLUSTER} widgets.example.io 07"),
        format!("{CLUSTER} widgets.example.io +7"),
        format!("{CLUSTER} widgets.example.io -7"),
        format!("{CLUSTER}  7"),
        text.to_uppercase(),
    ] {
        assert!(Fence::parse(&other).is_err(), "{other:?}");
    }
}

#[test]
fn a_fence_never_goes_back_and_stands_for_one_cluster_and_resource() {
    let follows = |present: &Fence| fence(7).follows(Some(present.to_string().as_bytes()));
    assert_eq!(fence(7).follows(None), Ok(()));
    assert_eq!(follows(&fence(6)), Ok(()));
    assert_eq!(follows(&fence(7)), Ok(()));
    let found = Revision::new(8);
    assert_eq!(follows(&fence(8)), Err(FenceFault::Later { found }));
    let other = follows(&fence_of(RESTORED, "widgets.example.io", 1));
    assert!(matches!(other, Err(FenceFault::OtherCluster { .. })));
    let other = follows(&fence_of(CLUSTER, "pods", 1));
    assert!(matches!(other, Err(FenceFault::OtherResource { .. })));
    let other = fence(7).follows(Some(b"\xff"));
    assert!(matches!(other, Err(FenceFault::Unreadable { .. })));
}

/// A fence key, and the fences that other workers write to it right before each of the next writes.
#[derive(Default)]
struct Key {
    held: Mutex<Option<Vec<u8>>>,
    races: Mutex<Vec<Fence>>,
}

impl FencedStore for Key {
    type Object = ();

    async fn read_fence(&self, _: &GroupResource) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.held.lock().unwrap().clone())
    }

    async fn write_fence(&self, present: Option<&[u8]>, fence: &Fence) -> Result<bool, StoreError> {
        let mut held = self.held.lock().unwrap();
        if let Some(first) = self.races.lock().unwrap().pop() {
            *held = Some(first.to_string().into_bytes());
        }
        if held.as_deref() != present {
            return Ok(false);
        }
        *held = Some(fence.to_string().into_bytes());
        Ok(true)
    }

    async fn list_page(
        &self,
        _: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<()>, StoreError> {
        Err(StoreError::NotFound)
    }

    async fn rewrite(&self, _: &Migration, (): &(), fence: &Fence) -> Result<(), StoreError> {
        Err(StoreError::Refused(fence.to_string()))
    }
}

fn held(key: &Key) -> Option<String> {
    let held = key.held.lock().unwrap().clone();
    held.map(|bytes| String::from_utf8(bytes).unwrap())
}

// Guarantee: MG-27
#[tokio::test]
async fn a_worker_raises_the_fence_however_it_is_raced_and_never_lowers_it() {
    let key = Key::default();
    raise(&key, &fence(5)).await.unwrap();
    assert_eq!(held(&key), Some(fence(5).to_string()));
    key.races.lock().unwrap().push(fence(6));
    raise(&key, &fence(7)).await.unwrap();
    assert_eq!(held(&key), Some(fence(7).to_string()));
    key.races.lock().unwrap().push(fence(9));
    let late = raise(&key, &fence(8)).await;
    assert!(matches!(late, Err(StoreError::Refused(why)) if why.contains("revision 9")));
    let restored = raise(&key, &fence_of(RESTORED, "widgets.example.io", 99)).await;
    assert!(matches!(restored, Err(StoreError::Refused(why)) if why.contains("delete the key")));
    assert_eq!(held(&key), Some(fence(9).to_string()));
}
