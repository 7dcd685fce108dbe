//! The table from the path of a method to the function that carries out its calls.

use std::collections::HashMap;
use std::sync::LazyLock;

use synod_policy::Right;

use super::calls::{Calls, Handler};
use super::methods::{Class, METHODS, Method, UNKNOWN};
use super::{
    cluster, collections, controller_revisions, lease_renewals, leases, membership, migrations,
    objects, renewals, rosters, sessions, storage_versions,
};
use crate::access::{Called, right_of};

/// A method as a call finds it.
pub(super) struct Known {
    pub(super) method: Method,
    /// The place of the method in the table; that after the last for an unknown one.
    pub(super) number: usize,
    /// Carries out one call; `None` for a method that is only a stream.
    pub(super) handler: Option<Handler>,
    /// Its path, without the leading slash.
    path: String,
    /// What a caller must be granted. `None` for a method of another protocol, which everybody may call.
    right: Option<Right>,
}

/// It has any right, and changes nothing.
const OUTCOME: &str = "synod.v1.Sessions/GetOutcome";

/// The functions of each service that carry out its calls.
const CALLS: &[(&str, Calls)] = &[
    ("synod.v1.Cluster", cluster::CALLS),
    ("synod.v1.Collections", collections::CALLS),
    ("synod.v1.ControllerRevisions", controller_revisions::CALLS),
    ("synod.v1.Leases", leases::CALLS),
    ("synod.v1.Leases", lease_renewals::CALLS),
    ("synod.v1.Membership", membership::CALLS),
    ("synod.v1.Membership", renewals::CALLS),
    ("synod.v1.Migrations", migrations::CALLS),
    ("synod.v1.Objects", objects::CALLS),
    ("synod.v1.Rosters", rosters::CALLS),
    ("synod.v1.Sessions", sessions::CALLS),
    ("synod.v1.StorageVersions", storage_versions::CALLS),
];

impl Known {
    /// What access and the audit log go by.
    pub(super) fn called(&'static self) -> Called {
        let right = self.right.unwrap_or(Right::Any);
        let is_carried_out = matches!(
            self.method.class,
            Class::Ordinary | Class::Renewal | Class::Acquire | Class::Backup
        );
        Called {
            path: &self.path,
            right,
            is_audited: is_carried_out && right != Right::Read && self.path != OUTCOME,
        }
    }

    /// Whether everybody may call it.
    pub(super) fn is_open(&self) -> bool {
        self.right.is_none()
    }

    /// The method that a path names: that of a request, or without the leading slash.
    pub(super) fn of_path(path: &str) -> &'static Self {
        static TABLE: LazyLock<Vec<Known>> = LazyLock::new(|| {
            let all = METHODS.iter().chain([&UNKNOWN]).enumerate();
            all.map(|(number, method)| Known {
                method: *method,
                number,
                handler: handler(method),
                right: right_of(&path_of(method)),
                path: path_of(method),
            })
            .collect()
        });
        static BY_PATH: LazyLock<HashMap<String, &'static Known>> = LazyLock::new(|| {
            let known = TABLE.iter().take(METHODS.len());
            known.map(|it| (it.path.clone(), it)).collect()
        });
        let path = path.strip_prefix('/').unwrap_or(path);
        BY_PATH
            .get(path)
            .copied()
            .unwrap_or_else(|| &TABLE[METHODS.len()])
    }
}

fn path_of(method: &Method) -> String {
    format!("{}/{}", method.service, method.name)
}

/// The function of a method.
fn handler(method: &Method) -> Option<Handler> {
    let name = snake(method.name);
    let mut calls = CALLS
        .iter()
        .filter(|(service, _)| *service == method.service)
        .flat_map(|(_, calls)| *calls);
    calls
        .find(|(call, _)| *call == name)
        .map(|(_, handler)| *handler)
}

/// The name of the function for a method: `GetOutcome` is `get_outcome`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_that_is_no_stream_has_its_function_and_no_function_is_without_a_method() {
        for method in METHODS.iter().filter(|it| it.service.starts_with("synod.")) {
            let is_renewal = method.class == Class::RenewalStream;
            assert_eq!(
                handler(method).is_some(),
                !method.class.is_stream() || is_renewal,
                "{}/{}",
                method.service,
                method.name
            );
        }
        for method in METHODS {
            let path = path_of(method);
            let is_ours = method.service.starts_with("synod.");
            assert_eq!(Known::of_path(&path).is_open(), !is_ours, "{path}");
        }
        let handlers = METHODS.iter().filter_map(handler).count();
        let functions: usize = CALLS.iter().map(|(_, calls)| calls.len()).sum();
        assert_eq!(handlers, functions);
    }

    #[test]
    fn a_path_finds_its_method_and_any_other_finds_none() {
        let renew = Known::of_path("/synod.v1.Membership/Renew").method;
        assert_eq!((renew.name, renew.class), ("Renew", Class::RenewalStream));
        assert_eq!(Known::of_path("synod.v1.Membership/Renew").method, renew);
        for path in [
            "",
            "/",
            "/synod.v1.Membership",
            "/synod.v1.Membership/Renew/x",
            "//synod.v1.Membership/Renew",
            "/x/Renew",
        ] {
            assert_eq!(Known::of_path(path).method, UNKNOWN, "{path}");
        }
    }
}
