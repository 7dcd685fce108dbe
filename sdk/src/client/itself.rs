//! Calls about one replica itself, which no other replica answers.

use std::future::Future;
use std::time::Duration;

use synod_proto::{SetLogFilter, v1};
use tokio::time::timeout;
use tonic::{Response, Status};

use super::{Client, stubs};
use crate::transport::{Try, unknown_endpoint};
use crate::values::read;
use crate::{Diagnostics, Error, LogFilterView};

impl Client {
    /// Asks the replica at one endpoint which events its process logs.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: the client was not given such an endpoint. Else that replica did not answer in time.
    pub async fn log_filter_of(&self, endpoint: &str) -> Result<LogFilterView, Error> {
        let answer = self.ask_one(endpoint, |attempt| {
            let request = attempt.request(v1::ClusterGetLogFilterRequest {});
            async move {
                stubs::cluster(attempt.channel)
                    .get_log_filter(request)
                    .await
            }
        });
        read::<v1::ClusterGetLogFilterResponse, _>(answer.await?)
    }

    /// Has the process of the replica at one endpoint log what another filter lets through, as in
    /// `synod_server=debug,info`, until the time has passed. `None`: what the process was configured with, from now on.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: it is no filter, the time is out of bounds, or the client was not given such an endpoint. Else that
    /// replica did not answer in time: it may have done so all the same, and doing it again does no harm.
    pub async fn set_log_filter_of(
        &self,
        endpoint: &str,
        other: Option<(String, Duration)>,
    ) -> Result<LogFilterView, Error> {
        let message = other.map(|(filter, lasts)| {
            v1::ClusterSetLogFilterRequest::from(&SetLogFilter {
                filter: Some(filter),
                lasts,
            })
        });
        let answer = self.ask_one(endpoint, |attempt| {
            let request = attempt.request(message.unwrap_or_default());
            async move {
                stubs::cluster(attempt.channel)
                    .set_log_filter(request)
                    .await
            }
        });
        read::<v1::ClusterSetLogFilterResponse, _>(answer.await?)
    }

    /// Asks the replica at one endpoint what it knows of itself: its configuration without secrets, its metrics and its
    /// readiness.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: the client was not given such an endpoint. Else that replica did not answer in time.
    pub async fn diagnostics_of(&self, endpoint: &str) -> Result<Diagnostics, Error> {
        let answer = self.ask_one(endpoint, |attempt| {
            let request = attempt.request(v1::ClusterGetDiagnosticsRequest {});
            async move {
                stubs::cluster(attempt.channel)
                    .get_diagnostics(request)
                    .await
            }
        });
        read::<v1::ClusterGetDiagnosticsResponse, _>(answer.await?)
    }

    /// Calls the replica at one endpoint once.
    pub(super) async fn ask_one<T, Fut>(
        &self,
        endpoint: &str,
        send: impl FnOnce(Try) -> Fut,
    ) -> Result<T, Error>
    where
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let replicas = self.replicas();
        let place = replicas
            .find(endpoint)
            .ok_or_else(|| unknown_endpoint(endpoint))?;
        let asking = send(Try {
            channel: replicas.channel(place),
            remaining: self.timeout,
        });
        match timeout(self.timeout, asking).await {
            Ok(Ok(answer)) => Ok(answer.into_inner()),
            Ok(Err(status)) => Err(Error::of_read(&status).context(endpoint)),
            Err(_) => Err(Error::unanswered_read(self.timeout).context(endpoint)),
        }
    }
}
