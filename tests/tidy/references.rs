//! Lists the paths that a Rust file names, resolved through its `use` lines.

use std::collections::BTreeMap;

use crate::source::Source;

/// A path of at least two segments, spelled out from its crate if a `use` line shortened it.
pub(crate) struct Reference {
    segments: Vec<String>,
    /// The position of its last segment in the source.
    pub(crate) position: usize,
}

impl Reference {
    /// The words of the path.
    pub(crate) fn segments(&self) -> &[String] {
        &self.segments
    }

    /// Whether it is `path` or something below it.
    pub(crate) fn is_within(&self, path: &str) -> bool {
        let mut segments = self.segments.iter();
        path.split("::")
            .all(|wanted| segments.next().is_some_and(|segment| segment == wanted))
    }

    /// Whether it is exactly `path`.
    pub(crate) fn is(&self, path: &str) -> bool {
        self.is_within(path) && path.split("::").count() == self.segments.len()
    }

    fn spelled_out(mut self, names: &BTreeMap<String, Vec<String>>) -> Self {
        if let Some(full) = self.segments.first().and_then(|first| names.get(first)) {
            self.segments.splice(0..1, full.iter().cloned());
        }
        self
    }
}

/// Every path in `use` lines and elsewhere, including macro calls.
///
/// A single word is not a path: the `use` line that imports it is found itself. Names are resolved by file and not by
/// scope, as a reader does.
pub(crate) fn references(source: &Source) -> Vec<Reference> {
    let imports = imports(source);
    let names = names(&imports);
    let imported = imports.into_iter().map(|import| import.reference);
    imported
        .map(|reference| reference.spelled_out(&names))
        .chain(paths(source))
        .collect()
}

/// Every path outside of `use` lines, including macro calls.
pub(crate) fn paths(source: &Source) -> Vec<Reference> {
    let names = names(&imports(source));
    let mut paths = Vec::new();
    let mut position = 0;
    while position < source.positions().end {
        if is_import(source, position) {
            position = read_import(source, position + 1, &[], &mut Vec::new());
        } else if begins_path(source, position) {
            let segments = read_path(source, &mut position);
            let path = Reference { segments, position };
            paths.push(path.spelled_out(&names));
        }
        position += 1;
    }
    paths
}

/// The full path of each imported name.
fn names(imports: &[Import]) -> BTreeMap<String, Vec<String>> {
    let imports = imports.iter();
    imports
        .map(|import| (import.name.clone(), import.reference.segments.clone()))
        .filter(|(name, segments)| segments.first() != Some(name))
        .collect()
}

fn is_import(source: &Source, position: usize) -> bool {
    source.word(position) == "use" && !source.reads(position + 1, &["<"])
}

/// One item of a `use` line, and the name that it gets.
pub(crate) struct Import {
    pub(crate) name: String,
    reference: Reference,
    /// Whether others can import it from here.
    pub(crate) is_reexport: bool,
}

impl Import {
    /// The path as written, with `*` at its end if it imports everything.
    pub(crate) fn segments(&self) -> &[String] {
        &self.reference.segments
    }

    pub(crate) fn position(&self) -> usize {
        self.reference.position
    }
}

/// The items that the `use` lines of a file import.
pub(crate) fn imports(source: &Source) -> Vec<Import> {
    let mut imports = Vec::new();
    for position in source.positions() {
        if is_import(source, position) {
            let first = imports.len();
            read_import(source, position + 1, &[], &mut imports);
            let before = position.checked_sub(1).map_or("", |it| source.word(it));
            for import in &mut imports[first..] {
                import.is_reexport = matches!(before, "pub" | ")");
            }
        }
    }
    imports
}

/// Reads one branch of a `use` tree, and returns the position of its last token.
fn read_import(
    source: &Source,
    mut position: usize,
    prefix: &[String],
    into: &mut Vec<Import>,
) -> usize {
    let mut segments = prefix.to_vec();
    loop {
        match source.word(position) {
            "::" => {}
            "{" => {
                let end = source.closing(position);
                position += 1;
                while position < end {
                    position = read_import(source, position, &segments, into) + 1;
                    position += usize::from(source.word(position) == ",");
                }
                return end;
            }
            "self" if !segments.is_empty() => {}
            word => segments.push(word.to_owned()),
        }
        if source.word(position) == "::" || source.word(position + 1) == "::" {
            position += 1;
            continue;
        }
        let renamed = source.word(position + 1) == "as";
        let end = position + if renamed { 2 } else { 0 };
        let name = if renamed {
            Some(source.word(end))
        } else {
            segments.last().map(String::as_str)
        };
        into.push(Import {
            name: name.unwrap_or_default().to_owned(),
            reference: Reference { segments, position },
            is_reexport: false,
        });
        return end;
    }
}

/// Whether a path starts here: not a method call, and not in the middle of a path.
fn begins_path(source: &Source, position: usize) -> bool {
    let before = |steps: usize| {
        position
            .checked_sub(steps)
            .map_or("", |before| source.word(before))
    };
    let continues = match before(1) {
        "." => true,
        // A leading `::` starts a path; one after a name or a `>` continues one.
        "::" => before(2) == ">" || position > 1 && source.is_identifier(position - 2),
        _ => false,
    };
    source.is_identifier(position) && source.word(position + 1) == "::" && !continues
}

/// Reads a path, and leaves `position` at its last segment.
fn read_path(source: &Source, position: &mut usize) -> Vec<String> {
    let mut segments = vec![source.word(*position).to_owned()];
    while source.word(*position + 1) == "::" && source.is_identifier(*position + 2) {
        *position += 2;
        segments.push(source.word(*position).to_owned());
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let source = Source::read("a/src/sample.rs", text);
        references(&source)
            .iter()
            .map(|reference| reference.segments.join("::"))
            .collect()
    }

    #[test]
    fn a_use_tree_names_each_of_its_leaves() {
        assert_eq!(
            paths("use a::{self, b::{C, D as E}, f::*};\npub use ::g::h;"),
            ["a", "a::b::C", "a::b::D", "a::f::*", "g::h"]
        );
    }

    #[test]
    fn a_shortened_path_is_spelled_out() {
        assert_eq!(
            paths("use std::sync::mpsc; use tokio as rt; fn f() { mpsc::channel(); rt::spawn(x) }"),
            [
                "std::sync::mpsc",
                "tokio",
                "std::sync::mpsc::channel",
                "tokio::spawn"
            ]
        );
    }

    #[test]
    fn paths_in_macro_calls_and_attributes_count() {
        assert_eq!(
            paths("#[tokio::test]\nfn f() { assert_eq!(a::b(), ::c::D::<e::F>::new().g::<H>()); }"),
            ["tokio::test", "a::b", "c::D", "e::F"]
        );
    }

    #[test]
    fn a_path_is_within_its_parents_and_not_within_a_namesake() {
        let source = Source::read("a/src/sample.rs", "use tonic::Status;");
        let reference = references(&source).remove(0);
        assert!(reference.is_within("tonic") && reference.is_within("tonic::Status"));
        assert!(reference.is("tonic::Status") && !reference.is("tonic"));
        assert!(!reference.is_within("ton") && !reference.is_within("tonic::Status::new"));
    }
}
