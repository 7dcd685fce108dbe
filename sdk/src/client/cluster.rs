//! The cluster itself: its status and its settings.

use synod_model::{
    ErrorKind, Feature, Refusal, Revision, SWITCHES_SINCE, SettingsPatch, UpdateSettings, WallTime,
};
use synod_proto::status::to_status;
use synod_proto::{Change, v1};
use tonic::{Response, Status};

use super::{Client, stubs};
use crate::transport::Try;
use crate::values::read;
use crate::{Changed, ClusterStatus, Error, ReadOptions, RevisionAtTime, SettingsView};

impl Client {
    /// Asks any one replica for the status of the cluster, as this replica sees it. No quorum is needed.
    ///
    /// # Errors
    ///
    /// No replica answered in time.
    pub async fn status(&self) -> Result<ClusterStatus, Error> {
        let answer = self.read(|attempt| {
            let request = attempt.request(v1::ClusterStatusRequest {});
            async move {
                let answer = stubs::cluster(attempt.channel).status(request).await?;
                of_a_cluster(answer)
            }
        });
        read::<v1::ClusterStatusResponse, _>(answer.await?)
    }

    /// Asks the replica at one endpoint for the status of the cluster.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: the client was not given such an endpoint. Else that replica did not answer in time.
    pub async fn status_of(&self, endpoint: &str) -> Result<ClusterStatus, Error> {
        let answer = self.ask_one(endpoint, |attempt| {
            let request = attempt.request(v1::ClusterStatusRequest {});
            async move { stubs::cluster(attempt.channel).status(request).await }
        });
        read::<v1::ClusterStatusResponse, _>(answer.await?)
    }

    /// Reads the replicated settings.
    ///
    /// # Errors
    ///
    /// No replica could answer in time.
    pub async fn settings(&self, options: ReadOptions) -> Result<SettingsView, Error> {
        let message = v1::ClusterGetSettingsRequest {
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message);
            async move { stubs::cluster(attempt.channel).get_settings(request).await }
        });
        read::<v1::ClusterGetSettingsResponse, _>(answer.await?)
    }

    /// Finds the newest kept revision that was made at or before a time: a watch from the next one shows what happened
    /// after it. Times are those of the leaders' wall clocks, by their running maximum.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: every kept revision was made later, or before times were kept. No replica could answer in time.
    pub async fn revision_at(
        &self,
        time: WallTime,
        options: ReadOptions,
    ) -> Result<RevisionAtTime, Error> {
        let message = v1::ClusterRevisionAtRequest {
            time_ms: time.as_millis(),
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message);
            async move { stubs::cluster(attempt.channel).revision_at(request).await }
        });
        read::<v1::ClusterRevisionAtResponse, _>(answer.await?)
    }

    /// Changes settings; those that the patch leaves out stay as they are. With `if_revision`, only if the settings
    /// were last changed at that revision.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: a value is out of bounds. `CONFLICT`: they were changed since; [`Error::current`] has them.
    /// `UNAVAILABLE`: a switch is named, and a replica of the set does not know switches yet.
    pub async fn update_settings(
        &self,
        patch: SettingsPatch,
        if_revision: Option<Revision>,
    ) -> Result<Changed, Error> {
        self.send_settings(UpdateSettings { patch, if_revision }, false)
            .await
    }

    pub(super) async fn send_settings(
        &self,
        update: UpdateSettings,
        dry_run: bool,
    ) -> Result<Changed, Error> {
        if let Some(feature) = update.patch.names_switch_of() {
            self.check_switches(feature).await?;
        }
        let answer = self.write(dry_run, Change::new(update), |attempt: Try, message| {
            let message = v1::ClusterUpdateSettingsRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move {
                stubs::cluster(attempt.channel)
                    .update_settings(request)
                    .await
            }
        });
        read::<v1::ClusterUpdateSettingsResponse, _>(answer.await?)
    }

    /// Refuses a switch while a replica of the set does not know switches: asked itself, it would not see the switch in the
    /// patch, and change the rest.
    pub(super) async fn check_switches(&self, feature: Feature) -> Result<(), Error> {
        let status = self.status().await?;
        let replicas = status.replicas.iter();
        let older: Vec<String> = replicas
            .filter(|replica| (1..SWITCHES_SINCE).contains(&replica.machine_version))
            .map(|replica| format!("replica {} ({})", replica.replica_id, replica.version))
            .collect();
        if older.is_empty() {
            return Ok(());
        }
        let message = format!(
            "{feature}: switches come with machine version {SWITCHES_SINCE}, and {} is in force until all replicas know that \
             one: run the newer release on {}, and try again",
            status.machine_version,
            older.join(", ")
        );
        Err(Error::new(ErrorKind::Unavailable, message))
    }
}

/// The answer of a replica that belongs to a cluster. One that waits to be taken into a set knows of none, and another replica
/// is asked.
fn of_a_cluster(
    answer: Response<v1::ClusterStatusResponse>,
) -> Result<Response<v1::ClusterStatusResponse>, Status> {
    let header = answer.get_ref().header.as_ref();
    if header.is_some_and(|header| header.cluster_id.is_empty()) {
        let message = "this replica belongs to no cluster yet";
        return Err(to_status(Refusal::new(ErrorKind::Unavailable, message)));
    }
    Ok(answer)
}
