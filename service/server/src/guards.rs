//! What stands between callers and a replica: transport security, the policy, and the log of who has called what.

use std::sync::Arc;

use synod_model::WallTime;
use tokio::task::JoinSet;

use crate::access::{Access, PolicyFault};
use crate::audit::{self, Audit, AuditFault};
use crate::connections::Secure;
use crate::metrics::SecurityMetrics;
use crate::seams::Seams;
use crate::security::{Secured, Security};
use crate::stop::Stop;

/// A file of the guards that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardFault {
    /// A certificate, a key or a CA bundle.
    #[error(transparent)]
    Certificate(#[from] synod_tls::Fault),
    /// The policy.
    #[error(transparent)]
    Policy(#[from] PolicyFault),
    /// The audit log.
    #[error(transparent)]
    Audit(#[from] AuditFault),
}

/// The guards of a replica, as their files were read.
pub(crate) struct Loaded {
    pub(crate) secured: Secured,
    access: Access,
    audit: Option<audit::File>,
}

/// The guards of a replica that runs. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Guards {
    pub(crate) secured: Secured,
    pub(crate) access: Access,
    pub(crate) audit: Audit,
}

impl Loaded {
    /// Reads all files.
    ///
    /// # Errors
    ///
    /// The fault of the first one that cannot be used.
    pub(crate) fn of(security: &Security, seams: &Seams) -> Result<Self, GuardFault> {
        Ok(Self {
            secured: security.load()?,
            access: Access::load(security, &seams.wall)?,
            audit: Audit::file(security.audit.as_deref())?,
        })
    }

    /// Spawns what looks at the files until `front` is stopped, and what writes the audit log until `work` is.
    pub(crate) fn start(
        self,
        seams: &Seams,
        metrics: &Arc<SecurityMetrics>,
        (front, work): (&Stop, &Stop),
        tasks: &mut JoinSet<()>,
    ) -> Guards {
        let Self {
            secured,
            access,
            audit,
        } = self;
        let offload = seams.offload;
        let (audit, writer) = Audit::new(audit, &seams.wall, metrics);
        if let Some(writer) = writer {
            tasks.spawn(writer.run(offload, work.clone()));
        }
        let fresh = secured.clone();
        tasks.spawn(fresh.keep_fresh(offload, Arc::clone(metrics), front.clone()));
        let fresh = access.clone();
        tasks.spawn(fresh.keep_fresh(offload, Arc::clone(metrics), front.clone()));
        Guards {
            secured,
            access,
            audit,
        }
    }
}

impl Guards {
    /// What secures the ports for clients and metrics.
    pub(crate) fn of_client(&self) -> Option<Secure> {
        let acceptor = self.secured.client()?;
        let access = self.access.clone();
        Some(Secure { acceptor, access })
    }

    /// What secures the port for other replicas, who have no tokens.
    pub(crate) fn of_peer(&self) -> Option<Secure> {
        let acceptor = self.secured.peer()?;
        let access = Access::default();
        Some(Secure { acceptor, access })
    }

    /// What an operator must look at: certificates, the policy and the audit log, each as sentences for people.
    pub(crate) fn alarms(&self, now: WallTime) -> [Vec<String>; 3] {
        let audit = self.audit.alarm().into_iter().collect();
        [self.secured.alarms(now), self.access.alarms(), audit]
    }
}
