//! Selects the figures to take: those whose name contains a word that was given, or all.

pub(crate) struct Wanted(Vec<String>);

impl Wanted {
    /// What the words after `--` select.
    pub(crate) fn by_arguments() -> Self {
        let words = std::env::args().skip(1);
        // Cargo itself passes `--bench`.
        Self::of(words.filter(|word| !word.starts_with('-')).collect())
    }

    pub(crate) fn of(words: Vec<String>) -> Self {
        Self(words)
    }

    pub(crate) fn has(&self, figure: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|word| figure.contains(word.as_str()))
    }
}
