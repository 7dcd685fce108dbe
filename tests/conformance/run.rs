//! Runs a case, step by step.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use synod_bound::{Bound, Failure};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::document::{Action, Case, Expected, Step};
use crate::handles::{Coming, Handle};
use crate::matching::differences;
use crate::objects::Stage;
use crate::replicas::Replicas;
use crate::values::{Names, number, part};

/// The time limit of any step.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// How often a step is repeated while it waits for something that is not announced.
const BEAT: Duration = Duration::from_millis(20);

/// The result of a step: an answer and the handle that it opened, or an error.
pub(crate) type Outcome = Result<Done, Value>;

/// The result of a step that did not fail.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) answer: Value,
    pub(crate) opened: Option<Handle>,
}

impl Done {
    /// An answer without a handle.
    pub(crate) fn answer(answer: Value) -> Self {
        Self {
            answer,
            opened: None,
        }
    }
}

/// A failure in the form that cases match.
pub(crate) fn refused(failure: &Failure) -> Value {
    serde_json::from_str(&failure.to_json()).expect("a failure is written as JSON")
}

/// A running case.
pub(crate) struct Run<'a> {
    client: Arc<Bound>,
    names: Names,
    handles: BTreeMap<String, Handle>,
    behind: BTreeMap<String, Behind>,
    /// The case's own replicas, if it has such.
    replicas: Option<&'a mut Replicas>,
    /// The replica that answered last.
    connected: Option<u64>,
}

/// A step that runs in the background.
struct Behind {
    running: JoinHandle<Outcome>,
    /// The name of the handle that it opens.
    opens: Option<String>,
}

impl<'a> Run<'a> {
    /// Runs a case against the replicas at these endpoints.
    ///
    /// # Errors
    ///
    /// Which step had another result than expected.
    pub(crate) async fn of(
        case: &Case,
        endpoints: Vec<String>,
        replicas: Option<&'a mut Replicas>,
    ) -> Result<(), String> {
        let options = json!({"endpoints": endpoints}).to_string();
        let client = Bound::connect(&options).await;
        let mut names = Names::default();
        names.save("case", Value::String(unique_label()));
        let mut run = Self {
            client: Arc::new(client.map_err(|failure| failure.to_string())?),
            names,
            handles: BTreeMap::new(),
            behind: BTreeMap::new(),
            replicas,
            connected: None,
        };
        run.steps(&case.steps).await?;
        match run.behind.keys().next() {
            Some(name) => Err(format!("nobody finished `{name}`")),
            None => Ok(()),
        }
    }

    /// Runs steps one after the other. Boxed, since steps can contain steps.
    pub(crate) fn steps<'b>(
        &'b mut self,
        steps: &'b [Step],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + 'b>> {
        Box::pin(async move {
            for (number, step) in (1..).zip(steps) {
                let done = self.step(step).await;
                done.map_err(|fault| format!("step {number}, {:?}:\n  {fault}", step.action))?;
            }
            Ok(())
        })
    }

    async fn step(&mut self, step: &Step) -> Result<(), String> {
        if let Action::Repeat { times, steps } = &step.action {
            for index in 0..*times {
                self.names.save("index", json!(index.to_string()));
                self.steps(steps).await?;
            }
            return Ok(());
        }
        if let Action::Do {
            function,
            of,
            with,
            meanwhile,
            ..
        } = &step.action
            && function == "guaranteed_update"
        {
            let outcome = self.update(of, with, meanwhile).await?;
            return self.settle(step, outcome);
        }
        if let Some(name) = &step.behind {
            let running = tokio::spawn(self.start(step)?);
            let opens = opens(&step.action).cloned();
            self.behind.insert(name.clone(), Behind { running, opens });
            return Ok(());
        }
        let deadline = Instant::now() + LIMIT;
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            let outcome = match timeout(LIMIT, self.act(step)).await {
                Ok(outcome) => outcome?,
                Err(_) => return Err(format!("nothing came within {LIMIT:?}")),
            };
            let is_settled = !step.until || self.faults(step, &outcome)?.is_empty();
            if is_settled || Instant::now() > deadline {
                return self.settle(step, outcome);
            }
        }
    }

    /// Runs a step, either here or through the future that [`start`](Self::start) makes, and returns its result.
    async fn act(&mut self, step: &Step) -> Result<Outcome, String> {
        match &step.action {
            Action::Finish { name } => {
                let behind = self.behind.remove(name);
                let behind = behind.ok_or_else(|| format!("nothing is done as `{name}`"))?;
                let outcome = behind.running.await.map_err(|error| error.to_string())?;
                Ok(self.keep(behind.opens.as_ref(), outcome))
            }
            Action::Kill(role) => {
                let connected = self.connected;
                let killed = self.alone()?.kill(*role, connected).await?;
                self.names.save("killed", json!(killed.to_string()));
                Ok(Ok(Done::answer(Value::Null)))
            }
            Action::Start => {
                self.alone()?.start_missing().await;
                Ok(Ok(Done::answer(Value::Null)))
            }
            Action::Restart => {
                let replicas = self.alone()?;
                replicas.kill_all().await;
                replicas.start_missing().await;
                Ok(Ok(Done::answer(Value::Null)))
            }
            Action::Close { name } => {
                let closed = self.handles.remove(name);
                closed.ok_or_else(|| format!("nothing is called `{name}`"))?;
                Ok(Ok(Done::answer(Value::Null)))
            }
            _ => {
                let outcome = self.start(step)?.await;
                Ok(self.keep(opens(&step.action), outcome))
            }
        }
    }

    /// The case's own replicas.
    fn alone(&mut self) -> Result<&mut Replicas, String> {
        let replicas = self.replicas.as_deref_mut();
        replicas.ok_or_else(|| "only a case with `cluster: own` may do that".to_owned())
    }

    /// A future that runs a step. It borrows nothing, so that it can run in the background.
    fn start(&self, step: &Step) -> Result<Coming, String> {
        let client = Arc::clone(&self.client);
        let time = step.timeout;
        Ok(match &step.action {
            Action::Call { method, request } => {
                let (method, request) = (method.clone(), self.names.fill(request)?);
                Box::pin(async move { call(&client, &method, &request, time).await })
            }
            Action::Pages {
                method,
                request,
                items,
            } => {
                let (method, items) = (method.clone(), items.clone());
                let request = self.names.fill(request)?;
                Box::pin(async move { pages(&client, &method, request, &items).await })
            }
            Action::Watch {
                options, is_list, ..
            } => {
                let (options, is_list) = (self.names.fill(options)?, *is_list);
                Box::pin(async move { Handle::watch(&client, options, is_list).await })
            }
            Action::Next { name } => {
                let wants_bookmark = match &step.expected {
                    Expected::Answer(answer) => answer.get("bookmark").is_some(),
                    Expected::Success | Expected::Error(_) => false,
                };
                self.handle(name)?.next(wants_bookmark)?
            }
            Action::Resume { name } => {
                let watch = self.handle(name)?.clone();
                Box::pin(async move { watch.resumed(&client).await })
            }
            Action::Open { handle, with, .. } => {
                let (handle, with) = (handle.clone(), self.names.fill(with)?);
                Box::pin(async move { Handle::open(&client, &handle, &with).await })
            }
            Action::Do {
                function, of, with, ..
            } => {
                let mut with = self.names.fill(with)?;
                // These two are names of handles.
                let fields = with.as_object_mut();
                let other = fields.and_then(|it| it.remove("lock").or_else(|| it.remove("permit")));
                let other = other.as_ref().and_then(Value::as_str);
                let other = other.map(|name| self.handle(name).cloned()).transpose()?;
                let (handle, function) = (self.handle(of)?.clone(), function.clone());
                Box::pin(async move { handle.call(&function, &with, other).await })
            }
            other => return Err(format!("{other:?} is not done so")),
        })
    }

    fn handle(&self, name: &str) -> Result<&Handle, String> {
        let handle = self.handles.get(name);
        handle.ok_or_else(|| format!("nothing is called `{name}`"))
    }

    /// Changes an object. The nested steps run when the change is first applied.
    async fn update(
        &mut self,
        of: &str,
        with: &Value,
        meanwhile: &[Step],
    ) -> Result<Outcome, String> {
        let objects = self.handle(of)?.objects().cloned();
        let objects = objects.ok_or_else(|| format!("`{of}` holds no objects"))?;
        let mut update = match objects.update(&self.names.fill(with)?) {
            Ok(update) => update,
            Err(failure) => return Ok(Err(failure)),
        };
        let mut steps = meanwhile;
        loop {
            match update.next().await {
                Ok(Stage::Change) => self.steps(std::mem::take(&mut steps)).await?,
                Ok(Stage::Done(answer)) => return Ok(Ok(Done::answer(answer))),
                Err(failure) => return Ok(Err(failure)),
            }
        }
    }

    /// Keeps the handle that was opened under its name.
    fn keep(&mut self, name: Option<&String>, mut outcome: Outcome) -> Outcome {
        if let Ok(done) = &mut outcome
            && let Some((name, opened)) = name.zip(done.opened.take())
        {
            self.handles.insert(name.clone(), opened);
        }
        outcome
    }

    /// The differences between the result and what the step expects.
    fn faults(&self, step: &Step, outcome: &Outcome) -> Result<Vec<String>, String> {
        let faults = match (&step.expected, outcome) {
            (Expected::Error(expected), Err(error)) => {
                differences(&self.names.fill(expected)?, Some(error))
            }
            (Expected::Answer(expected), Ok(done)) => {
                differences(&self.names.fill(expected)?, Some(&done.answer))
            }
            (Expected::Success, Ok(_)) => Vec::new(),
            (Expected::Error(_), Ok(done)) => vec![format!("no error came, but {}", done.answer)],
            (Expected::Success | Expected::Answer(_), Err(error)) => {
                vec![format!("it failed: {error}")]
            }
        };
        Ok(faults)
    }

    /// Checks the result, and saves the parts that the step names.
    fn settle(&mut self, step: &Step, outcome: Outcome) -> Result<(), String> {
        let faults = self.faults(step, &outcome)?;
        if !faults.is_empty() {
            return Err(faults.join("\n  "));
        }
        let came = match outcome {
            Ok(done) => done.answer,
            Err(error) => error,
        };
        let replica = part(&came, "header.replicaId").and_then(number);
        self.connected = replica.or(self.connected);
        for (name, path) in &step.saved {
            let value = part(&came, path);
            let value = value.ok_or_else(|| format!("there is no {path} in {came}"))?;
            self.names.save(name, value.clone());
        }
        Ok(())
    }
}

/// The name of the handle that a step opens.
fn opens(action: &Action) -> Option<&String> {
    match action {
        Action::Watch { name, .. } | Action::Resume { name } | Action::Open { name, .. } => {
            Some(name)
        }
        Action::Do { opens, .. } => opens.as_ref(),
        _ => None,
    }
}

async fn call(client: &Bound, method: &str, request: &Value, time: Option<Duration>) -> Outcome {
    let answer = client.call(method, &request.to_string(), time).await;
    let answer = answer.map_err(|failure| refused(&failure))?;
    Ok(Done::answer(
        serde_json::from_str(&answer).expect("an answer is JSON"),
    ))
}

/// Calls a listing RPC for all pages.
async fn pages(client: &Bound, method: &str, mut request: Value, items: &str) -> Outcome {
    let (mut all, mut revisions, mut pages) = (Vec::new(), Vec::new(), 0_u64);
    loop {
        let page = call(client, method, &request, None).await?.answer;
        pages += 1;
        if let Some(Value::Array(items)) = page.get(items) {
            all.extend(items.iter().cloned());
        }
        let revision = part(&page, "header.revision").cloned().unwrap_or_default();
        if !revisions.contains(&revision) {
            revisions.push(revision);
        }
        match page.get("continueToken").and_then(Value::as_str) {
            None | Some("") => break,
            Some(token) => request["continueToken"] = json!(token),
        }
    }
    Ok(Done::answer(
        json!({"items": all, "revisions": revisions, "pages": pages}),
    ))
}

/// A label that no other case has, not even one of another run: it contains this process's id.
fn unique_label() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    format!("c{process:x}-{number:x}")
}
