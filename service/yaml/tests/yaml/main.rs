//! Tests of the reader and the writer of YAML.

mod bounds;
mod corpus;
