//! [`Task`]: a question of a migration worker to a store or codec that is written in another language.

use std::sync::{Mutex, PoisonError};

use data_encoding::BASE64;
use serde_json::{Value, json};
use synod_client::{
    Content, ContinueToken, RecodeError, StoreError, StorePage, Violation, Violations,
};
use tokio::sync::oneshot;

use crate::options::{Options, bytes, flag, list, message, millis, number, rule, text, used_up};
use crate::{Failure, Taken};

/// A question of a worker to its store or codec. The worker goes on when it is answered; a dropped task is an error.
#[derive(Debug)]
pub struct Task {
    ask: Ask,
    reply: Mutex<Option<Reply>>,
}

/// The kind of question, and its parameters.
#[derive(Debug)]
pub(crate) enum Ask {
    List {
        migration: Value,
        token: Option<String>,
    },
    Rewrite {
        migration: Value,
        object: Value,
        /// What the fence key has to hold, if the store is fenced.
        fence: Option<String>,
    },
    ReadFence {
        resource: Value,
    },
    WriteFence {
        resource: Value,
        present: Option<Vec<u8>>,
        fence: String,
    },
    Recode {
        object: Value,
        version: String,
    },
}

/// The sender of the answer to the worker.
#[derive(Debug)]
pub(crate) enum Reply {
    Page(oneshot::Sender<Result<StorePage<Value>, StoreError>>),
    Rewritten(oneshot::Sender<Result<(), StoreError>>),
    FenceRead(oneshot::Sender<Result<Option<Vec<u8>>, StoreError>>),
    FenceWritten(oneshot::Sender<Result<bool, StoreError>>),
    Recoded(oneshot::Sender<Result<Content, RecodeError>>),
}

impl Taken for Task {}

impl Task {
    pub(crate) fn new(ask: Ask, reply: Reply) -> Self {
        Self {
            ask,
            reply: Mutex::new(Some(reply)),
        }
    }

    /// The question, one of
    ///
    /// - `{"list": {"migration": Migration, "token": text}}`: return a page of objects, the first one without a token.
    ///   Leave out objects that need no rewrite, and use a key as the token
    ///   ([`Store::list_page`](synod_client::Store::list_page));
    /// - `{"rewrite": {"migration": Migration, "object": any}}`: write the object unchanged, in the target's encoding,
    ///   and only if no one has changed it since it was listed; with `"fence": text`, only if the fence key holds that;
    /// - `{"readFence": {"resource": GroupResource}}`: return the content of the resource's fence key;
    /// - `{"writeFence": {"resource": GroupResource, "present": base64, "fence": text}}`: write the fence key if it
    ///   holds `present`; without `present`, if there is no such key;
    /// - `{"recode": {"object": Object, "version": text}}`: return the object's content in this version.
    #[must_use]
    pub fn document(&self) -> String {
        let document = match &self.ask {
            Ask::List {
                migration,
                token: Some(token),
            } => json!({"list": {"migration": migration, "token": token}}),
            Ask::List {
                migration,
                token: None,
            } => json!({"list": {"migration": migration}}),
            Ask::Rewrite {
                migration,
                object,
                fence: None,
            } => json!({"rewrite": {"migration": migration, "object": object}}),
            Ask::Rewrite {
                migration,
                object,
                fence: Some(fence),
            } => json!({"rewrite": {"migration": migration, "object": object, "fence": fence}}),
            Ask::ReadFence { resource } => json!({"readFence": {"resource": resource}}),
            Ask::WriteFence {
                resource,
                present,
                fence,
            } => {
                let present = present.as_ref().map(|bytes| BASE64.encode(bytes));
                json!({"writeFence": {"resource": resource, "present": present, "fence": fence}})
            }
            Ask::Recode { object, version } => {
                json!({"recode": {"object": object, "version": version}})
            }
        };
        document.to_string()
    }

    /// Whether the worker still waits for the answer. It does not once its migration has ended for it, or it was closed:
    /// then what the store does for the task is to be stopped.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        let reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
        match &*reply {
            None => false,
            Some(Reply::Page(reply)) => !reply.is_closed(),
            Some(Reply::Rewritten(reply)) => !reply.is_closed(),
            Some(Reply::FenceRead(reply)) => !reply.is_closed(),
            Some(Reply::FenceWritten(reply)) => !reply.is_closed(),
            Some(Reply::Recoded(reply)) => !reply.is_closed(),
        }
    }

    /// Answers the question, by one of
    ///
    /// - `{"page": {"objects": [any], "next": text, "remaining": number}}`, the last two optional;
    /// - `{"rewritten": true}`;
    /// - `{"fence": base64}`, to `readFence`; `{"fence": null}` if there is no such key;
    /// - `{"written": boolean}`, to `writeFence`: false if the key does not hold `present`;
    /// - `{"content": ObjectContent}`;
    /// - `{"undecodable": text}` and `{"notEncodable": text}`, to `recode`, with the reason;
    /// - `{"error": {"kind": text}}`, to the others: `not_found`, `conflict`, `not_supported`, `forbidden`, `expired` (with
    ///   `token`, if the list goes on there), `busy` (with `retryAfterMs`), `undecodable` (with `key` and `why`), `not_ready`
    ///   (with `why`) or `refused` (with `why`).
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: it does not answer this question, or the task was answered already.
    pub fn answer(&self, answer: &str) -> Result<(), Failure> {
        let mut options = Options::parse(answer)?;
        let mut reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
        // Sending fails only if the worker was stopped, which no longer needs the answer.
        match &*reply {
            None => return Err(used_up("the task")),
            Some(Reply::Page(_)) => {
                let page = options.take("page", page).map(Ok);
                let error = options.take("error", store_error).map(Err);
                let said = answered(options, page.or(error))?;
                if let Some(Reply::Page(reply)) = reply.take() {
                    let _ = reply.send(said);
                }
            }
            Some(Reply::Rewritten(_)) => {
                let done = options.take("rewritten", done).map(Ok);
                let error = options.take("error", store_error).map(Err);
                let said = answered(options, done.or(error))?;
                if let Some(Reply::Rewritten(reply)) = reply.take() {
                    let _ = reply.send(said);
                }
            }
            Some(Reply::FenceRead(_)) => {
                let fence = options.given("fence", content).map(Ok);
                let error = options.take("error", store_error).map(Err);
                let said = answered(options, fence.or(error))?;
                if let Some(Reply::FenceRead(reply)) = reply.take() {
                    let _ = reply.send(said);
                }
            }
            Some(Reply::FenceWritten(_)) => {
                let written = options.take("written", flag).map(Ok);
                let error = options.take("error", store_error).map(Err);
                let said = answered(options, written.or(error))?;
                if let Some(Reply::FenceWritten(reply)) = reply.take() {
                    let _ = reply.send(said);
                }
            }
            Some(Reply::Recoded(_)) => {
                let content = options.take("content", message::<Content>).map(Ok);
                let decode = options.take("undecodable", text(own));
                let decode = decode.map(|why| Err(RecodeError::Decode(why.into())));
                let encode = options.take("notEncodable", text(own));
                let encode = encode.map(|why| Err(RecodeError::Encode(why.into())));
                let said = answered(options, content.or(decode).or(encode))?;
                if let Some(Reply::Recoded(reply)) = reply.take() {
                    let _ = reply.send(said);
                }
            }
        }
        Ok(())
    }
}

fn answered<T>(mut options: Options, said: Option<T>) -> Result<T, Failure> {
    if said.is_none() {
        options.complain(rule(
            "must answer this task: `page` or `error` to `list`, `rewritten` or `error` to `rewrite`, `fence` or \
             `error` to `readFence`, `written` or `error` to `writeFence`, `content`, `undecodable` or \
             `notEncodable` to `recode`",
        ));
    }
    options.end(said)
}

fn own(text: &str) -> Result<String, Violation> {
    Ok(text.to_owned())
}

fn done(value: &Value) -> Result<(), Violation> {
    match value {
        Value::Bool(true) => Ok(()),
        _ => Err(rule(
            "must be true; if the object was not rewritten, answer with `error`",
        )),
    }
}

/// The content of a key; `None` if there is no such key.
fn content(value: &Value) -> Result<Option<Vec<u8>>, Violation> {
    match value {
        Value::Null => Ok(None),
        value => bytes(value).map(Some),
    }
}

fn page(value: &Value) -> Result<StorePage<Value>, Violations> {
    let mut options = Options::of(value)?;
    let objects = options.need("objects", list(|object| Ok::<_, Violation>(object.clone())));
    let next = options.take("next", text(ContinueToken::parse));
    let remaining = options.take("remaining", number);
    let page = objects.map(|objects| StorePage {
        objects,
        next,
        remaining,
    });
    options.finish(page)
}

fn store_error(value: &Value) -> Result<StoreError, Violations> {
    let mut options = Options::of(value)?;
    let kind = options.need("kind", text(own)).unwrap_or_default();
    let error = match kind.as_str() {
        "not_found" => Some(StoreError::NotFound),
        "conflict" => Some(StoreError::Conflict),
        "not_supported" => Some(StoreError::NotSupported),
        "forbidden" => Some(StoreError::Forbidden),
        "expired" => Some(StoreError::Expired(
            options.take("token", text(ContinueToken::parse)),
        )),
        "busy" => Some(StoreError::Busy {
            retry_after: options.take("retryAfterMs", millis),
        }),
        "undecodable" => {
            let key = options.need("key", text(own));
            let why = options.need("why", text(own));
            key.zip(why)
                .map(|(key, why)| StoreError::Undecodable { key, why })
        }
        "not_ready" => options.need("why", text(own)).map(StoreError::NotReady),
        "refused" => options.need("why", text(own)).map(StoreError::Refused),
        other => {
            options.complain(Violation::invalid(other, "must be a kind of error").at("kind"));
            None
        }
    };
    options.finish(error)
}
