//! `synod policy`: what a policy grants, without a cluster.

use std::fmt::Write as _;
use std::io::Read as _;

use synod_client::{ErrorKind, Violation, Violations};
use synod_model::Identity;
use synod_policy::{Caller, Denial, HISTORIES, Item, Policy, Right, Rights, Spot};
use synod_server::access::right_of;

use crate::args::{PolicyCommand, PolicyTestArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// What the services of this protocol are called before their names.
const PACKAGE: &str = "synod.v1.";

/// # Errors
///
/// A policy that cannot be used, or a call that it refuses.
pub(crate) fn run(command: &PolicyCommand) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::Test(args) => test(args),
    }
}

fn test(args: &PolicyTestArgs) -> Result<Exit, Failure> {
    let policy = read(args)?;
    let Some(identity) = &args.identity else {
        output::print(&format!("it can be used: {} grants\n", policy.grants.len()))?;
        return Ok(Exit::Ok);
    };
    let identity = Identity::parse(identity).map_err(|fault| invalid(fault, "--identity"))?;
    let rights = policy.rights(&Caller {
        identity,
        pod: args.pod.clone(),
        groups: args.group.clone(),
    });
    let Some(method) = &args.method else {
        output::print(&granted(&rights))?;
        return Ok(Exit::Ok);
    };
    let right = needed(method)?;
    decide(&rights, right, &items(args, method)).map_err(|denial| {
        let advice = "change the policy, or call as somebody else";
        Failure::of(ErrorKind::PermissionDenied, denial.to_string()).with_advice(advice)
    })?;
    output::print("it may\n")?;
    Ok(Exit::Ok)
}

fn read(args: &PolicyTestArgs) -> Result<Policy, Failure> {
    let mut text = String::new();
    let is_stdin = args.file.as_os_str() == "-";
    let read = match is_stdin {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(&args.file).map(|read| text = read),
    };
    let place = args.file.display();
    read.map_err(|error| {
        let message = format!("the policy {place} cannot be read: {error}");
        Failure::local(message, "check the path and who may read it")
    })?;
    Policy::parse(&text).map_err(|fault| {
        let message = format!("the policy {place} cannot be used: {fault}");
        Failure::of(ErrorKind::InvalidArgument, message)
    })
}

/// The grants to a caller, one line each.
fn granted(rights: &Rights) -> String {
    let mut told = String::new();
    for (grant, member) in rights.grants() {
        // Writing to a string does not fail.
        let _ = write!(told, "line {}: role {}", grant.line, grant.role);
        let _ = match member {
            Some(id) => write!(told, ", as member {id}"),
            None => Ok(()),
        };
        let narrowed = if grant.is_wide() {
            "\n"
        } else {
            ", narrowed\n"
        };
        told.push_str(narrowed);
    }
    if told.is_empty() {
        told.push_str("nothing is granted to it\n");
    }
    told
}

/// What a method needs.
fn needed(method: &str) -> Result<Right, Failure> {
    let path = format!(
        "{PACKAGE}{}",
        method.strip_prefix(PACKAGE).unwrap_or(method)
    );
    right_of(&path).ok_or_else(|| {
        let rule = "must be a service and its method, as in Objects/Update";
        invalid(Violation::invalid(method, rule), "--method")
    })
}

/// What the call names.
fn items<'a>(args: &'a PolicyTestArgs, method: &str) -> Vec<Item<'a>> {
    let text = |given: &'a Option<String>| given.as_deref().unwrap_or_default();
    let member = args.member.as_deref().map(Item::Member);
    let holder = args.holder.as_deref().map(Item::Holder);
    let place = match method
        .strip_prefix(PACKAGE)
        .unwrap_or(method)
        .split('/')
        .next()
    {
        Some("Leases") => {
            let (namespace, name) = text(&args.lease).split_once('/').unwrap_or_default();
            Some(Item::Leases(Spot {
                collection: "",
                namespace: if namespace.is_empty() {
                    text(&args.namespace)
                } else {
                    namespace
                },
                name,
            }))
        }
        Some("Objects" | "Watch") => Some(Item::Objects(Spot {
            collection: text(&args.collection),
            namespace: text(&args.namespace),
            name: "",
        })),
        Some("ControllerRevisions") => Some(Item::Objects(Spot {
            collection: HISTORIES,
            namespace: text(&args.namespace),
            name: "",
        })),
        _ => args.collection.as_deref().map(Item::Collection),
    };
    [member, holder, place].into_iter().flatten().collect()
}

fn decide(rights: &Rights, right: Right, items: &[Item<'_>]) -> Result<(), Denial> {
    rights.allow(right)?;
    items
        .iter()
        .try_for_each(|item| rights.allow_item(right, item))
}

fn invalid(fault: Violation, flag: &str) -> Failure {
    let mut faults = Violations::new();
    faults.push(fault.at(flag));
    Failure::invalid("the question cannot be answered", faults)
}
