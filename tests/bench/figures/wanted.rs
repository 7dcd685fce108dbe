//! Selects the figures to take: those that are named after `--`, or all.

pub(crate) struct Wanted(Vec<String>);

impl Wanted {
    pub(crate) fn by_arguments() -> Self {
        // Cargo itself passes `--bench`.
        Self(
            std::env::args()
                .skip(1)
                .filter(|word| !word.starts_with('-'))
                .collect(),
        )
    }

    pub(crate) fn has(&self, figure: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|word| figure.contains(word.as_str()))
    }
}
