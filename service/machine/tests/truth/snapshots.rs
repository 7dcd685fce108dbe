//! Snapshots of widgets, which controllers keep in the machine and nobody rewrites.

use bytes::Bytes;
use synod_machine::Command;
use synod_model::{
    Annotations, ControllerHistory, CreateControllerRevision, Equality, Labels, MediaType,
    NamePrefix, Namespace, ObjectName, OwnerReference, RevisionData, Uid,
};

use crate::machine::{LEGAL, Machine, kind, version};
use crate::schedule::Version;

impl Machine {
    /// A controller keeps a snapshot of a widget in this version.
    pub(crate) fn keep_snapshot(&mut self, number: Version) {
        let data = Bytes::from(format!("{{\"at\":{}}}", self.now()));
        let data = RevisionData::new(MediaType::JSON, data).expect(LEGAL);
        self.send(Command::CreateControllerRevision(
            CreateControllerRevision {
                history: ControllerHistory {
                    namespace: Namespace::parse("default").expect(LEGAL),
                    owner: OwnerReference {
                        api_version: version(1),
                        kind: kind(),
                        name: ObjectName::parse("widget").expect(LEGAL),
                        uid: Uid::from_bytes([1; 16]),
                        controller: true,
                        block_owner_deletion: true,
                    },
                    selector: Labels::default(),
                },
                data: data.in_version(Some(version(number))),
                equality: Equality::Json,
                prefix: NamePrefix::parse("widget").expect(LEGAL),
                labels: Labels::default(),
                annotations: Annotations::default(),
                number: None,
                collision_count: 0,
                history_limit: 10,
                if_newest: None,
                mark_update: None,
                name: None,
            },
        ));
    }
}
