//! The member and the object that marks can be tied to. They end and are replaced by others.

use std::collections::BTreeSet;

use bytes::Bytes;
use synod_machine::{Answer, Command, Expire, Holder};
use synod_model::{
    ApiVersion, Attributes, BinaryVersion, CollectionRules, Content, CreateCollection,
    CreateObject, DeleteObject, Endpoint, Epoch, Fences, GroupResource, InstanceId, Join, Kind,
    Labels, Leave, LogTime, MarkTie, MediaType, MemberId, ObjectKey, Preconditions, Ttl, Uid,
};

use crate::model::{MEMBER_TTL, TTLS};
use crate::raised::raised;
use crate::replica::{Replica, namespace, object_name};

const LEGAL: &str = "the test uses legal names and numbers";

/// The member under its present epoch, and the object with its present uid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posts {
    pub(crate) epoch: Epoch,
    pub(crate) object: Uid,
    joined: u32,
}

pub(crate) fn member() -> MemberId {
    MemberId::parse("a").expect(LEGAL)
}

pub(crate) fn object() -> ObjectKey {
    object_named("web")
}

pub(crate) fn object_named(name: &str) -> ObjectKey {
    ObjectKey::new(resource(), Some(&namespace()), &object_name(name))
}

fn resource() -> GroupResource {
    GroupResource::new("apps", "statefulsets").expect(LEGAL)
}

pub(crate) fn seconds(seconds: u64) -> Ttl {
    Ttl::from_millis(seconds * 1_000).expect(LEGAL)
}

impl Replica {
    /// A replica with a member and an object.
    pub(crate) fn with_posts() -> Self {
        let mut replica = Self::formed();
        for command in raised() {
            replica.done(command);
        }
        replica.done(Command::CreateCollection(CreateCollection {
            kind: Kind::parse("StatefulSet").expect(LEGAL),
            resource: resource(),
            namespaced: true,
            rules: CollectionRules {
                strict_storage_version: false,
                create_on_update: true,
                unconditional_update: true,
                status_subresource: false,
            },
        }));
        let object = replica.stores(&object());
        let epoch = replica.joins(0);
        replica.posts = Some(Posts {
            epoch,
            object,
            joined: 0,
        });
        replica
    }

    pub(crate) fn posts(&self) -> Posts {
        self.posts.expect("there is something to tie marks to")
    }

    pub(crate) fn tie(&self, tie: usize) -> MarkTie {
        match tie {
            0 | 1 => MarkTie::Renewals(seconds(TTLS[tie])),
            2 => MarkTie::Member(member(), self.posts().epoch),
            _ => MarkTie::Object(object(), self.posts().object),
        }
    }

    pub(crate) fn waits(&mut self, seconds: u64) {
        self.now = LogTime::from_millis(self.now.as_millis() + seconds * 1_000);
        self.expires();
    }

    /// The leader proposes what is past its deadline, until nothing is.
    pub(crate) fn expires(&mut self) {
        loop {
            let due = self.state.due(self.now, 3);
            if due.holders.is_empty() {
                return;
            }
            let mut expire = Expire::default();
            for holder in due.holders {
                match holder {
                    Holder::Mark(key, mark) => {
                        expire.marks.insert((key, mark));
                    }
                    Holder::Member(id) => {
                        expire.members.insert((id, self.posts().epoch));
                    }
                    other => panic!("nothing else has a deadline here, but {other:?}"),
                }
            }
            self.done(Command::Expire(expire));
        }
    }

    /// The member leaves, expires or is replaced, and another process has its id.
    pub(crate) fn member_goes(&mut self, expires: bool, leaves: bool) {
        if expires {
            self.waits(MEMBER_TTL);
        } else if leaves {
            self.leaves();
        }
        let joined = self.posts().joined + 1;
        let epoch = self.joins(joined);
        self.posts = Some(Posts {
            epoch,
            joined,
            ..self.posts()
        });
    }

    pub(crate) fn leaves(&mut self) {
        self.done(Command::Leave(Leave {
            member: member(),
            epoch: self.posts().epoch,
            drained: true,
            instance: None,
            stopped: false,
        }));
    }

    pub(crate) fn object_goes(&mut self) {
        self.done(deletion(&object()));
        let object = self.stores(&object());
        self.posts = Some(Posts {
            object,
            ..self.posts()
        });
    }

    fn joins(&mut self, instance: u32) -> Epoch {
        let join = Join {
            id: member(),
            instance: InstanceId::parse(&format!("instance-{instance}")).expect(LEGAL),
            ttl: seconds(MEMBER_TTL),
            labels: Labels::default(),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            lost_epoch: None,
            gated: true,
        };
        match self.done(Command::Join(join)) {
            Answer::Joined { epoch, .. } => epoch,
            other => panic!("not the answer of a join: {other:?}"),
        }
    }

    pub(crate) fn stores(&mut self, key: &ObjectKey) -> Uid {
        self.done(Command::CreateObject(CreateObject {
            key: key.clone(),
            attributes: Attributes::default(),
            content: Content {
                encoding: ApiVersion::parse("v1").expect(LEGAL),
                media_type: MediaType::JSON,
                data: Bytes::from_static(b"{}"),
            },
            ttl: None,
            fences: Fences::default(),
        }));
        let stored = self.state.present().object(key);
        stored.expect("it was stored").metadata.uid
    }
}

pub(crate) fn deletion(key: &ObjectKey) -> Command {
    Command::DeleteObject(DeleteObject {
        key: key.clone(),
        preconditions: Preconditions::default(),
        propagation: None,
        fences: Fences::default(),
    })
}

/// An expiry that names only marks.
pub(crate) fn of_marks(
    marks: impl IntoIterator<Item = (synod_model::NamespacedName, synod_model::LiveMark)>,
) -> Command {
    Command::Expire(Expire {
        marks: marks.into_iter().collect::<BTreeSet<_>>(),
        ..Expire::default()
    })
}
