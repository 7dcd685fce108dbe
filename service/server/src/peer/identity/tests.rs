use super::*;

fn replica_of(cluster: &str, id: u64, directory: u8) -> PeerIdentity {
    PeerIdentity {
        cluster: cluster.to_owned(),
        replica: ReplicaId::new(id),
        directory: DirectoryId::from_bytes([directory; 16]),
    }
}

fn call(from: &PeerIdentity, to: &PeerIdentity, at: &PeerIdentity) -> Result<Caller, Refusal> {
    let names = from.write(Some((to.replica, to.directory)));
    at.check(&names, |_| None)
}

#[test]
fn a_call_between_the_right_two_is_let_in() {
    let (one, two) = (
        replica_of("Größe 1/2", 1, 0xAA),
        replica_of("Größe 1/2", 2, 0xBB),
    );
    let caller = call(&one, &two, &two).unwrap();
    assert_eq!(
        caller,
        Caller {
            replica: one.replica,
            directory: one.directory,
            addressed: true
        }
    );
}

#[test]
fn each_wrong_name_is_refused_for_what_it_is() {
    let (one, two) = (replica_of("a", 1, 0xAA), replica_of("a", 2, 0xBB));
    assert_eq!(
        call(&replica_of("b", 1, 0xAA), &two, &two),
        Err(Refusal::WrongCluster)
    );
    assert_eq!(
        call(&one, &two, &replica_of("a", 3, 0xBB)),
        Err(Refusal::WrongReplica)
    );
    assert_eq!(
        call(&one, &two, &replica_of("a", 2, 0xCC)),
        Err(Refusal::WrongDirectory)
    );
    assert_eq!(
        two.check(&MetadataMap::new(), |_| None),
        Err(Refusal::Unnamed)
    );
}

#[test]
fn a_wiped_caller_is_refused_by_those_who_know_its_directory() {
    let (one, two) = (replica_of("a", 1, 0xAA), replica_of("a", 2, 0xBB));
    let names = one.write(Some((two.replica, two.directory)));
    let known = |id: ReplicaId| (id == one.replica).then_some(DirectoryId::from_bytes([0x11; 16]));
    assert_eq!(two.check(&names, known), Err(Refusal::CallerWrongDirectory));
}

#[test]
fn a_hello_need_not_know_whom_it_asks() {
    let (one, two) = (replica_of("a", 1, 0xAA), replica_of("a", 2, 0xBB));
    let caller = two.check(&one.write(None), |_| None).unwrap();
    assert!(!caller.addressed);
}

#[test]
fn a_refusal_survives_the_way_back() {
    for refusal in Refusal::ALL {
        assert_eq!(Refusal::of_status(&refusal.into_status()), Some(refusal));
    }
    assert_eq!(
        Refusal::of_status(&tonic::Status::unavailable("away")),
        None
    );
}
