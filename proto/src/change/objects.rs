use synod_model::{
    CreateObject, DeleteObject, Epoch, Fences, FencingToken, LeaseKey, MemberId, MetadataPatch,
    Patch, PatchFormat, PatchObject, Propagation, TtlChange, UpdateObject, Violation, Violations,
};

use super::{Change, requests};
use crate::wire::{Wire, sound};
use crate::{messages, read_fields, v1, wire_enums};

requests! {
    v1::ObjectsCreateRequest = CreateObject, fences;
    v1::ObjectsUpdateRequest = UpdateObject, fences;
    v1::ObjectsPatchRequest = PatchObject, fences;
    v1::ObjectsDeleteRequest = DeleteObject, fences;
}

wire_enums! {
    v1::PatchFormat = PatchFormat { Merge = Merge, Json = Json }
    v1::Propagation = Propagation {
        Background = Background, Foreground = Foreground, Orphan = Orphan,
    }
}

messages! {
    v1::CreateOperation = CreateObject {
        key = key,
        attributes = attributes,
        content = content,
        ttl = ttl_ms,
        ; unsaid fences
    }
    v1::DeleteOperation = DeleteObject {
        key = key,
        propagation = propagation,
        preconditions = preconditions,
        ; unsaid fences
    }
    v1::ContentPatch = Patch {
        encoding = encoding_version,
        format = format,
        document = document,
    }
    v1::MetadataPatch = MetadataPatch {
        format = format,
        document = document,
    }
}

/// Implements the messages of requests for one operation: the fields of the operation, and the
/// fences.
macro_rules! operations {
    ($($request:ident = $operation:ident of $of:ident { $($field:ident),* })*) => { $(
        impl Wire<v1::$request> for $of {
            fn to_wire(&self) -> v1::$request {
                let operation: v1::$operation = self.to_wire();
                v1::$request {
                    $($field: operation.$field,)*
                    fences: self.fences.to_wire(),
                    ..Default::default()
                }
            }

            fn of_wire(pb: v1::$request) -> Result<Self, Violations> {
                let mut found = Violations::new();
                let fences = found.parsed("fences", Fences::of_wire(pb.fences));
                let operation = v1::$operation { $($field: pb.$field),* };
                let body = found.parsed("", Self::of_wire(operation));
                let (Some(fences), Some(body)) = (fences, body) else {
                    return Err(found);
                };
                sound(Self { fences, ..body }, found)
            }
        }
    )* };
}

operations! {
    ObjectsCreateRequest = CreateOperation of CreateObject { key, attributes, content, ttl_ms }
    ObjectsUpdateRequest = UpdateOperation of UpdateObject {
        key, attributes, content, preconditions, ttl_ms, remove_ttl
    }
    ObjectsPatchRequest = PatchOperation of PatchObject {
        key, patch, metadata_patch, ttl_ms, remove_ttl, preconditions
    }
    ObjectsDeleteRequest = DeleteOperation of DeleteObject { key, preconditions, propagation }
}

/// The clusters that gave the numbers are converted separately. Nothing is sent if there is no
/// fence.
impl Wire<Option<v1::Fences>> for Fences {
    fn to_wire(&self) -> Option<v1::Fences> {
        (*self != Self::default()).then(|| v1::Fences {
            if_member: self.if_member.to_wire(),
            if_lease: self.if_lease.to_wire(),
        })
    }

    fn of_wire(pb: Option<v1::Fences>) -> Result<Self, Violations> {
        let pb = pb.unwrap_or_default();
        let mut found = Violations::new();
        read_fields! { pb, found;
            if_member = if_member => Option::<(MemberId, Epoch)>::of_wire(pb.if_member),
            if_lease = if_lease => Option::<(LeaseKey, FencingToken)>::of_wire(pb.if_lease),
        }
        Ok(Self {
            if_member,
            if_lease,
        })
    }
}

impl Wire<v1::UpdateOperation> for UpdateObject {
    fn to_wire(&self) -> v1::UpdateOperation {
        v1::UpdateOperation {
            key: self.key.to_wire(),
            attributes: self.attributes.to_wire(),
            content: self.content.to_wire(),
            preconditions: self.preconditions.to_wire(),
            ttl_ms: self.ttl.of_new().to_wire(),
            remove_ttl: self.ttl == TtlChange::Remove,
        }
    }

    fn of_wire(pb: v1::UpdateOperation) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let ttl = found.parsed("", ttl_change(pb.ttl_ms, pb.remove_ttl));
        read_fields! { pb, found;
            key = key,
            attributes = attributes,
            content = content,
            preconditions = preconditions,
        }
        let Some(ttl) = ttl else {
            return Err(found);
        };
        Ok(Self {
            key,
            attributes,
            content,
            ttl,
            preconditions,
            fences: Fences::default(),
        })
    }
}

impl Wire<v1::PatchOperation> for PatchObject {
    fn to_wire(&self) -> v1::PatchOperation {
        v1::PatchOperation {
            key: self.key.to_wire(),
            patch: self.data.to_wire(),
            metadata_patch: self.metadata.to_wire(),
            ttl_ms: self.ttl.of_new().to_wire(),
            remove_ttl: self.ttl == TtlChange::Remove,
            preconditions: self.preconditions.to_wire(),
        }
    }

    fn of_wire(pb: v1::PatchOperation) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let ttl = found.parsed("", ttl_change(pb.ttl_ms, pb.remove_ttl));
        read_fields! { pb, found;
            key = key,
            data = patch,
            metadata = metadata_patch,
            preconditions = preconditions,
        }
        let Some(ttl) = ttl else {
            return Err(found);
        };
        let body = Self {
            key,
            data,
            metadata,
            ttl,
            preconditions,
            fences: Fences::default(),
        };
        // The parts cannot check whether the request changes anything, and how long its documents
        // are.
        found.extend_at("", body.check());
        sound(body, found)
    }
}

/// Reads the fields `ttlMs` and `removeTtl`.
fn ttl_change(ms: Option<u64>, remove: bool) -> Result<TtlChange, Violations> {
    let ttl: Option<synod_model::Ttl> = Wire::of_wire(ms).map_err(|faults| faults.at("ttlMs"))?;
    match (ttl, remove) {
        (Some(_), true) => {
            let rule = "must not stand beside ttlMs: the deadline is moved or taken away";
            Err(Violation::invalid("true", rule).at("removeTtl").into())
        }
        (None, true) => Ok(TtlChange::Remove),
        (ttl, false) => Ok(ttl.into()),
    }
}
