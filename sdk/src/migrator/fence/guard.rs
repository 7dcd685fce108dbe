//! The writer's side of a fence: whether a write may be sent for the present content of the fence key.

use synod_model::{ClusterId, ErrorKind, MemberId};

use super::{Fence, FenceFault};
use crate::{Client, Error, ObjectKind, Permit, ReadOptions, Reflector};

/// The agreements that a member knows of, by which its writes pass the fence of a store.
///
/// For each write: take a permit, read the fence key, [`check`](Self::check), [`Permit::check`], then write on
/// condition that the key holds what was read. A value of the key that was read earlier may be used: if the key has
/// changed since, the condition fails, and the key is read again.
#[derive(Clone, Debug)]
pub struct FenceGuard {
    reflector: Reflector,
    member: MemberId,
    cluster: ClusterId,
}

impl FenceGuard {
    /// The guard of a member's writes. It watches the cluster until it is dropped.
    ///
    /// # Errors
    ///
    /// The cluster does not answer.
    pub async fn new(client: &Client, member: MemberId) -> Result<Self, Error> {
        let kinds = vec![ObjectKind::Member, ObjectKind::StorageVersion];
        let view = client.settings(ReadOptions::linearizable()).await?;
        Ok(Self {
            reflector: client.reflect(kinds).await?,
            member,
            cluster: view.header.cluster,
        })
    }

    /// Whether a write under this permit may be sent on condition that the fence key holds `present`; for `None`, on
    /// condition that there is no such key.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE`: the store was migrated under an agreement that this member has not seen yet, but will. If its
    /// membership is over without its knowledge, it will see that instead. `NOT_A_MEMBER`, `ENCODING_NOT_SELECTED`: the
    /// permit is void, as [`Permit::check`] says. `CONFLICT`: the fence is not one of this cluster and resource.
    pub fn check(&self, permit: &Permit, present: Option<&[u8]>) -> Result<(), Error> {
        let known = self.known(permit)?;
        known.follows(present).map_err(|fault| {
            let kind = match fault {
                FenceFault::Later { .. } => ErrorKind::Unavailable,
                FenceFault::Unreadable { .. }
                | FenceFault::OtherCluster { .. }
                | FenceFault::OtherResource { .. } => ErrorKind::Conflict,
            };
            let resource = permit.resource().qualified();
            let message = format!("{resource} may not be written now: {fault}");
            Error::new(kind, message)
        })
    }

    /// The last agreement on the permit's resource that was known while the member's entry allowed the encoding.
    ///
    /// At that revision an entry with this encoding existed. So an agreement on another version does not hold any more,
    /// and a migration that was begun under it cannot be completed.
    fn known(&self, permit: &Permit) -> Result<Fence, Error> {
        let (resource, encoding) = (permit.resource(), permit.encoding());
        let is_member = self
            .reflector
            .member(&self.member)
            .is_some_and(|member| member.epoch == permit.epoch());
        let version = self.reflector.storage_version(resource);
        let Some(version) = version.filter(|_| is_member) else {
            let message = format!(
                "member {} is not known under epoch {}, or does not report {}: take a new permit",
                self.member,
                permit.epoch(),
                resource.qualified()
            );
            return Err(Error::new(ErrorKind::NotAMember, message));
        };
        let entry = version.entry(&self.member);
        let allows = entry.is_some_and(|entry| {
            let selected = entry.preferred.is_some() && version.status.selected.is_some();
            let taken = selected.then_some(&version.status.selected);
            [Some(&entry.encoding), taken].contains(&Some(&Some(encoding.clone())))
        });
        if !allows {
            let message = format!(
                "the entry of member {} does not encode {} in {encoding}: take a new permit",
                self.member,
                resource.qualified()
            );
            return Err(Error::new(ErrorKind::EncodingNotSelected, message));
        }
        let agreement = version.status.agreement_revision;
        Ok(Fence::new(self.cluster, resource.clone(), agreement))
    }
}
