//! Finds the public functions of the client's handles in its source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Handles that have no async function, and a value that has functions in all languages.
const ALSO: [&str; 2] = ["Permit", "Topic"];

/// Sources of the client and of what it shows of the model.
const SOURCES: [&str; 2] = ["sdk/src", "service/model/src/topic.rs"];

/// The public functions, as `Type::function`, of all handles: the types that have an async function, and [`ALSO`].
pub(super) fn of_handles() -> BTreeSet<String> {
    let mut found: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    let root = synod_tests::checkout();
    for path in SOURCES.iter().flat_map(|path| sources(&root.join(path))) {
        let text = std::fs::read_to_string(&path).expect("a source can be read");
        let tokens = text.parse().expect("a source can be read as tokens");
        for (kind, function, waits) in functions(tokens) {
            found.entry(kind).or_default().push((function, waits));
        }
    }
    let handles = found.into_iter().filter(|(kind, functions)| {
        functions.iter().any(|(_, waits)| *waits) || ALSO.contains(&kind.as_str())
    });
    handles
        .flat_map(|(kind, functions)| {
            let names = functions.into_iter().map(|(name, _)| name);
            names.map(move |name| format!("{kind}::{name}"))
        })
        .collect()
}

/// A source, or all sources below a folder, except tests and the seams that the simulator replaces.
fn sources(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    let entries = std::fs::read_dir(folder).expect("a folder of sources can be read");
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("its entries can be read").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if matches!(&*name, "tests" | "seams") {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The type, the name, and whether it is async, of each public function in an inherent `impl`.
fn functions(source: TokenStream) -> Vec<(String, String, bool)> {
    let mut found = Vec::new();
    let mut tokens = source.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if !is_word(&token, "impl") {
            continue;
        }
        let mut head = Vec::new();
        for token in tokens.by_ref() {
            match token {
                TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                    if let Some(kind) = subject(&head) {
                        let within = in_body(body.stream());
                        found.extend(
                            within
                                .into_iter()
                                .map(|(name, waits)| (kind.clone(), name, waits)),
                        );
                    }
                    break;
                }
                token => head.push(token),
            }
        }
    }
    found
}

/// The type that an `impl` with this head is for; `None` if it is an `impl` of a trait.
fn subject(head: &[TokenTree]) -> Option<String> {
    let mut depth = 0_u32;
    let mut kind = None;
    for token in head {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '<' => depth += 1,
            TokenTree::Punct(mark) if mark.as_char() == '>' => depth = depth.saturating_sub(1),
            TokenTree::Ident(word) if depth == 0 && *word == "for" => return None,
            TokenTree::Ident(word) if depth == 0 && *word == "where" => break,
            TokenTree::Ident(word) if depth == 0 && kind.is_none() => kind = Some(word.to_string()),
            _ => {}
        }
    }
    kind
}

fn in_body(body: TokenStream) -> Vec<(String, bool)> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let Some(next) = tokens.get(place + 1).filter(|_| is_word(token, "pub")) else {
            continue;
        };
        // `pub(crate)` is not public.
        if matches!(next, TokenTree::Group(_)) {
            continue;
        }
        let words = tokens[place + 1..].iter();
        let signature = words.take_while(|token| matches!(token, TokenTree::Ident(_)));
        let words: Vec<String> = signature.map(ToString::to_string).collect();
        if let Some(position) = words.iter().position(|word| word == "fn") {
            let name = words.get(position + 1);
            let waits = words.iter().any(|word| word == "async");
            found.extend(name.map(|name| (name.clone(), waits)));
        }
    }
    found
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(found) if *found == word)
}

#[test]
fn only_public_functions_of_types_are_found() {
    let source = "
        impl<T: Into<A>> Thing<T> { pub async fn waits(&self) {} pub const fn does() {} pub(crate) fn hidden() {} fn own() {} }
        impl Other for Thing { pub fn of_a_trait() {} }
        pub fn free() {}
    ";
    let found = functions(source.parse().expect("it can be read as tokens"));
    let named = |name: &str, waits| ("Thing".to_owned(), name.to_owned(), waits);
    assert_eq!(found, [named("waits", true), named("does", false)]);
}
