//! Every element of a protocol has a comment, and every public one says since which version it exists.
//!
//! A message, enum or service says "Since 0.1." for all of its parts; a part that came later has its own.

use super::PUBLIC;
use super::elements::{Element, Kind, Version};
use crate::finding::Finding;

pub(super) fn faults(elements: &[Element], workspace: Version) -> Vec<Finding> {
    elements
        .iter()
        .filter_map(|element| fault(elements, element, workspace))
        .collect()
}

fn fault(elements: &[Element], element: &Element, workspace: Version) -> Option<Finding> {
    // A oneof needs no comment: its fields describe it.
    if element.comment.is_empty() && element.kind != Kind::Oneof {
        return Some(element.finding("has no comment"));
    }
    if element.package != PUBLIC {
        return None;
    }
    let parent = element.parent.map(|parent| &elements[parent]);
    let inherited = parent.and_then(|parent| since(elements, parent));
    match (element.since(), inherited) {
        (None, None) => Some(element.finding("does not say since when: \"Since 0.1.\"")),
        (Some(own), _) if own > workspace => {
            Some(element.finding(&format!("is of {own}, and this is {workspace}")))
        }
        (Some(own), Some(inherited)) if own < inherited => Some(element.finding(&format!(
            "is of {own}, and what it is part of of {inherited}"
        ))),
        _ => None,
    }
}

/// The version that an element came with: from its own comment, or else from that of its parent.
pub(super) fn since(elements: &[Element], element: &Element) -> Option<Version> {
    let inherited = || since(elements, &elements[element.parent?]);
    element.since().or_else(inherited)
}

#[cfg(test)]
fn judge(name: &str, body: &str) -> String {
    let elements = super::elements::of(&super::sample(name, body));
    crate::finding::lines(&faults(&elements, Version::parse("0.2").unwrap()))
}

#[test]
fn a_part_without_a_comment_or_a_version_is_found() {
    let body = "// A message. Since 0.1.\n\
                message A {\n\
                \x20 // A field.\n\
                \x20 string b = 1;\n\
                \x20 string c = 2;\n\
                \x20 // Later. Since 0.2.\n\
                \x20 string d = 3;\n\
                \x20 // Too early. Since 0.0.\n\
                \x20 string e = 4;\n\
                \x20 // Too late. Since 0.3.\n\
                \x20 string f = 5;\n\
                }\n\
                // Timeless.\n\
                message G {}\n";
    assert_eq!(
        judge("synod/v1/a.proto", body),
        "proto/proto/synod/v1/a.proto:7: field `synod.v1.A.c` has no comment\n\
         proto/proto/synod/v1/a.proto:11: field `synod.v1.A.e` is of 0.0, \
         and what it is part of of 0.1\n\
         proto/proto/synod/v1/a.proto:13: field `synod.v1.A.f` is of 0.3, and this is 0.2\n\
         proto/proto/synod/v1/a.proto:16: message `synod.v1.G` does not say since when: \"Since 0.1.\""
    );
    assert_eq!(
        judge("synod/peer/v1/a.proto", body),
        "proto/proto/synod/peer/v1/a.proto:7: field `synod.peer.v1.A.c` has no comment"
    );
}
