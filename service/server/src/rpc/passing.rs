//! A call that comes in another way than as a request of its own: in a pipeline, or by another protocol of this replica.

use std::sync::Arc;

use bytes::Bytes;
use synod_model::Refusal;
use synod_proto::status::to_status;
use tokio::time::Instant;
use tonic::{Code, Status};

use super::admission::AdmissionSlot;
use super::answers::room;
use super::bodies::Held;
use super::calls::Encoded;
use super::gate::GateParts;
use super::handlers::Known;
use super::methods::Class;
use super::{spans, watch};
use crate::access::Standing;
use crate::handle::Asking;
use crate::seams::Caller;
use crate::watch::Cursor;

/// A call on its way through the gate.
pub(super) struct Passing {
    gate: Arc<GateParts>,
    known: &'static Known,
    asking: Asking,
    message: Bytes,
    caller: Caller,
    /// What the caller may do in place of what the policy says.
    standing: Option<Standing>,
    began: Instant,
}

/// A watch that was opened, with its place among all watches.
pub(super) struct Opened {
    pub(super) cursor: Cursor,
    pub(super) place: AdmissionSlot,
}

impl Passing {
    /// A call that has begun.
    pub(super) fn begin(
        gate: &Arc<GateParts>,
        known: &'static Known,
        asking: Asking,
        caller: &Caller,
        message: Bytes,
        began: Instant,
    ) -> Self {
        gate.metrics.started(known.number);
        Self {
            gate: Arc::clone(gate),
            known,
            asking,
            message,
            caller: caller.clone(),
            standing: None,
            began,
        }
    }

    /// The call of somebody who may do this, whatever the policy says.
    pub(super) fn standing_as(self, standing: Standing) -> Self {
        Self {
            standing: Some(standing),
            ..self
        }
    }

    /// Carries out a call that has one answer.
    pub(super) async fn answered(self) -> Result<Encoded, Status> {
        let (gate, known, began) = (Arc::clone(&self.gate), self.known, self.began);
        let span = self.asking.span.clone();
        let answer = self.carried().await;
        let code = answer.as_ref().map_or_else(Status::code, |_| Code::Ok);
        gate.metrics.handled(known.number, code, began.elapsed());
        spans::answered(&span, code);
        answer
    }

    async fn carried(mut self) -> Result<Encoded, Status> {
        let handler = self.known.handler.ok_or_else(no_such_call)?;
        let (_place, _held) = self.enter().await.map_err(to_status)?;
        handler(self.gate.handle.clone(), self.asking, self.message).await
    }

    /// Opens a watch.
    pub(super) async fn open(mut self) -> Result<Opened, Status> {
        let opened = async {
            let (place, _held) = self.enter().await.map_err(to_status)?;
            let cursor = watch::cursor(&self.gate.handle, &self.asking, self.message.clone());
            let cursor = cursor.await?;
            Ok(Opened { cursor, place })
        };
        let opened = opened.await;
        let code = opened
            .as_ref()
            .map_or_else(|status: &Status| status.code(), |_| Code::Ok);
        let took = self.began.elapsed();
        self.gate.metrics.handled(self.known.number, code, took);
        spans::answered(&self.asking.span, code);
        opened
    }

    /// Takes the place of a call and room for its bytes, waits until its answer has room, and finds out who calls.
    async fn enter(&mut self) -> Result<(AdmissionSlot, Option<Held>), Refusal> {
        let method = self.known.method;
        let class = match method.class {
            // One renewal is one call here.
            Class::RenewalStream => Class::Renewal,
            class => class,
        };
        let place = self.gate.admission.admit(class)?;
        let bytes_max = method.message_bytes_max();
        let held = self
            .gate
            .bodies
            .hold(class, bytes_max, self.message.len())?;
        room(self.asking.line.as_deref(), class, self.asking.deadline).await?;
        // What the caller may do counts now, however long its answer had no room.
        let Self {
            gate,
            asking,
            known,
            caller,
            standing,
            ..
        } = self;
        match standing.take() {
            Some(standing) => asking.standing = standing,
            None => gate.stand(asking, known, caller)?,
        }
        Ok((place, held))
    }
}

fn no_such_call() -> Status {
    Status::unimplemented("there is no such method, or it cannot be called in a pipeline")
}
