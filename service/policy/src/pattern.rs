//! Patterns: texts in which one `*` stands for any characters.

/// A text, or two with anything between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    before: String,
    /// What stands after the `*`; `None` without one.
    after: Option<String>,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// The broken rule: it is empty or has several `*`.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("must not be empty");
        }
        let (before, after) = match text.split_once('*') {
            None => (text, None),
            Some((_, after)) if after.contains('*') => return Err("must have one `*` at most"),
            Some((before, after)) => (before, Some(after.to_owned())),
        };
        Ok(Self {
            before: before.to_owned(),
            after,
        })
    }

    /// What the `*` stands for in a text, which is empty if the pattern has none; `None` if the text does not match.
    pub(crate) fn captured<'a>(&self, text: &'a str) -> Option<&'a str> {
        let rest = text.strip_prefix(&*self.before)?;
        match &self.after {
            None => rest.is_empty().then_some(""),
            Some(after) => rest.strip_suffix(&**after),
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.captured(text).is_some()
    }

    /// Whether every text that begins like this matches.
    pub(crate) fn covers_all_of(&self, beginning: &str) -> bool {
        self.after.as_deref() == Some("") && beginning.starts_with(&*self.before)
    }

    /// Whether every text that matches begins like this.
    pub(crate) fn begins_with(&self, beginning: &str) -> bool {
        self.before.starts_with(beginning)
    }

    /// Whether there is a `*` in it.
    pub(crate) fn has_star(&self) -> bool {
        self.after.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    #[test]
    fn a_star_stands_for_any_characters_and_is_what_was_captured() {
        let member = pattern("spiffe://synod/member/*");
        assert_eq!(member.captured("spiffe://synod/member/a"), Some("a"));
        assert_eq!(member.captured("spiffe://synod/admin"), None);
        let within = pattern("a*b");
        assert_eq!(within.captured("ab"), Some(""));
        assert_eq!(within.captured("axxb"), Some("xx"));
        assert_eq!(
            pattern("aba*aba").captured("aba"),
            None,
            "no part counts twice"
        );
        assert_eq!(pattern("one").captured("one"), Some(""));
        assert!(!pattern("one").matches("one-more"));
    }

    #[test]
    fn only_a_star_at_the_end_covers_all_that_begins_so() {
        assert!(pattern("*").covers_all_of(""));
        assert!(pattern("team-a/*").covers_all_of("team-a/"));
        assert!(pattern("team-*").covers_all_of("team-a/"));
        assert!(!pattern("team-a/x*").covers_all_of("team-a/"));
        assert!(!pattern("*x").covers_all_of(""));
        assert!(!pattern("team-a/").covers_all_of("team-a/"));
    }

    #[test]
    fn a_pattern_has_one_star_at_most() {
        assert!(Pattern::parse("").is_err());
        assert!(Pattern::parse("a*b*").is_err());
    }
}
