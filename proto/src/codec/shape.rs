//! How many items each list of a request may have, and the count of them on the wire.

use synod_model::limits::{
    ANNOTATIONS_BYTES_MAX, EQUIVALENTS_MAX, IN_USE_NAMES_MAX, LABELS_MAX, LEFT_TO_OTHERS_MAX,
    OBSERVED_HASHES_MAX, OBSERVED_SERVERS_MAX, OWNER_REFERENCES_MAX, ROSTER_MEMBERS_MAX,
    TRANSACTION_OPERATIONS_MAX, VERSIONS_PER_ENTRY_MAX,
};
use synod_model::settings::{ENFORCE_PERSISTED, REPORT_ENTRIES_MAX};
use synod_model::{Finalizers, Violation, Violations};

use crate::limits::{
    AGREEMENT_RESOURCES_MAX, ANNOTATIONS_MAX, BINARY_RESOURCES_MAX, PIPELINE_CALLS_MAX,
    WATCH_KINDS_MAX, WATCH_NAMES_MAX, WATCH_RESOURCES_MAX,
};

/// The lists of a message, and the sub-messages that hold lists.
///
/// A test derives the same from the descriptors, so that no list is forgotten.
#[derive(Debug)]
pub(super) struct Shape(pub(super) &'static [Field]);

/// A list, or a sub-message that holds lists.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// Its name in the JSON form.
    pub(super) name: &'static str,
    pub(super) items: Items,
}

/// The content of a field.
#[derive(Debug)]
pub(super) enum Items {
    /// One sub-message, which holds lists.
    One(&'static Shape),
    /// At most this many texts.
    Texts(usize),
    /// At most this many enum values or numbers, packed or not.
    Numbers(usize),
    /// At most this many sub-messages.
    Messages(usize, &'static Shape),
}

impl Field {
    /// The path of the item with this number.
    fn place(&self, item: usize) -> String {
        match self.items {
            Items::One(_) => self.name.to_owned(),
            Items::Messages(..) | Items::Texts(_) | Items::Numbers(_) => {
                format!("{}[{item}]", self.name)
            }
        }
    }
}

impl Items {
    const fn max(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Texts(max) | Self::Numbers(max) | Self::Messages(max, _) => *max,
        }
    }

    /// The shape of the sub-messages, if there is anything to count in them.
    const fn shape(&self) -> Option<&'static Shape> {
        match self {
            Self::One(shape) | Self::Messages(_, shape) if !shape.0.is_empty() => Some(shape),
            Self::One(_) | Self::Messages(..) | Self::Texts(_) | Self::Numbers(_) => None,
        }
    }

    /// How many items one occurrence of the field adds.
    fn added_by(&self, value: &Value<'_>) -> usize {
        match (self, value) {
            // Packed: the last byte of each number, and only that, has its highest bit clear.
            (Self::Numbers(_), Value::Bytes(packed)) => {
                packed.iter().filter(|byte| **byte < 0x80).count()
            }
            (Self::One(_) | Self::Texts(_) | Self::Numbers(_) | Self::Messages(..), _) => 1,
        }
    }
}

const fn shape(fields: &'static [Field]) -> Shape {
    assert!(fields.len() <= FIELDS_MAX);
    Shape(fields)
}

const fn field(number: u32, name: &'static str, items: Items) -> Field {
    Field {
        number,
        name,
        items,
    }
}

/// The most fields that are counted in one message, so that the counts fit in an array on the stack.
const FIELDS_MAX: usize = 5;

/// A message without lists.
static FLAT: Shape = shape(&[]);

static JOIN: Shape = shape(&[field(5, "labels", Items::Messages(LABELS_MAX, &FLAT))]);

static LIST_MEMBERS: Shape = shape(&[field(2, "labels", Items::Messages(LABELS_MAX, &FLAT))]);

// The allowed number of entries is a setting, which apply checks; this is the highest value of the setting.
static REPORT: Shape = shape(&[field(
    3,
    "entries",
    Items::Messages(REPORT_ENTRIES_MAX.max as usize, &REPORT_ENTRY),
)]);

static REPORT_ENTRY: Shape = shape(&[
    field(3, "decodableVersions", Items::Texts(VERSIONS_PER_ENTRY_MAX)),
    field(4, "servedVersions", Items::Texts(VERSIONS_PER_ENTRY_MAX)),
    field(
        9,
        "equivalents",
        Items::Messages(EQUIVALENTS_MAX - 1, &FLAT),
    ),
]);

static ADD_EQUIVALENTS: Shape = shape(&[field(
    2,
    "resources",
    Items::Messages(EQUIVALENTS_MAX, &FLAT),
)]);

static CHECK_BINARY: Shape = shape(&[
    field(
        1,
        "resources",
        Items::Messages(BINARY_RESOURCES_MAX, &BINARY_RESOURCE),
    ),
    field(3, "leftToOthers", Items::Texts(LEFT_TO_OTHERS_MAX)),
]);

static CHECK_AGREEMENT: Shape = shape(&[field(
    1,
    "resources",
    Items::Messages(AGREEMENT_RESOURCES_MAX, &FLAT),
)]);

static BINARY_RESOURCE: Shape = shape(&[field(
    3,
    "decodableVersions",
    Items::Texts(VERSIONS_PER_ENTRY_MAX),
)]);

static SET_ROSTER: Shape = shape(&[field(3, "rule", Items::One(&ROSTER_RULE))]);

static ROSTER_RULE: Shape = shape(&[field(1, "members", Items::Texts(ROSTER_MEMBERS_MAX))]);

static OBSERVE: Shape = shape(&[
    field(3, "hashes", Items::Texts(OBSERVED_HASHES_MAX)),
    field(
        7,
        "servers",
        Items::Messages(OBSERVED_SERVERS_MAX, &SERVER_LOOK),
    ),
]);

static SERVER_LOOK: Shape = shape(&[field(2, "hashes", Items::Texts(OBSERVED_HASHES_MAX))]);

static WATCH: Shape = shape(&[field(2, "filter", Items::One(&WATCH_FILTER))]);

static WATCH_FILTER: Shape = shape(&[
    field(1, "kinds", Items::Numbers(WATCH_KINDS_MAX)),
    field(2, "names", Items::Texts(WATCH_NAMES_MAX)),
    field(3, "labels", Items::Messages(LABELS_MAX, &FLAT)),
    field(4, "resources", Items::Messages(WATCH_RESOURCES_MAX, &FLAT)),
    field(5, "namespaces", Items::Texts(WATCH_NAMES_MAX)),
]);

static PIPELINE: Shape = shape(&[
    field(1, "calls", Items::Messages(PIPELINE_CALLS_MAX, &FLAT)),
    field(2, "cancel", Items::Numbers(PIPELINE_CALLS_MAX)),
]);

static UPDATE_SETTINGS: Shape = shape(&[field(2, "patch", Items::One(&SETTINGS_PATCH))]);

static SETTINGS_PATCH: Shape = shape(&[field(
    12,
    "enforcePersisted",
    Items::One(&GROUP_RESOURCE_LIST),
)]);

static GROUP_RESOURCE_LIST: Shape = shape(&[field(
    1,
    "items",
    Items::Messages(ENFORCE_PERSISTED.max as usize, &FLAT),
)]);

/// The annotations of a ControllerRevision are otherwise limited by their bytes alone; this number is more than anyone
/// has.
const ANNOTATIONS_COUNTED_MAX: usize = ANNOTATIONS_BYTES_MAX / 64;

static CONTROLLER_HISTORY: Shape =
    shape(&[field(3, "selector", Items::Messages(LABELS_MAX, &FLAT))]);

static OF_HISTORY: Shape = shape(&[field(2, "history", Items::One(&CONTROLLER_HISTORY))]);

static READ_HISTORY: Shape = shape(&[field(1, "history", Items::One(&CONTROLLER_HISTORY))]);

static CREATE_REVISION: Shape = shape(&[
    field(2, "history", Items::One(&CONTROLLER_HISTORY)),
    field(7, "labels", Items::Messages(LABELS_MAX, &FLAT)),
    field(
        8,
        "annotations",
        Items::Messages(ANNOTATIONS_COUNTED_MAX, &FLAT),
    ),
]);

static LIST_REVISIONS: Shape = shape(&[field(3, "labels", Items::Messages(LABELS_MAX, &FLAT))]);

static UPDATE_REVISION: Shape = shape(&[
    field(7, "labels", Items::One(&LABEL_MAP)),
    field(8, "annotations", Items::One(&LABEL_MAP)),
]);

static LABEL_MAP: Shape = shape(&[field(
    1,
    "items",
    Items::Messages(ANNOTATIONS_COUNTED_MAX, &FLAT),
)]);

static MARK_LIVE: Shape = shape(&[
    field(2, "history", Items::One(&CONTROLLER_HISTORY)),
    field(5, "inUse", Items::One(&IN_USE)),
]);

static IN_USE: Shape = shape(&[field(2, "names", Items::Texts(IN_USE_NAMES_MAX))]);

static ATTRIBUTES: Shape = shape(&[
    field(1, "labels", Items::Messages(LABELS_MAX, &FLAT)),
    field(2, "annotations", Items::Messages(ANNOTATIONS_MAX, &FLAT)),
    field(
        3,
        "ownerReferences",
        Items::Messages(OWNER_REFERENCES_MAX, &FLAT),
    ),
    field(4, "finalizers", Items::Texts(Finalizers::ITEMS_MAX)),
]);

/// The requests that create or update one object.
static WRITE_OBJECT: Shape = shape(&[field(3, "attributes", Items::One(&ATTRIBUTES))]);

static TRANSACT: Shape = shape(&[
    field(
        2,
        "compares",
        Items::Messages(TRANSACTION_OPERATIONS_MAX, &FLAT),
    ),
    field(
        3,
        "operations",
        Items::Messages(TRANSACTION_OPERATIONS_MAX, &OPERATION),
    ),
    field(
        4,
        "reads",
        Items::Messages(TRANSACTION_OPERATIONS_MAX, &FLAT),
    ),
]);

static OPERATION: Shape = shape(&[
    field(1, "create", Items::One(&WRITE_OPERATION)),
    field(2, "update", Items::One(&WRITE_OPERATION)),
]);

static WRITE_OPERATION: Shape = shape(&[field(2, "attributes", Items::One(&ATTRIBUTES))]);

impl Shape {
    /// The shape of a public request; `None` for every other message.
    pub(super) fn of(package: &str, message: &str) -> Option<&'static Self> {
        if package != "synod.v1" || !message.ends_with("Request") {
            return None;
        }
        Some(match message {
            "MembershipJoinRequest" => &JOIN,
            "MembershipListRequest" => &LIST_MEMBERS,
            "StorageVersionsAddEquivalentsRequest" => &ADD_EQUIVALENTS,
            "StorageVersionsReportRequest" => &REPORT,
            "StorageVersionsCheckAgreementRequest" => &CHECK_AGREEMENT,
            "StorageVersionsCheckBinaryRequest" => &CHECK_BINARY,
            "MigrationsObserveRequest" => &OBSERVE,
            "PipelineOpenRequest" => &PIPELINE,
            "RostersSetRequest" => &SET_ROSTER,
            "WatchRequest" => &WATCH,
            "ClusterUpdateSettingsRequest" => &UPDATE_SETTINGS,
            "ControllerRevisionsAdoptRequest"
            | "ControllerRevisionsRollbackRequest"
            | "ControllerRevisionsTruncateRequest" => &OF_HISTORY,
            "ControllerRevisionsCreateRequest" => &CREATE_REVISION,
            "ControllerRevisionsHistoryRequest" => &READ_HISTORY,
            "ControllerRevisionsListRequest" => &LIST_REVISIONS,
            "ControllerRevisionsMarkLiveRequest" => &MARK_LIVE,
            "ControllerRevisionsUpdateRequest" => &UPDATE_REVISION,
            "ObjectsCreateRequest" | "ObjectsUpdateRequest" => &WRITE_OBJECT,
            "ObjectsTransactRequest" => &TRANSACT,
            _ => &FLAT,
        })
    }

    /// Counts the items of every list in an encoded message.
    ///
    /// # Errors
    ///
    /// Every list with too many items; or bytes that are no message, which a decoder would refuse only after it had
    /// allocated memory for what comes before the fault.
    pub(super) fn check(&self, message: &[u8]) -> Result<(), Violations> {
        let mut found = Violations::new();
        self.count(message, &mut found)?;
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn count(&self, message: &[u8], found: &mut Violations) -> Result<(), Violation> {
        let mut counts = [0; FIELDS_MAX];
        for occurrence in Wire(message) {
            let (number, value) = occurrence?;
            if let Some(i) = self.index(number) {
                counts[i] += self.0[i].items.added_by(&value);
            }
        }
        for (field, &count) in self.0.iter().zip(&counts) {
            if count > field.items.max() {
                found.push(Violation::too_many(count, field.items.max()).at(field.name));
            }
        }
        if self.0.iter().any(|field| field.items.shape().is_some()) {
            // The items of a list that is too long are not counted.
            self.descend(message, |i| counts[i] <= self.0[i].items.max(), found)?;
        }
        Ok(())
    }

    fn descend(
        &self,
        message: &[u8],
        wanted: impl Fn(usize) -> bool,
        found: &mut Violations,
    ) -> Result<(), Violation> {
        let mut seen = [0; FIELDS_MAX];
        for occurrence in Wire(message) {
            let (number, value) = occurrence?;
            let Some(i) = self.index(number).filter(|i| wanted(*i)) else {
                continue;
            };
            let field = &self.0[i];
            let (Some(shape), Value::Bytes(below)) = (field.items.shape(), value) else {
                continue;
            };
            let mut inner = Violations::new();
            let counted = shape.count(below, &mut inner);
            if counted.is_err() || !inner.is_empty() {
                let path = field.place(seen[i]);
                counted.map_err(|fault| fault.at(&path))?;
                found.extend_at(&path, inner);
            }
            seen[i] += 1;
        }
        Ok(())
    }

    fn index(&self, number: u32) -> Option<usize> {
        self.0.iter().position(|field| field.number == number)
    }
}

/// The fields of an encoded message, one after the other, none decoded.
struct Wire<'a>(&'a [u8]);

/// The content of a field on the wire.
enum Value<'a> {
    /// A number.
    Number,
    /// A text, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Iterator for Wire<'a> {
    type Item = Result<(u32, Value<'a>), Violation>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or_else(|| Violation {
            field: String::new(),
            rule: "the request is no message of its type: it is cut off or uses what is not part of the protocol".into(),
        }))
    }
}

impl<'a> Wire<'a> {
    fn field(&mut self) -> Option<(u32, Value<'a>)> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0)?;
        let value = match key & 7 {
            0 => self.varint().map(|_| Value::Number)?,
            1 => self.bytes(8).map(|_| Value::Number)?,
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.bytes(usize::try_from(length).ok()?)?)
            }
            5 => self.bytes(4).map(|_| Value::Number)?,
            // Groups, which this protocol does not use, and what is no wire type.
            _ => return None,
        };
        Some((number, value))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
}
