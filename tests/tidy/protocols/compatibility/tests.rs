use super::super::sample;
use super::*;
use crate::finding::lines;

const RELEASED: &str = "// A thing. Since 0.1.\n\
    message Thing {\n\
    \x20 reserved 10 to 19;\n\
    \x20 reserved \"gone\";\n\
    \x20 string name = 1;\n\
    \x20 optional uint64 size = 2;\n\
    \x20 map<string, uint32> labels = 3;\n\
    \x20 oneof kind { string round = 4; string square = 5; }\n\
    \x20 Colour colour = 6;\n\
    }\n\
    // A colour. Since 0.1.\n\
    enum Colour { COLOUR_UNSPECIFIED = 0; COLOUR_RED = 1; COLOUR_BLUE = 2; }\n\
    // Things. Since 0.1.\n\
    service Things { rpc Get(Thing) returns (stream Thing); }\n";

/// The breaks after `from` is replaced by `to` in the released protocol of a package.
fn change(folder: &str, from: &str, to: &str) -> Vec<String> {
    assert!(RELEASED.contains(from), "the sample has no `{from}`");
    let name = format!("{folder}/a.proto");
    broken(
        &sample(&name, RELEASED),
        &sample(&name, &RELEASED.replace(from, to)),
    )
}

fn public(from: &str, to: &str) -> Vec<String> {
    change("synod/v1", from, to)
}

fn stored(from: &str, to: &str) -> Vec<String> {
    change("synod/storage/v1", from, to)
}

#[test]
fn what_only_adds_breaks_nothing() {
    let none: [&str; 0] = [];
    assert_eq!(
        public("string name = 1;", "string name = 1; string more = 7;"),
        none
    );
    assert_eq!(
        public("COLOUR_RED = 1;", "COLOUR_RED = 1; COLOUR_GREEN = 3;"),
        none
    );
    assert_eq!(public("reserved 10 to 19;", "reserved 10 to 29;"), none);
    assert_eq!(public("// A thing. ", "// Another word for it. "), none);
}

#[test]
fn another_type_breaks_with_the_field_named() {
    assert_eq!(
        public("optional uint64 size", "optional uint32 size"),
        ["field `synod.v1.Thing.size` = 2 was `optional uint64` and is `optional uint32`"]
    );
    assert_eq!(
        stored("optional uint64 size", "uint64 size"),
        ["field `synod.storage.v1.Thing.size` = 2 was `optional uint64` and is `uint64`"]
    );
    assert_eq!(
        stored("string name", "repeated string name"),
        ["field `synod.storage.v1.Thing.name` = 1 was `string` and is `repeated string`"]
    );
    assert_eq!(
        stored("map<string, uint32>", "map<string, uint64>"),
        [
            "field `synod.storage.v1.Thing.labels` = 3 was `map<string, uint32>` and is `map<string, uint64>`"
        ]
    );
}

#[test]
fn a_field_leaves_its_number_and_its_public_name_behind() {
    assert_eq!(
        stored("string name = 1;", ""),
        ["field `synod.storage.v1.Thing.name` = 1 is gone and its number is not reserved"]
    );
    assert_eq!(
        public("string name = 1;", "reserved 1;"),
        ["field `synod.v1.Thing.name` = 1 is gone and its name is not reserved"]
    );
    assert_eq!(stored("string name = 1;", "reserved 1;"), [""; 0]);
    assert_eq!(
        public("string name = 1;", "reserved 1; reserved \"name\";"),
        [""; 0]
    );
}

#[test]
fn a_new_name_breaks_only_what_is_public() {
    assert_eq!(
        public("string name", "string title"),
        ["field `synod.v1.Thing.name` = 1 is now called `title` (`title`)"]
    );
    assert_eq!(
        public("string name = 1", "string name = 1 [json_name = \"Name\"]"),
        ["field `synod.v1.Thing.name` = 1 is now called `name` (`Name`)"]
    );
    assert_eq!(
        public("COLOUR_RED", "COLOUR_PINK"),
        ["enum value `synod.v1.Colour.COLOUR_RED` = 1 is now called `COLOUR_PINK`"]
    );
    assert_eq!(stored("string name", "string title"), [""; 0]);
    assert_eq!(stored("> labels", "> tags"), [""; 0]);
    assert_eq!(stored("COLOUR_RED", "COLOUR_PINK"), [""; 0]);
}

#[test]
fn a_oneof_keeps_its_fields_and_takes_no_others() {
    assert_eq!(
        stored(
            "string name = 1;\n  optional uint64 size = 2;",
            "optional uint64 size = 2; oneof n { string name = 1; }"
        ),
        ["field `synod.storage.v1.Thing.name` = 1 moved into or out of a `oneof`"]
    );
    assert_eq!(
        public("string square = 5; }", "} string square = 5;"),
        ["field `synod.v1.Thing.square` = 5 moved into or out of a `oneof`"]
    );
    assert_eq!(
        public(
            "string square = 5; }",
            "} oneof other { string square = 5; }"
        ),
        ["field `synod.v1.Thing.square` = 5 moved into or out of a `oneof`"]
    );
}

#[test]
fn an_enum_value_leaves_its_number_behind() {
    assert_eq!(
        stored("COLOUR_BLUE = 2;", ""),
        [
            "enum value `synod.storage.v1.Colour.COLOUR_BLUE` = 2 is gone and its number is not reserved"
        ]
    );
    assert_eq!(stored("COLOUR_BLUE = 2;", "reserved 2;"), [""; 0]);
}

#[test]
fn what_is_reserved_stays_reserved() {
    assert_eq!(
        stored("reserved 10 to 19;", "reserved 10 to 18;"),
        ["message `synod.storage.v1.Thing` no longer reserves 10 to 19"]
    );
    assert_eq!(
        public("reserved \"gone\";", ""),
        ["message `synod.v1.Thing` no longer reserves `gone`"]
    );
    assert_eq!(stored("reserved \"gone\";", ""), [""; 0]);
}

#[test]
fn an_rpc_keeps_its_signature() {
    assert_eq!(
        public("returns (stream Thing)", "returns (Thing)"),
        [
            "rpc `synod.v1.Things.Get` was `(synod.v1.Thing) returns (stream synod.v1.Thing)` \
          and is `(synod.v1.Thing) returns (synod.v1.Thing)`"
        ]
    );
    assert_eq!(
        public("rpc Get(Thing) returns (stream Thing);", ""),
        ["rpc `synod.v1.Things.Get` is gone"]
    );
}

#[test]
fn whole_types_do_not_vanish() {
    let old = sample("synod/v1/a.proto", RELEASED);
    let new = sample("synod/v1/a.proto", "");
    assert_eq!(
        broken(&old, &new),
        [
            "message `synod.v1.Thing` is gone",
            "enum `synod.v1.Colour` is gone",
            "rpc `synod.v1.Things.Get` is gone",
        ]
    );
}

#[test]
fn what_is_new_says_so() {
    let old = sample("synod/v1/a.proto", RELEASED);
    let body = RELEASED.replace(
        "string name = 1;",
        "string name = 1;\n// Weight. Since 0.2.\nuint32 weight = 7;\n// Depth.\nuint32 depth = 8;",
    );
    let new = sample("synod/v1/a.proto", &body);
    assert_eq!(
        lines(&undated(&old, &new, Version::parse("0.2").unwrap())),
        "proto/proto/synod/v1/a.proto:11: field `synod.v1.Thing.depth` is new: say \"Since 0.2.\""
    );
}
