//! Reads a Rust file as tokens and comments.
//!
//! The rules read tokens and not a syntax tree, because a syntax tree ends at every macro call, and some of the rules
//! have to look into `select!`, `assert!` and `proptest!`.

use std::ops::{Range, RangeInclusive};

use proc_macro2::{TokenStream, TokenTree};

/// A Rust file.
pub(crate) struct Source {
    path: String,
    text: String,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    /// Ranges of tokens that are only compiled for tests.
    tests: Vec<RangeInclusive<usize>>,
}

/// A word, a literal, a bracket or a sign; `::` is one sign.
struct Token {
    bytes: Range<usize>,
    line: usize,
}

/// One line of a comment, documentation too.
pub(crate) struct Comment {
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Source {
    /// Reads a file. Files named `tests.rs`, those in a folder `tests` of `src`, and those of the package `tests` are
    /// test code; `#[cfg(test)]` and `#[test]` mark parts of other files.
    pub(crate) fn read(path: &str, text: &str) -> Self {
        let stream: TokenStream = match text.parse() {
            Ok(stream) => stream,
            Err(error) => panic!("{path} is not Rust: {error}"),
        };
        let mut source = Self {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens: Vec::new(),
            comments: Vec::new(),
            tests: Vec::new(),
        };
        source.flatten(stream);
        source.find_comments();
        let by_place =
            path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs");
        if by_place {
            source.mark_as_test();
        }
        source.tests.extend(source.marked_tests());
        source
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    pub(crate) fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The positions of all tokens.
    pub(crate) fn positions(&self) -> Range<usize> {
        0..self.tokens.len()
    }

    /// The text of the token at `position`; empty beyond the end.
    pub(crate) fn word(&self, position: usize) -> &str {
        self.tokens
            .get(position)
            .map_or("", |token| &self.text[token.bytes.clone()])
    }

    /// The line of the token at `position`, counted from one.
    pub(crate) fn line(&self, position: usize) -> usize {
        self.tokens.get(position).map_or(0, |token| token.line)
    }

    /// Whether the tokens from `position` on are `words`.
    pub(crate) fn reads(&self, position: usize, words: &[&str]) -> bool {
        (position..)
            .zip(words)
            .all(|(position, word)| self.word(position) == *word)
    }

    /// Whether the token at `position` is an identifier or a keyword.
    pub(crate) fn is_identifier(&self, position: usize) -> bool {
        let first = self.word(position).chars().next();
        first.is_some_and(|first| first.is_alphabetic() || first == '_')
    }

    /// The position of the bracket that closes the one at `open`.
    pub(crate) fn closing(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for position in open..self.tokens.len() {
            match self.word(position) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return position;
            }
        }
        self.tokens.len()
    }

    /// The attributes, as the positions within their square brackets.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Range<usize>> {
        self.positions().filter_map(|hash| {
            let open = hash + 1 + usize::from(self.reads(hash, &["#", "!"]));
            let is_attribute = self.word(hash) == "#" && self.word(open) == "[";
            is_attribute.then(|| open + 1..self.closing(open))
        })
    }

    /// The functions with a body: the position of each name, and of the brace that ends the body.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (usize, usize)> {
        self.positions()
            .filter(|&keyword| self.word(keyword) == "fn" && self.is_identifier(keyword + 1))
            .map(|keyword| (keyword + 1, self.end_of_item(keyword)))
            .filter(|&(_, end)| self.word(end) == "}")
    }

    /// The positions of the names of all test functions.
    pub(crate) fn test_functions(&self) -> impl Iterator<Item = usize> {
        self.attributes()
            .filter(|attribute| self.is_test_attribute(attribute))
            .filter_map(|attribute| {
                let mut position = attribute.end + 1;
                while self.reads(position, &["#", "["]) {
                    position = self.closing(position + 1) + 1;
                }
                while matches!(self.word(position), "pub" | "async" | "const" | "unsafe") {
                    position += 1;
                }
                (self.word(position) == "fn").then_some(position + 1)
            })
    }

    /// Whether the token at `position` is only compiled for tests.
    pub(crate) fn is_test(&self, position: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&position))
    }

    /// The ranges of lines that `#[cfg(test)]` and `#[test]` mark as tests.
    pub(crate) fn test_lines(&self) -> impl Iterator<Item = RangeInclusive<usize>> {
        self.marked_tests()
            .into_iter()
            .map(|range| self.line(*range.start())..=self.line(*range.end()))
    }

    /// Marks the whole file as test code.
    pub(crate) fn mark_as_test(&mut self) {
        self.tests.push(0..=usize::MAX);
    }

    /// The modules that this file declares under `#[cfg(test)]`, as paths without `.rs`.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let folder = match name.strip_suffix(".rs").unwrap_or(name) {
            "lib" | "main" | "mod" => folder.to_owned(),
            stem => format!("{folder}/{stem}"),
        };
        self.positions()
            .filter(|&position| self.word(position) == "mod" && self.word(position + 2) == ";")
            .filter(|&position| self.is_test(position))
            .map(|position| format!("{folder}/{}", self.word(position + 1)))
            .collect()
    }

    fn flatten(&mut self, stream: TokenStream) {
        for tree in stream {
            let bytes = tree.span().byte_range();
            let line = tree.span().start().line;
            // Documentation comes as an attribute whose tokens all span the comment.
            if is_comment(&self.text[bytes.clone()]) {
                continue;
            }
            if let TokenTree::Group(group) = tree {
                let (open, close) = (group.span_open(), group.span_close());
                self.tokens.push(Token {
                    bytes: open.byte_range(),
                    line,
                });
                self.flatten(group.stream());
                self.tokens.push(Token {
                    bytes: close.byte_range(),
                    line: close.start().line,
                });
                continue;
            }
            let follows_colon = self.tokens.last().is_some_and(|last| {
                last.bytes.end == bytes.start && &self.text[last.bytes.clone()] == ":"
            });
            match self.tokens.last_mut() {
                Some(last) if follows_colon && is_colon(&tree) => last.bytes.end = bytes.end,
                _ => self.tokens.push(Token { bytes, line }),
            }
        }
    }

    /// Finds the comments: all text that no token covers.
    fn find_comments(&mut self) {
        let starts = std::iter::once(0).chain(self.tokens.iter().map(|token| token.bytes.end));
        let ends = self
            .tokens
            .iter()
            .map(|token| token.bytes.start)
            .chain([self.text.len()]);
        let mut line = 1;
        let mut read = 0;
        for (start, end) in starts.zip(ends) {
            line += self.text[read..start].matches('\n').count();
            for (offset, text) in self.text[start..end].split('\n').enumerate() {
                if !text.trim().is_empty() {
                    let text = text.trim().to_owned();
                    self.comments.push(Comment {
                        line: line + offset,
                        text,
                    });
                }
            }
            line += self.text[start..end].matches('\n').count();
            read = end;
        }
    }

    fn marked_tests(&self) -> Vec<RangeInclusive<usize>> {
        self.attributes()
            .filter(|attribute| self.is_test_attribute(attribute))
            .map(|attribute| {
                if self.word(attribute.start - 2) == "!" {
                    0..=usize::MAX
                } else {
                    attribute.start - 2..=self.end_of_item(attribute.end + 1)
                }
            })
            .collect()
    }

    /// `test`, `tokio::test`, `cfg(test)`, `cfg(all(test, …))`, and not `cfg(not(test))`.
    fn is_test_attribute(&self, attribute: &Range<usize>) -> bool {
        let words: Vec<&str> = attribute
            .clone()
            .map(|position| self.word(position))
            .collect();
        match words.first() {
            Some(&"cfg") => words.contains(&"test") && !words.contains(&"not"),
            _ => {
                let path = words.split(|&word| word == "(").next().unwrap_or_default();
                path.last() == Some(&"test")
            }
        }
    }

    /// The last token of the item that starts at `position`: the brace that closes its body, or `;`.
    pub(crate) fn end_of_item(&self, mut position: usize) -> usize {
        while self.reads(position, &["#", "["]) {
            position = self.closing(position + 1) + 1;
        }
        let has_body = self.has_body(position);
        while position < self.tokens.len() {
            match self.word(position) {
                "{" if has_body => return self.closing(position),
                "(" | "[" | "{" => position = self.closing(position),
                // A closing bracket ends the enclosing list: the item was a field, a variant or an arm.
                ";" | ")" | "]" | "}" => return position,
                _ => {}
            }
            position += 1;
        }
        position
    }

    /// Whether the item at `position` ends with a brace; `use` and `const` always end with `;`.
    fn has_body(&self, mut position: usize) -> bool {
        if self.reads(position, &["pub", "("]) {
            position = self.closing(position + 1) + 1;
        } else if self.word(position) == "pub" {
            position += 1;
        }
        match self.word(position) {
            "use" | "static" | "type" | "let" => false,
            "const" => matches!(
                self.word(position + 1),
                "fn" | "async" | "unsafe" | "extern"
            ),
            _ => true,
        }
    }
}

fn is_comment(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("/*")
}

fn is_colon(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(sign) if sign.as_char() == ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Source {
        Source::read("a/src/sample.rs", text)
    }

    #[test]
    fn comments_are_told_from_code_and_strings() {
        let source = read(
            "//! Header.\n\
             /// Says \"no\".\n\
             fn f() { // Why.\n\
             \x20   let url = \"http://x\"; /* First.\n\
             Second. */\n\
             }\n",
        );
        let comments: Vec<(usize, &str)> = source
            .comments()
            .iter()
            .map(|comment| (comment.line, comment.text.as_str()))
            .collect();
        assert_eq!(
            comments,
            [
                (1, "//! Header."),
                (2, "/// Says \"no\"."),
                (3, "// Why."),
                (4, "/* First."),
                (5, "Second. */"),
            ]
        );
        assert!(
            source
                .positions()
                .all(|position| source.word(position) != "doc")
        );
    }

    #[test]
    fn a_double_colon_is_one_word() {
        let source = read("fn f(x: ::a::B) { c::<D>() }");
        let words: Vec<&str> = source
            .positions()
            .map(|position| source.word(position))
            .collect();
        assert_eq!(words.join(" "), "fn f ( x : :: a :: B ) { c :: < D > ( ) }");
    }

    #[test]
    fn functions_end_where_their_body_ends() {
        let source =
            read("trait T {\n fn a();\n fn b() -> [u8; 2] {\n { }\n }\n}\nfn c(f: fn()) {}\n");
        let found: Vec<(&str, usize)> = source
            .functions()
            .map(|(name, end)| (source.word(name), source.line(end)))
            .collect();
        assert_eq!(found, [("b", 5), ("c", 7)]);
    }

    #[test]
    fn tests_are_told_from_the_product() {
        let source = read(
            "#[cfg(not(test))]\n\
             use product::{A, B};\n\
             #[cfg(test)]\n\
             use naive::{C, D};\n\
             struct S {\n\
             \x20   #[cfg(test)]\n\
             \x20   e: u8,\n\
             }\n\
             fn f() {}\n\
             #[cfg(test)]\n\
             mod g { fn h() {} }\n\
             #[tokio::test(start_paused = true)]\n\
             #[ignore = \"slow\"]\n\
             async fn i() {}\n\
             fn j() {}\n",
        );
        let product: String = source
            .positions()
            .filter(|&position| source.is_identifier(position) && !source.is_test(position))
            .map(|position| source.word(position))
            .filter(|word| word.len() == 1)
            .collect();
        assert_eq!(product, "ABSfj");
        let tests: Vec<&str> = source
            .test_functions()
            .map(|name| source.word(name))
            .collect();
        assert_eq!(tests, ["i"]);
    }

    #[test]
    fn files_of_tests_are_told_by_their_place() {
        for path in [
            "a/src/b/tests.rs",
            "a/src/b/tests/c.rs",
            "tests/sim/main.rs",
        ] {
            assert!(Source::read(path, "fn f() {}").is_test(0), "{path}");
        }
        assert!(!Source::read("a/src/attests.rs", "fn f() {}").is_test(0));
        assert!(read("#![cfg(test)]\nfn f() {}").is_test(9));
    }
}
