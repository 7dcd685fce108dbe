//! A comment begins with its subject or its verb, and a sentence can be read at once.

use crate::finding::{Finding, lines};
use crate::tree::Tree;

/// Words with which no doc comment begins: the reader has to guess what it is about.
const VAGUE: [&str; 9] = [
    "Who", "What", "Whose", "Whom", "That", "Of", "As", "By", "Where",
];

/// Words with which a sentence of a document begins only if it is a question.
const ASKING: [&str; 2] = ["Who", "What"];

/// A longer sentence is two.
const WORDS_MAX: usize = 40;

/// Finds doc comments that begin with a word that is no subject.
pub(super) fn vague_comments(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources() {
        let mut before = None;
        for comment in source.comments() {
            let text = comment.text.trim_start();
            let Some(text) = text.strip_prefix("///").or(text.strip_prefix("//!")) else {
                continue;
            };
            let is_first = before != Some(comment.line - 1);
            before = Some(comment.line);
            let word = text.split_whitespace().next().unwrap_or_default();
            if is_first && VAGUE.contains(&word.trim_end_matches(',')) {
                let message =
                    format!("a comment that begins with `{word}`: begin with its subject");
                findings.push(Finding::at(source.path(), comment.line, message));
            }
        }
    }
    findings
}

/// Finds sentences of documents that are too long.
pub(super) fn long_sentences(tree: &Tree) -> Vec<Finding> {
    let long = sentences_of(tree, |sentence| {
        let words = sentence.split_whitespace();
        let words = words.filter(|word| word.contains(char::is_alphanumeric));
        let count = words.count();
        (count > WORDS_MAX)
            .then(|| format!("a sentence of {count} words, and {WORDS_MAX} are the most"))
    });
    long.collect()
}

/// Finds sentences of documents that begin with a question word and ask nothing.
pub(super) fn vague_sentences(tree: &Tree) -> Vec<Finding> {
    let vague = sentences_of(tree, |sentence| {
        let word = sentence.split_whitespace().next()?;
        let is_vague = ASKING.contains(&word) && !sentence.ends_with('?');
        is_vague.then(|| format!("a sentence that begins with `{word}`: begin with its subject"))
    });
    vague.collect()
}

fn sentences_of(
    tree: &Tree,
    find: impl Fn(&str) -> Option<String>,
) -> impl Iterator<Item = Finding> {
    tree.texts(".md").flat_map(move |(path, text)| {
        let sentences = sentences(text).into_iter();
        let found = sentences.filter_map(|(line, it)| Some(Finding::at(path, line, find(&it)?)));
        found.collect::<Vec<_>>()
    })
}

/// The sentences of a document outside of code, tables and headings, each with the line where its paragraph begins.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        is_code ^= line.starts_with("```");
        let is_text = !is_code && !line.is_empty() && !line.starts_with(['#', '|', '`', '<', '>']);
        let item = ["- ", "* "]
            .iter()
            .find_map(|bullet| line.strip_prefix(bullet));
        match paragraphs.last_mut() {
            Some((_, last)) if is_text && is_open && item.is_none() => {
                last.push(' ');
                last.push_str(line);
            }
            _ if is_text => paragraphs.push((number, item.unwrap_or(line).to_owned())),
            _ => {}
        }
        is_open = is_text;
    }
    let sentences = paragraphs.into_iter().flat_map(|(line, paragraph)| {
        let ends = paragraph.match_indices([' ']).map(|(place, _)| place);
        let mut sentences = Vec::new();
        let mut begin = 0;
        for end in ends {
            let (before, after) = (&paragraph[..end], &paragraph[end + 1..]);
            let ends_here = before
                .trim_end_matches(['*', ')', '"', '`'])
                .ends_with(['.', '?', '!', ':']);
            let begins_next = after.starts_with(|it: char| {
                it.is_uppercase() || matches!(it, '`' | '*' | '[' | '"' | '(')
            });
            if ends_here && begins_next {
                sentences.push((line, paragraph[begin..end].to_owned()));
                begin = end + 1;
            }
        }
        sentences.push((line, paragraph[begin..].to_owned()));
        sentences
    });
    sentences.collect()
}

#[test]
fn a_comment_without_its_subject_is_found() {
    let text = "//! Of all.\n//!\n//! What is more.\n\n/// The state.\n/// As it was.\nfn f() {}\n/// As it is.\nfn g() {}\n// What now.\n";
    assert_eq!(
        lines(&vague_comments(&Tree::of(&[("a/src/b.rs", text)]))),
        "a/src/b.rs:1: a comment that begins with `Of`: begin with its subject\n\
         a/src/b.rs:8: a comment that begins with `As`: begin with its subject"
    );
}

#[test]
fn a_sentence_that_is_too_long_or_begins_with_a_question_word_is_found() {
    let long = "Word ".repeat(41);
    let text = format!(
        "# What this is\n\nShort. What is it? What\nit is. {long}. End.\n\n- Who\n  reads.\n\n| What | {long} |\n\n```\nWhat {long}\n```\n"
    );
    let tree = Tree::of(&[("README.md", &text)]);
    assert_eq!(
        lines(&long_sentences(&tree)),
        "README.md:3: a sentence of 41 words, and 40 are the most"
    );
    assert_eq!(
        lines(&vague_sentences(&tree)),
        "README.md:3: a sentence that begins with `What`: begin with its subject\n\
         README.md:6: a sentence that begins with `Who`: begin with its subject"
    );
}
