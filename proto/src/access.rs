//! What a caller must be granted for each method, and whom and what each request names: both follow from the options in
//! `access.proto`. A log of calls goes by it, too.

use crate::v1;

/// A request, or a message in one.
pub trait Names {
    /// Visits everything that the message names and that a grant may limit, in the messages in it, too.
    fn visit<'a>(&'a self, each: &mut dyn FnMut(Named<'a>));
}

/// An answer.
pub trait Revised {
    /// The revision at which it was given; `None` if it does not say so.
    fn revision(&self) -> Option<u64>;
}

/// Something that a request says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Named<'a> {
    /// The member as which the caller acts.
    Member(&'a str),
    /// The holder, the candidate or the worker as which the caller acts.
    Holder(&'a str),
    /// A resource.
    Resource(&'a v1::GroupResource),
    /// A migration, whose name says its resource.
    Migration(&'a str),
    /// The scope of a roster.
    Scope(&'a str),
    /// Objects.
    Objects(Spot<'a>),
    /// Histories of ControllerRevisions.
    Histories(Spot<'a>),
    /// Leases.
    Leases(Spot<'a>),
    /// The exactly-once key of the request.
    Request(&'a v1::RequestId),
    /// That the request is only tried.
    DryRun,
}

/// Where something is. What is empty or left out means all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spot<'a> {
    /// The resource.
    pub resource: Option<&'a v1::GroupResource>,
    /// The namespace.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

include!(concat!(env!("OUT_DIR"), "/access.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    fn named(request: &impl Names) -> Vec<String> {
        let mut all = Vec::new();
        request.visit(&mut |named| all.push(format!("{named:?}")));
        all
    }

    fn key(namespace: &str) -> v1::ObjectKey {
        v1::ObjectKey {
            namespace: namespace.to_owned(),
            ..v1::ObjectKey::default()
        }
    }

    #[test]
    fn what_stands_deep_in_a_transaction_is_visited() {
        use v1::{objects_compare::Compare, objects_operation::Operation};
        let request = v1::ObjectsTransactRequest {
            compares: vec![v1::ObjectsCompare {
                compare: Some(Compare::Existence(v1::CompareExistence {
                    key: Some(key("compared")),
                    exists: true,
                })),
            }],
            operations: vec![v1::ObjectsOperation {
                operation: Some(Operation::Delete(v1::DeleteOperation {
                    key: Some(key("deleted")),
                    ..v1::DeleteOperation::default()
                })),
            }],
            reads: vec![key("read")],
            fences: Some(v1::Fences {
                if_member: Some(v1::MemberEpoch {
                    member: "server-1".to_owned(),
                    ..v1::MemberEpoch::default()
                }),
                if_lease: None,
            }),
            ..v1::ObjectsTransactRequest::default()
        };
        let all = named(&request).join("\n");
        for part in ["compared", "deleted", "read", "Member(\"server-1\")"] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[test]
    fn a_key_that_is_left_out_means_everything() {
        let all = named(&v1::LeasesListCandidatesRequest::default());
        let everything = format!("{:?}", Named::Leases(Spot::default()));
        assert_eq!(all, [everything]);
    }

    #[test]
    fn a_read_of_a_member_names_nobody_as_whom_the_caller_acts() {
        let request = v1::MembershipGetRequest {
            id: "server-1".to_owned(),
            read: None,
        };
        assert_eq!(named(&request), [""; 0]);
    }

    // Guarantee: A-10, TM-09
    #[test]
    fn every_method_needs_something() {
        assert_eq!(RIGHTS.len(), 88);
        assert!(
            RIGHTS
                .iter()
                .all(|(_, right)| *right != v1::Right::Unspecified)
        );
        assert!(RIGHTS.contains(&("synod.v1.Membership/Join", v1::Right::TakePart)));
    }
}
