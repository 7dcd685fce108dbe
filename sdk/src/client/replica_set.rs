//! The replica set: who is in it, who leads, and checkpoints.

use std::future::Future;

use synod_proto::{AddReplica, PromoteReplica, RemoveReplica, TransferLeader, v1};
use tokio::time::Instant;
use tonic::{Response, Status};

use super::{Client, stubs};
use crate::session::deadline;
use crate::transport::{Headed, Repeats, Try};
use crate::values::read;
use crate::{Changed, CheckpointWritten, Error, ReadOptions};

impl Client {
    /// Adds a fresh replica to the replica set, as a learner: it follows the log, serves reads, and does not count for the
    /// quorum. It must run, have been started to join (`synod serve --join`), and have no data. `peer_address` is where the
    /// other replicas reach it, as `host:port`. Asked again, it changes nothing.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS`: another replica has its id, or had it before. `CONFLICT`: another replica answers
    /// there, or one with data. `UNAVAILABLE`: none answers there.
    pub async fn add_replica(&self, replica_id: u64, peer_address: &str) -> Result<Changed, Error> {
        let add = AddReplica {
            replica_id,
            peer_address: peer_address.to_owned(),
        };
        let message = v1::ClusterAddReplicaRequest::from(&add);
        let answer = self.repeatable(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::cluster(attempt.channel).add_replica(request).await }
        });
        read(answer.await?)
    }

    /// Makes a learner a voter as soon as it has caught up. With `replaces`, another replica leaves the set in the same
    /// change. Asked again, it changes nothing.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such replica in the set. `UNAVAILABLE`: it has not caught up in time. `CONFLICT`: the new set
    /// would have no majority that answers.
    pub async fn promote_replica(
        &self,
        replica_id: u64,
        replaces: Option<u64>,
    ) -> Result<Changed, Error> {
        let promote = PromoteReplica {
            replica_id,
            replaces,
        };
        let message = v1::ClusterPromoteReplicaRequest::from(&promote);
        let answer = self.repeatable(|attempt| {
            let request = attempt.request(message);
            async move {
                stubs::cluster(attempt.channel)
                    .promote_replica(request)
                    .await
            }
        });
        read(answer.await?)
    }

    /// Lets a replica leave the replica set for good: it ends, and nobody gets its id again. Asked again, it changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: it was never in the set. `CONFLICT`: it is the last voter, or the others would have no majority that
    /// answers.
    pub async fn remove_replica(&self, replica_id: u64) -> Result<Changed, Error> {
        let message = v1::ClusterRemoveReplicaRequest::from(&RemoveReplica { replica_id });
        let answer = self.repeatable(|attempt| {
            let request = attempt.request(message);
            async move {
                stubs::cluster(attempt.channel)
                    .remove_replica(request)
                    .await
            }
        });
        read(answer.await?)
    }

    /// Hands the leadership to a voter, or else to the one that holds most of the log, and waits until it leads. Tried again
    /// after an unknown outcome, it hands over once: without `to`, only the replica that leads when this is called gives it away.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: there is no such voter.
    pub async fn transfer_leader(&self, to: Option<u64>) -> Result<Changed, Error> {
        let from = match to {
            Some(_) => None,
            None => self.leader_now().await?,
        };
        let message = v1::ClusterTransferLeaderRequest::from(&TransferLeader { to, from });
        let answer = self.repeatable(|attempt| {
            let request = attempt.request(message);
            async move {
                stubs::cluster(attempt.channel)
                    .transfer_leader(request)
                    .await
            }
        });
        read(answer.await?)
    }

    /// Who leads, as of this call or later. A replica by itself may not have heard of an election yet; one that has answered a
    /// linearizable read has. So a status counts if it is not of an earlier term.
    async fn leader_now(&self) -> Result<Option<u64>, Error> {
        let deadline = deadline(self.timeout);
        loop {
            let proved = self.settings(ReadOptions::linearizable()).await?;
            let status = self.status().await?;
            let is_present = status.header.raft_term >= proved.header.raft_term;
            if is_present || Instant::now() >= deadline {
                return Ok(status.leader_id);
            }
        }
    }

    /// Has one replica, any one, write a checkpoint of its state to its disk.
    ///
    /// # Errors
    ///
    /// No replica has written one in time.
    pub async fn checkpoint(&self) -> Result<CheckpointWritten, Error> {
        let answer = self.read(|attempt| {
            let request = attempt.request(v1::ClusterCheckpointRequest {});
            async move { stubs::cluster(attempt.channel).checkpoint(request).await }
        });
        read::<v1::ClusterCheckpointResponse, _>(answer.await?)
    }

    /// Sends a request that changes nothing when it comes again, as often as needed.
    pub(super) async fn repeatable<T, F, Fut>(&self, send: F) -> Result<T, Error>
    where
        T: Headed,
        F: Fn(Try) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let call = self.call(deadline(self.timeout), Repeats::ExactlyOnce);
        call.run(send).await.map_err(|failure| failure.error)
    }
}
