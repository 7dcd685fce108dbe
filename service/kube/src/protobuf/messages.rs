//! The table of messages: which member of a document each field is.
//!
//! The numbers are those of the files `generated.proto` in `k8s.io/api` and `k8s.io/apimachinery` 0.37, which never give a number
//! to another field.

/// A message, by its fields.
#[derive(Debug)]
pub(crate) struct Message(pub(super) &'static [Field]);

/// A field of a message, and the member of the document that it is.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    /// Whether the member is a list.
    pub(super) is_list: bool,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    Text,
    Number,
    Bool,
    /// A map of texts.
    Texts,
    /// A time in whole seconds.
    Time,
    /// A time with six digits of the second.
    MicroTime,
    /// A text of JSON in a message of its own.
    Json,
    Message(&'static Message),
}

const fn field(number: u32, name: &'static str, holds: Holds) -> Field {
    Field {
        number,
        name,
        holds,
        is_list: false,
    }
}

const fn text(number: u32, name: &'static str) -> Field {
    field(number, name, Holds::Text)
}

const fn number(number: u32, name: &'static str) -> Field {
    field(number, name, Holds::Number)
}

const fn bool(number: u32, name: &'static str) -> Field {
    field(number, name, Holds::Bool)
}

const fn time(number: u32, name: &'static str) -> Field {
    field(number, name, Holds::Time)
}

const fn micro_time(number: u32, name: &'static str) -> Field {
    field(number, name, Holds::MicroTime)
}

const fn one(number: u32, name: &'static str, message: &'static Message) -> Field {
    field(number, name, Holds::Message(message))
}

const fn list(of: Field) -> Field {
    Field {
        is_list: true,
        ..of
    }
}

/// The message of a kind; `None` if it has none.
pub(crate) fn of(api_version: &str, kind: &str) -> Option<&'static Message> {
    Some(match (api_version, kind) {
        ("coordination.k8s.io/v1", "Lease") => &LEASE,
        ("coordination.k8s.io/v1beta1", "LeaseCandidate") => &LEASE_CANDIDATE,
        ("apps/v1", "ControllerRevision") => &CONTROLLER_REVISION,
        ("internal.apiserver.k8s.io/v1alpha1", "StorageVersion") => &STORAGE_VERSION,
        (
            "storagemigration.k8s.io/v1" | "storagemigration.k8s.io/v1beta1",
            "StorageVersionMigration",
        ) => &MIGRATION,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => &SUBJECT_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => &ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => &RULES_REVIEW,
        ("meta.k8s.io/v1", "PartialObjectMetadata") => &METADATA_ALONE,
        ("v1", "Status") => &STATUS,
        _ => return None,
    })
}

/// The message of the options of a deletion, whatever group they say that they belong to.
pub(crate) const fn delete_options() -> &'static Message {
    &DELETE_OPTIONS
}

static METADATA: Message = Message(&[
    text(1, "name"),
    text(2, "generateName"),
    text(3, "namespace"),
    text(4, "selfLink"),
    text(5, "uid"),
    text(6, "resourceVersion"),
    number(7, "generation"),
    time(8, "creationTimestamp"),
    time(9, "deletionTimestamp"),
    number(10, "deletionGracePeriodSeconds"),
    field(11, "labels", Holds::Texts),
    field(12, "annotations", Holds::Texts),
    list(one(13, "ownerReferences", &OWNER)),
    list(text(14, "finalizers")),
    list(one(17, "managedFields", &MANAGER)),
]);

static OWNER: Message = Message(&[
    text(1, "kind"),
    text(3, "name"),
    text(4, "uid"),
    text(5, "apiVersion"),
    bool(6, "controller"),
    bool(7, "blockOwnerDeletion"),
]);

static MANAGER: Message = Message(&[
    text(1, "manager"),
    text(2, "operation"),
    text(3, "apiVersion"),
    time(4, "time"),
    text(6, "fieldsType"),
    field(7, "fieldsV1", Holds::Json),
    text(8, "subresource"),
]);

pub(super) static LIST_METADATA: Message = Message(&[
    text(2, "resourceVersion"),
    text(3, "continue"),
    number(4, "remainingItemCount"),
]);

static METADATA_ALONE: Message = Message(&[one(1, "metadata", &METADATA)]);

static LEASE: Message = Message(&[
    one(1, "metadata", &METADATA),
    one(
        2,
        "spec",
        &Message(&[
            text(1, "holderIdentity"),
            number(2, "leaseDurationSeconds"),
            micro_time(3, "acquireTime"),
            micro_time(4, "renewTime"),
            number(5, "leaseTransitions"),
            text(6, "strategy"),
            text(7, "preferredHolder"),
        ]),
    ),
]);

static LEASE_CANDIDATE: Message = Message(&[
    one(1, "metadata", &METADATA),
    one(
        2,
        "spec",
        &Message(&[
            text(1, "leaseName"),
            micro_time(2, "pingTime"),
            micro_time(3, "renewTime"),
            text(4, "binaryVersion"),
            text(5, "emulationVersion"),
            text(6, "strategy"),
        ]),
    ),
]);

static CONTROLLER_REVISION: Message = Message(&[
    one(1, "metadata", &METADATA),
    field(2, "data", Holds::Json),
    number(3, "revision"),
]);

static STORAGE_VERSION: Message = Message(&[
    one(1, "metadata", &METADATA),
    one(2, "spec", &Message(&[])),
    one(
        3,
        "status",
        &Message(&[
            list(one(
                1,
                "storageVersions",
                &Message(&[
                    text(1, "apiServerID"),
                    text(2, "encodingVersion"),
                    list(text(3, "decodableVersions")),
                    list(text(4, "servedVersions")),
                ]),
            )),
            text(2, "commonEncodingVersion"),
            list(one(3, "conditions", &CONDITION)),
        ]),
    ),
]);

/// That of StorageVersions and that of all others have the same numbers.
static CONDITION: Message = Message(&[
    text(1, "type"),
    text(2, "status"),
    number(3, "observedGeneration"),
    time(4, "lastTransitionTime"),
    text(5, "reason"),
    text(6, "message"),
]);

static MIGRATION: Message = Message(&[
    one(1, "metadata", &METADATA),
    one(
        2,
        "spec",
        &Message(&[one(
            1,
            "resource",
            &Message(&[text(1, "group"), text(2, "resource")]),
        )]),
    ),
    one(
        3,
        "status",
        &Message(&[
            list(one(1, "conditions", &CONDITION)),
            text(2, "resourceVersion"),
        ]),
    ),
]);

static DELETE_OPTIONS: Message = Message(&[
    number(1, "gracePeriodSeconds"),
    one(
        2,
        "preconditions",
        &Message(&[text(1, "uid"), text(2, "resourceVersion")]),
    ),
    bool(3, "orphanDependents"),
    text(4, "propagationPolicy"),
    list(text(5, "dryRun")),
]);

static STATUS: Message = Message(&[
    one(1, "metadata", &LIST_METADATA),
    text(2, "status"),
    text(3, "message"),
    text(4, "reason"),
    one(
        5,
        "details",
        &Message(&[
            text(1, "name"),
            text(2, "group"),
            text(3, "kind"),
            list(one(
                4,
                "causes",
                &Message(&[text(1, "reason"), text(2, "message"), text(3, "field")]),
            )),
            number(5, "retryAfterSeconds"),
            text(6, "uid"),
        ]),
    ),
    number(6, "code"),
]);

static SUBJECT_REVIEW: Message = Message(&[
    one(1, "metadata", &METADATA),
    one(
        2,
        "status",
        &Message(&[one(
            1,
            "userInfo",
            &Message(&[text(1, "username"), text(2, "uid"), list(text(3, "groups"))]),
        )]),
    ),
]);

static ACCESS_REVIEW: Message = Message(&[
    one(1, "metadata", &METADATA),
    one(
        2,
        "spec",
        &Message(&[
            one(1, "resourceAttributes", &RESOURCE_ATTRIBUTES),
            one(2, "nonResourceAttributes", &PATH_ATTRIBUTES),
        ]),
    ),
    one(
        3,
        "status",
        &Message(&[bool(1, "allowed"), text(2, "reason")]),
    ),
]);

static RESOURCE_ATTRIBUTES: Message = Message(&[
    text(1, "namespace"),
    text(2, "verb"),
    text(3, "group"),
    text(4, "version"),
    text(5, "resource"),
    text(6, "subresource"),
    text(7, "name"),
]);

static PATH_ATTRIBUTES: Message = Message(&[text(1, "path"), text(2, "verb")]);

static RULES_REVIEW: Message = Message(&[
    one(1, "metadata", &METADATA),
    one(2, "spec", &Message(&[text(1, "namespace")])),
    one(
        3,
        "status",
        &Message(&[
            list(one(
                1,
                "resourceRules",
                &Message(&[
                    list(text(1, "verbs")),
                    list(text(2, "apiGroups")),
                    list(text(3, "resources")),
                ]),
            )),
            list(one(
                2,
                "nonResourceRules",
                &Message(&[list(text(1, "verbs")), list(text(2, "nonResourceURLs"))]),
            )),
            bool(3, "incomplete"),
        ]),
    ),
]);
