//! A replica of the machine that carries out the steps of a history.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use synod_machine::{
    Answer, Command, Envelope, HistoryAnswer, Holder, Initialize, LogEntry, Outcome,
    RevisionAnswer, RevisionOutcome, State,
};
use synod_model::{
    AdoptControllerRevisions, Annotations, ApiVersion, ClusterId, ControllerHistory,
    ControllerRevision, CreateControllerRevision, DeleteControllerRevisions, Equality, InUse, Kind,
    Labels, LiveMark, LogTime, Mark, MarkControllerRevisions, MarkTie, Marker, MediaType,
    NamePrefix, Namespace, NamespacedName, ObjectName, OwnerReference, Preconditions,
    ReleaseControllerRevision, RevisionData, RevisionNumber, RollbackControllerRevision,
    RollbackTarget, Settings, TruncateControllerRevisions, Uid, UpdateControllerRevision, WallTime,
};

use crate::Step;
use crate::model::{MEMBER, Model, OBJECT, Seen, TTLS, Told};
use crate::posts::{Posts, seconds};
use crate::stored;

const LEGAL: &str = "the test uses legal names and numbers";

pub(crate) struct Replica {
    pub(crate) state: State,
    /// The log time of the next entry.
    pub(crate) now: LogTime,
    /// The member and the object that marks can be tied to.
    pub(crate) posts: Option<Posts>,
    /// The owner of the last create, and the collision count that it returned.
    pub(crate) collisions: Option<(usize, u32)>,
}

impl Replica {
    pub(crate) fn formed() -> Self {
        let mut replica = Self {
            state: State::new(),
            now: LogTime::ZERO,
            posts: None,
            collisions: None,
        };
        let outcome = replica.send(Command::Initialize(Initialize {
            cluster: ClusterId::from_bytes([1; 16]),
            settings: Settings::default(),
        }));
        assert!(outcome.changed);
        replica
    }

    pub(crate) fn send(&mut self, command: Command) -> Outcome {
        let entry = LogEntry {
            log_time: self.now,
            lift_deadlines: false,
            // The wall clock goes backwards, which must have no effect.
            wall: WallTime::from_millis(u64::MAX - self.state.revision().get()),
            commands: vec![Envelope {
                actor: None,
                request: None,
                command: Arc::new(command),
            }],
        };
        let mut applied = self.state.apply(&stored::read_back(&entry));
        stored::check(&applied);
        applied.outcomes.remove(0)
    }

    /// Sends a command that must not be refused.
    pub(crate) fn done(&mut self, command: Command) -> Answer {
        self.send(command).result.expect("the command is in order")
    }

    pub(crate) fn carry_out(&mut self, step: &Step, model: &Model) -> Told {
        self.collisions = None;
        match step {
            Step::Wait { seconds } => self.waits(*seconds),
            Step::MemberGoes { expires, leaves } => self.member_goes(*expires, *leaves),
            Step::ObjectGoes => self.object_goes(),
            _ => {}
        }
        let Some(command) = self.command(step, model) else {
            return Told::default();
        };
        let answer = self.done(command);
        if let (Step::Want { owner, .. }, Answer::ControllerRevision(answer)) = (step, &answer) {
            self.collisions = Some((*owner, answer.collision_count));
        }
        told(answer)
    }

    /// The command of a step; `None` if its snapshot does not exist.
    fn command(&self, step: &Step, model: &Model) -> Option<Command> {
        let named = |owner: usize, back: usize| Some(object_name(&model.named(owner, back)?));
        Some(match step {
            Step::Want {
                owner,
                state,
                written,
                limit,
                number,
                selects,
                update,
                version,
                named,
            } => Command::CreateControllerRevision(CreateControllerRevision {
                name: named.then(|| object_name(&format!("named-{}", self.state.revision().get()))),
                history_limit: *limit,
                number: number.map(legal_number),
                collision_count: model.collisions(*owner),
                mark_update: update.map(|tie| self.tie(tie)),
                ..wanting(
                    *owner,
                    target(*state, *written).in_version(version.map(in_version)),
                    *selects,
                )
            }),
            Step::RollBack { owner, back } => {
                Command::RollbackControllerRevision(RollbackControllerRevision {
                    history: history(*owner, false),
                    to: RollbackTarget::Name(named(*owner, *back)?),
                    if_newest: None,
                })
            }
            Step::Mark { tie, .. } => marking(step, self.tie(*tie), named),
            Step::Truncate { owner, limit } => truncating(*owner, *limit),
            Step::Forward { owner, back, by } => {
                let key = key(&named(*owner, *back)?);
                let present = self.state.present().controller_revision(&key)?;
                forward(key, legal_number(present.number.get() + by))
            }
            Step::DeleteOne { owner, back } => {
                Command::DeleteControllerRevisions(DeleteControllerRevisions::One {
                    key: key(&named(*owner, *back)?),
                    preconditions: Preconditions::default(),
                })
            }
            Step::DeleteAll { owner } => {
                Command::DeleteControllerRevisions(DeleteControllerRevisions::HistoryOf {
                    namespace: namespace(),
                    owner: uid(*owner),
                })
            }
            Step::Release { owner, back } => {
                Command::ReleaseControllerRevision(ReleaseControllerRevision {
                    key: key(&named(*owner, *back)?),
                    owner: uid(*owner),
                    preconditions: Preconditions::default(),
                })
            }
            Step::Adopt { owner } => Command::AdoptControllerRevisions(AdoptControllerRevisions {
                history: history(*owner, true),
                name: None,
            }),
            Step::Wait { .. } | Step::MemberGoes { .. } | Step::ObjectGoes => return None,
        })
    }

    pub(crate) fn history(&self, owner: usize) -> Vec<Seen> {
        let rows = self
            .state
            .present()
            .controller_history(&history(owner, false));
        rows.iter().map(|row| seen(row)).collect()
    }

    pub(crate) fn orphans(&self) -> BTreeSet<Seen> {
        let present = self.state.present();
        let all = present.controller_revisions(None);
        let orphans = all.filter(|row| row.controller.is_none());
        orphans.map(|row| seen(&row)).collect()
    }

    /// Checks what must hold after every step: the digest, the rows as a checkpoint, and reads of the past.
    pub(crate) fn check(&self, past: &State) {
        assert_eq!(self.state.digest(), self.state.recompute_digest());
        let loaded = State::from_rows(self.state.rows()).expect("the rows of a state are one");
        assert_eq!(loaded.digest(), self.state.digest());
        self.check_marks(&loaded);
        let then = self.state.at(past.revision()).expect("it was just now");
        for owner in 0..2 {
            let history = history(owner, false);
            let present = past.present();
            assert_eq!(
                then.controller_history(&history),
                present.controller_history(&history)
            );
            let here = loaded.present();
            assert_eq!(
                here.controller_history(&history),
                self.state.present().controller_history(&history)
            );
        }
        let all: Vec<_> = then.controller_revisions(None).collect();
        assert_eq!(
            all,
            past.present()
                .controller_revisions(None)
                .collect::<Vec<_>>()
        );
        let here = self.state.present();
        for row in all.into_iter().chain(here.controller_revisions(None)) {
            let expected = past.present().controller_revision(&row.key);
            assert_eq!(then.controller_revision(&row.key), expected);
            let alone = self.state.controller_revision_at(&row.key, past.revision());
            assert_eq!(alone, Ok(expected));
        }
    }
}

impl Replica {
    /// Checks that a mark has a deadline exactly if it is tied to renewals; every other tie is to something existing.
    fn check_marks(&self, loaded: &State) {
        let far = self.now.after(synod_model::Ttl::MAX.duration() * 2);
        let deadlines = |state: &State| -> BTreeSet<_> {
            let due = state.due(far, usize::MAX).holders.into_iter();
            due.filter(|holder| matches!(holder, Holder::Mark(..)))
                .collect()
        };
        let mut renewed = BTreeSet::new();
        for row in self.state.present().controller_revisions(None) {
            for (mark, tie) in row.marks.iter() {
                match tie {
                    MarkTie::Renewals(_) => {
                        renewed.insert(Holder::Mark(row.key.clone(), mark.clone()));
                    }
                    MarkTie::Member(id, epoch) => assert!(self.state.fenced(id, *epoch).is_ok()),
                    MarkTie::Object(key, uid) => {
                        let object = self.state.present().object(key);
                        assert_eq!(object.map(|object| object.metadata.uid), Some(*uid));
                    }
                }
            }
        }
        assert_eq!(deadlines(&self.state), renewed);
        assert_eq!(deadlines(loaded), renewed);
    }
}

fn marking(
    step: &Step,
    tie: MarkTie,
    named: impl Fn(usize, usize) -> Option<ObjectName>,
) -> Command {
    let Step::Mark {
        owner,
        current,
        update,
        in_use,
        marker,
        ..
    } = step
    else {
        panic!("not a step that marks: {step:?}");
    };
    let mark = |back: usize| named(*owner, back).map_or(Mark::Nowhere, Mark::On);
    let names = in_use.iter().filter_map(|back| named(*owner, *back));
    Command::MarkControllerRevisions(MarkControllerRevisions {
        history: history(*owner, false),
        current: Some(mark(*current)),
        update: Some(mark(*update)),
        in_use: Some(InUse {
            marker: Marker::parse(&marker.to_string()).expect(LEGAL),
            names: names.collect(),
        }),
        tie,
    })
}

fn forward(key: NamespacedName, number: RevisionNumber) -> Command {
    Command::UpdateControllerRevision(UpdateControllerRevision {
        key,
        preconditions: Preconditions::default(),
        number: Some(number),
        labels: None,
        annotations: None,
        data: None,
    })
}

fn legal_number(number: u64) -> RevisionNumber {
    RevisionNumber::new(number).expect(LEGAL)
}

fn told(answer: Answer) -> Told {
    let of_history = |history: HistoryAnswer| {
        assert_eq!(history.left, 0, "there is room for all in one command");
        Told {
            deleted: history.deleted as usize,
            adopted: history.adopted as usize,
            ..Told::default()
        }
    };
    match answer {
        Answer::ControllerRevision(RevisionAnswer {
            name,
            number,
            outcome,
            history,
            ..
        }) => Told {
            name: Some(name.to_string()),
            number: Some(number.get()),
            outcome: Some(match outcome {
                RevisionOutcome::Unchanged => "unchanged",
                RevisionOutcome::RolledBack => "rolled back",
                RevisionOutcome::Created => "created",
            }),
            ..of_history(history)
        },
        Answer::ControllerHistory(history) => of_history(history),
        Answer::Done => Told::default(),
        other => panic!("not an answer to this: {other:?}"),
    }
}

fn seen(row: &ControllerRevision) -> Seen {
    let json = row
        .data
        .json()
        .expect("the test writes JSON")
        .to_canonical();
    let state = (0..6).find(|state| read(&target(*state, 0)) == json);
    (
        row.key.name().to_owned(),
        row.number.get(),
        // A story may write other data.
        state.unwrap_or(u8::MAX),
        (1..3_u8).find(|version| row.data.version() == Some(&in_version(*version))),
        row.marks
            .iter()
            .map(|(mark, tie)| (mark_name(mark), tie_number(tie)))
            .collect(),
    )
}

fn mark_name(mark: &LiveMark) -> String {
    match mark {
        LiveMark::Current => "current".to_owned(),
        LiveMark::Update => "update".to_owned(),
        LiveMark::InUse(marker) => marker.to_string(),
    }
}

fn tie_number(tie: &MarkTie) -> usize {
    match tie {
        MarkTie::Renewals(ttl) => TTLS
            .iter()
            .position(|known| seconds(*known) == *ttl)
            .unwrap_or(usize::MAX),
        MarkTie::Member(..) => MEMBER,
        MarkTie::Object(..) => OBJECT,
    }
}

fn read(data: &RevisionData) -> String {
    data.json().expect("the test writes JSON").to_canonical()
}

/// A target state, written in one of several ways.
pub(crate) fn target(state: u8, written: u8) -> RevisionData {
    let text = match written {
        0 => format!(r#"{{"image":"web","replicas":{state}}}"#),
        1 => format!(r#"{{ "replicas": {state}.0, "image": "web" }}"#),
        _ => format!(r#"{{"image":"w\u0065b","replicas":{state}.00}}"#),
    };
    json(&text)
}

pub(crate) fn in_version(version: u8) -> ApiVersion {
    ApiVersion::parse(&format!("apps/v{version}")).expect(LEGAL)
}

pub(crate) fn json(text: &str) -> RevisionData {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    RevisionData::new(MediaType::JSON, bytes).expect(LEGAL)
}

pub(crate) fn namespace() -> Namespace {
    Namespace::parse("default").expect(LEGAL)
}

pub(crate) fn object_name(name: &str) -> ObjectName {
    ObjectName::parse(name).expect(LEGAL)
}

pub(crate) fn key(name: &ObjectName) -> NamespacedName {
    NamespacedName::new(Some(&namespace()), name)
}

pub(crate) fn uid(owner: usize) -> Uid {
    Uid::from_bytes([owner as u8 + 1; 16])
}

/// Two owners of one name, of two kinds.
pub(crate) fn history(owner: usize, selects: bool) -> ControllerHistory {
    let labels: &[(&str, &str)] = if selects { &[("app", "web")] } else { &[] };
    ControllerHistory {
        namespace: namespace(),
        owner: OwnerReference {
            api_version: ApiVersion::parse("apps/v1").expect(LEGAL),
            kind: Kind::parse(["StatefulSet", "DaemonSet"][owner]).expect(LEGAL),
            name: object_name("web"),
            uid: uid(owner),
            controller: true,
            block_owner_deletion: true,
        },
        selector: Labels::parse(labels.iter().copied()).expect(LEGAL),
    }
}

pub(crate) fn wanting(owner: usize, data: RevisionData, selects: bool) -> CreateControllerRevision {
    CreateControllerRevision {
        history: history(owner, selects),
        data,
        equality: Equality::Json,
        prefix: NamePrefix::parse("web").expect(LEGAL),
        labels: Labels::parse([("app", "web")]).expect(LEGAL),
        annotations: Annotations::default(),
        number: None,
        collision_count: 0,
        history_limit: 10,
        if_newest: None,
        mark_update: None,
        name: None,
    }
}

fn truncating(owner: usize, limit: u32) -> Command {
    Command::TruncateControllerRevisions(TruncateControllerRevisions {
        history: history(owner, false),
        limit,
        if_newest: None,
    })
}
