//! Limits the number of requests in progress by class, so that a flood of one class cannot keep out the others.

use std::sync::Arc;

use prometheus_client::metrics::gauge::Gauge;
use synod_model::{ErrorKind, Refusal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::methods::Class;
use crate::limits::{
    ACQUIRES_MAX, BACKUPS_MAX, PIPELINES_MAX, RENEWAL_REQUESTS_MAX, RENEWAL_STREAMS_MAX,
    REQUESTS_MAX, SIDE_CALLS_MAX, SIDE_STREAMS_MAX, WATCH_STREAMS_MAX,
};
use crate::metrics::RpcMetrics;

/// The places for requests of each class.
#[derive(Debug)]
pub(super) struct Admission {
    classes: [Places; Class::ALL.len()],
}

#[derive(Debug)]
struct Places {
    free: Arc<Semaphore>,
    in_flight: Gauge,
    max: usize,
}

/// A request's place, held until it is answered. A stream holds it until it ends.
#[derive(Debug)]
pub(super) struct AdmissionSlot {
    _permit: OwnedSemaphorePermit,
    in_flight: Gauge,
}

impl Admission {
    pub(super) fn new(metrics: &RpcMetrics) -> Self {
        let classes = Class::ALL.map(|class| {
            let max = match class {
                Class::Ordinary => REQUESTS_MAX,
                Class::Renewal => RENEWAL_REQUESTS_MAX,
                Class::Acquire => ACQUIRES_MAX,
                Class::RenewalStream => RENEWAL_STREAMS_MAX,
                Class::Watch => WATCH_STREAMS_MAX,
                Class::Pipeline => PIPELINES_MAX,
                Class::Backup => BACKUPS_MAX,
                Class::Side => SIDE_CALLS_MAX,
                Class::SideStream => SIDE_STREAMS_MAX,
            };
            Places {
                free: Arc::new(Semaphore::new(max)),
                in_flight: metrics.in_flight(class.name()),
                max,
            }
        });
        Self { classes }
    }

    /// A place for a request of this class.
    ///
    /// # Errors
    ///
    /// `OVERLOADED` if no place is free.
    pub(super) fn admit(&self, class: Class) -> Result<AdmissionSlot, Refusal> {
        let places = &self.classes[class as usize];
        let permit = Arc::clone(&places.free).try_acquire_owned().map_err(|_| {
            let message = format!(
                "this replica is answering {} {} calls already: try again later, or on another replica",
                places.max,
                class.name()
            );
            Refusal::new(ErrorKind::Overloaded, message)
        })?;
        places.in_flight.inc();
        Ok(AdmissionSlot {
            _permit: permit,
            in_flight: places.in_flight.clone(),
        })
    }
}

impl Drop for AdmissionSlot {
    fn drop(&mut self) {
        self.in_flight.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn a_class_that_is_full_refuses_and_the_others_do_not() {
        let metrics = Metrics::new(|| 0);
        let admission = Admission::new(&metrics.rpc);
        let mut places: Vec<AdmissionSlot> = (0..REQUESTS_MAX)
            .map(|_| admission.admit(Class::Ordinary).unwrap())
            .collect();
        assert_eq!(
            admission.admit(Class::Ordinary).unwrap_err().kind,
            ErrorKind::Overloaded
        );
        assert!(admission.admit(Class::Renewal).is_ok());
        places.pop();
        assert!(admission.admit(Class::Ordinary).is_ok());
    }
}
