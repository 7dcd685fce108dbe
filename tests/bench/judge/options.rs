//! The words of the command line.

use std::time::Duration;

use crate::wanted::Wanted;

pub(crate) const USAGE: &str =
    "usage: judge [--rounds N] [--seconds S] [--services NAME,NAME] [--out FOLDER] [WORD]...
       judge --keys N [--rounds N] [--services NAME,NAME]
       judge --reports [--rounds N] [--services NAME,NAME]
measures the cases whose name contains one of the words, or all; with --keys, what servers that hold so many keys take in
memory, and how long they take to start; with --reports, how long what a server says about 1,000 resources takes to reach
watchers on all servers";

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Cases,
    /// The memory and the start of servers that hold so many keys.
    Starts(u64),
    Reports,
}

pub(crate) struct Options {
    pub(crate) rounds: usize,
    pub(crate) what: What,
    /// How long each case is measured.
    pub(crate) span: Duration,
    /// The names of services; none selects all usual ones.
    pub(crate) services: Vec<String>,
    /// The folder for the rounds and the charts, relative to the checkout.
    pub(crate) out: Option<String>,
    pub(crate) cases: Wanted,
}

impl Options {
    /// Reads the words after the program's name. The `known` services can be named.
    ///
    /// # Errors
    ///
    /// A word that is no option, or whose value is missing or out of range.
    pub(crate) fn parse(
        words: impl IntoIterator<Item = String>,
        known: &[&str],
    ) -> Result<Self, String> {
        let (mut rounds, mut seconds, mut what) = (5, 3.0, What::Cases);
        let (mut services, mut out, mut cases) = (Vec::<String>::new(), None, Vec::new());
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--rounds" => rounds = number(&value()?)?,
                "--keys" => what = What::Starts(number(&value()?)?),
                "--reports" => what = What::Reports,
                "--seconds" => seconds = number(&value()?)?,
                "--services" => services = value()?.split(',').map(str::to_owned).collect(),
                "--out" => out = Some(value()?),
                // Cargo itself passes it.
                "--bench" => {}
                other if other.starts_with('-') => return Err(format!("there is no {other}")),
                _ => cases.push(word),
            }
        }
        if rounds == 0 {
            return Err("at least one round is measured".to_owned());
        }
        if let Some(strange) = services.iter().find(|name| !known.contains(&name.as_str())) {
            let known = known.join(", ");
            return Err(format!(
                "there is no service `{strange}`; there are {known}"
            ));
        }
        Ok(Self {
            rounds,
            what,
            span: Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?,
            services,
            out,
            cases: Wanted::of(cases),
        })
    }

    pub(crate) fn has_service(&self, name: &str, is_usual: bool) -> bool {
        if self.services.is_empty() {
            return is_usual;
        }
        self.services.iter().any(|service| service == name)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no number here"))
}
