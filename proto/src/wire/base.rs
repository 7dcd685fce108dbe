//! The forms of texts, numbers, options, lists and maps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use synod_model::{
    Annotations, ApiVersion, BinaryVersion, ClaimToken, ClusterId, ContinueToken, Endpoint, Epoch,
    FailureReason, FencingToken, FieldSelector, Finalizers, HolderIdentity, Identity, InstanceId,
    Kind, LabelSelector, Labels, LogTime, Marker, MediaType, MemberId, MigrationAlias, MigrationId,
    MigrationName, Namespace, NamespacedName, ObjectName, ObservedServer, ObserverName,
    ResourceScope, Revision, RevisionNumber, SemanticVersion, Sequence, SessionId, StatementNumber,
    StorageVersionHash, Strategy, Ticket, Ttl, Uid, VersionSet, Violations, WallTime, WorkerName,
};

use super::{Wire, required, sound};

/// Types that are sent as they are.
macro_rules! as_it_is {
    ($($of:ty),*) => { $(
        impl Wire<$of> for $of {
            fn to_wire(&self) -> $of {
                self.clone()
            }

            fn of_wire(pb: $of) -> Result<Self, Violations> {
                Ok(pb)
            }
        }
    )* };
}

as_it_is!(u64, u32, bool, String, Bytes);

/// Types that are sent as their text, which is parsed.
macro_rules! texts {
    ($($of:ty),* $(,)?) => { $(
        impl Wire<String> for $of {
            fn to_wire(&self) -> String {
                self.to_string()
            }

            fn of_wire(pb: String) -> Result<Self, Violations> {
                Ok(Self::parse(&pb)?)
            }
        }

        /// An empty text is `None`.
        impl Wire<String> for Option<$of> {
            fn to_wire(&self) -> String {
                self.as_ref().map(Wire::to_wire).unwrap_or_default()
            }

            fn of_wire(pb: String) -> Result<Self, Violations> {
                (!pb.is_empty()).then(|| Wire::of_wire(pb)).transpose()
            }
        }
    )* };
}

texts!(
    ApiVersion,
    BinaryVersion,
    ClusterId,
    ContinueToken,
    Endpoint,
    FailureReason,
    FieldSelector,
    HolderIdentity,
    Identity,
    InstanceId,
    Kind,
    LabelSelector,
    Marker,
    MediaType,
    MemberId,
    MigrationAlias,
    Namespace,
    ObjectName,
    ObservedServer,
    ObserverName,
    ResourceScope,
    SemanticVersion,
    StorageVersionHash,
    Strategy,
    Uid,
    WorkerName,
);

impl Wire<String> for MigrationId {
    fn to_wire(&self) -> String {
        self.to_string()
    }

    fn of_wire(pb: String) -> Result<Self, Violations> {
        let name = Some(pb).filter(|name| !name.is_empty());
        Self::parse(&required(name, "must name a migration")?)
    }
}

impl Wire<String> for MigrationName {
    fn to_wire(&self) -> String {
        self.to_string()
    }

    fn of_wire(pb: String) -> Result<Self, Violations> {
        let name = Some(pb).filter(|name| !name.is_empty());
        Self::parse(&required(name, "must name a migration")?)
    }
}

/// The name `<namespace>/<name>`, or the name alone.
impl Wire<String> for NamespacedName {
    fn to_wire(&self) -> String {
        self.to_string()
    }

    fn of_wire(pb: String) -> Result<Self, Violations> {
        let (namespace, name) = pb.split_once('/').unwrap_or(("", &pb));
        let namespace: Option<Namespace> = Wire::of_wire(namespace.to_owned())?;
        Ok(Self::new(namespace.as_ref(), &ObjectName::parse(name)?))
    }
}

/// Types that are sent as a number.
macro_rules! numbers {
    ($($of:ty: $get:expr, $make:expr;)*) => { $(
        impl Wire<u64> for $of {
            fn to_wire(&self) -> u64 {
                let get: fn(&Self) -> u64 = $get;
                get(self)
            }

            fn of_wire(pb: u64) -> Result<Self, Violations> {
                let make: fn(u64) -> Result<Self, Violations> = $make;
                make(pb)
            }
        }
    )* };
}

numbers! {
    ClaimToken: |it| it.get(), |pb| checked(Self::new(Revision::new(pb)), Self::check);
    Duration: |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX), |pb| Ok(Self::from_millis(pb));
    Epoch: |it| it.get(), |pb| checked(Self::new(Revision::new(pb)), Self::check);
    FencingToken: |it| it.get(), |pb| checked(Self::new(Revision::new(pb)), Self::check);
    LogTime: |it| it.as_millis(), |pb| Ok(Self::from_millis(pb));
    Revision: |it| it.get(), |pb| Ok(Self::new(pb));
    RevisionNumber: |it| it.get(), |pb| Ok(Self::new(pb)?);
    Sequence: |it| it.get(), |pb| Ok(required(Self::new(pb), "must be at least 1")?);
    SessionId: |it| it.get(), |pb| checked(Self::new(Revision::new(pb)), Self::check);
    StatementNumber: |it| it.get(), |pb| Ok(required(
        Self::new(pb),
        "must be at least 1, and greater than in all that the member has said under its epoch",
    )?);
    Ticket: |it| it.get(), |pb| Ok(Self::new(Revision::new(pb)));
    Ttl: |it| it.as_millis(), |pb| Ok(Self::from_millis(pb)?);
    WallTime: |it| it.as_millis(), |pb| Ok(Self::from_millis(pb));
}

fn checked<T: Copy, E: Into<Violations>>(
    value: T,
    check: fn(T) -> Result<(), E>,
) -> Result<T, Violations> {
    check(value).map_err(Into::into)?;
    Ok(value)
}

/// Types that are sent as a map, as labels are.
macro_rules! maps {
    ($($of:ty),*) => { $(
        impl Wire<BTreeMap<String, String>> for $of {
            fn to_wire(&self) -> BTreeMap<String, String> {
                let pairs = self.iter();
                pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
            }

            fn of_wire(pb: BTreeMap<String, String>) -> Result<Self, Violations> {
                Self::parse(&pb)
            }
        }
    )* };
}

maps!(Annotations, Labels);

impl Wire<Vec<String>> for Finalizers {
    fn to_wire(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }

    fn of_wire(pb: Vec<String>) -> Result<Self, Violations> {
        Self::parse(&pb)
    }
}

impl Wire<Vec<String>> for VersionSet {
    fn to_wire(&self) -> Vec<String> {
        self.iter().map(Wire::to_wire).collect()
    }

    fn of_wire(pb: Vec<String>) -> Result<Self, Violations> {
        Ok(Vec::of_wire(pb)?.into_iter().collect())
    }
}

impl<P, T: Wire<P>> Wire<Option<P>> for Option<T> {
    fn to_wire(&self) -> Option<P> {
        self.as_ref().map(Wire::to_wire)
    }

    fn of_wire(pb: Option<P>) -> Result<Self, Violations> {
        pb.map(Wire::of_wire).transpose()
    }
}

/// Zero is `None`. A number that is not known is a fault, not `None`.
impl<T: Wire<i32>> Wire<i32> for Option<T> {
    fn to_wire(&self) -> i32 {
        self.as_ref().map_or(0, Wire::to_wire)
    }

    fn of_wire(pb: i32) -> Result<Self, Violations> {
        (pb != 0).then(|| Wire::of_wire(pb)).transpose()
    }
}

impl<P, T: Wire<P>> Wire<P> for Box<T> {
    fn to_wire(&self) -> P {
        T::to_wire(self)
    }

    fn of_wire(pb: P) -> Result<Self, Violations> {
        T::of_wire(pb).map(Self::new)
    }
}

/// Items that break a rule are named by their place in the list.
macro_rules! lists {
    ($($list:ident: $($bound:ident)?;)*) => { $(
        impl<P, T: Wire<P> $(+ $bound)?> Wire<Vec<P>> for $list<T> {
            fn to_wire(&self) -> Vec<P> {
                self.iter().map(Wire::to_wire).collect()
            }

            fn of_wire(pb: Vec<P>) -> Result<Self, Violations> {
                let mut found = Violations::new();
                let numbered = pb.into_iter().enumerate();
                let items = numbered
                    .filter_map(|(i, item)| found.parsed(format_args!("[{i}]"), T::of_wire(item)));
                let items = items.collect();
                sound(items, found)
            }
        }
    )* };
}

lists! {
    Vec: ;
    BTreeSet: Ord;
}
