//! What was measured, as a table for people: no number without its ratio to another service's.

use crate::cases::Case;
use crate::rows::{Quantity, Rows};
use crate::sample::Sample;

/// The services of a table: those that were measured, and the one that the others' numbers are compared with.
pub(crate) struct Table<'a> {
    pub(crate) rows: &'a Rows,
    services: &'a [&'static str],
    pub(crate) reference: &'static str,
}

impl<'a> Table<'a> {
    pub(crate) const fn of(
        rows: &'a Rows,
        services: &'a [&'static str],
        reference: &'static str,
    ) -> Self {
        Self {
            rows,
            services,
            reference,
        }
    }

    /// The numbers of a case, and what there is to be said of them.
    pub(crate) fn text(&self, case: &Case) -> String {
        let (first, rest) = self.columns(case);
        let Some(first) = first else {
            return format!(
                "{}\n  no service could be measured\n{}",
                case.name,
                self.notes(case)
            );
        };
        let mut text = format!("{}\n  {:<13}{:<28}", case.name, "", first.title());
        for service in self.services {
            text += &format!("{:>13}", format!("/{service}"));
        }
        for quantity in &rest {
            text += &format!("{:>22}", quantity.title());
        }
        text.push('\n');
        for service in self.services {
            if let Some(sample) = self.rows.sample(case.name, service, first) {
                text += &format!("  {service:<13}{:<28}", spread(first, &sample));
                for other in self.services {
                    text += &format!("{:>13}", self.ratio(case, service, other, first));
                }
                for quantity in &rest {
                    text += &format!("{:>22}", self.cell(case, service, *quantity));
                }
                text.push('\n');
            }
        }
        text + &self.notes(case)
    }

    /// What is compared in a case with each service, and what only with one. What all services have none of is left out.
    fn columns(&self, case: &Case) -> (Option<Quantity>, Vec<Quantity>) {
        let is_there = |quantity: &Quantity| {
            let mut services = self.services.iter();
            services.any(|service| {
                let sample = self.rows.sample(case.name, service, *quantity);
                let text = |value| quantity.text(value);
                sample.is_some_and(|sample| text(sample.most()) != text(0.0))
            })
        };
        let mut quantities = Quantity::ALL.into_iter().filter(is_there);
        (quantities.next(), quantities.collect())
    }

    fn ratio(&self, case: &Case, service: &str, other: &str, quantity: Quantity) -> String {
        let ratio = self.rows.ratio(case.name, service, other, quantity);
        ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.2}", ratio.median()))
    }

    fn cell(&self, case: &Case, service: &str, quantity: Quantity) -> String {
        let Some(sample) = self.rows.sample(case.name, service, quantity) else {
            return "-".to_owned();
        };
        let ratio = self.ratio(case, service, self.reference, quantity);
        format!("{} ({ratio})", quantity.text(sample.median()))
    }

    /// Why a number of this case may not be what it seems.
    fn notes(&self, case: &Case) -> String {
        let mut notes = String::new();
        for service in self.services {
            let (mut rounds, mut loud, mut others, mut lost) = (0, 0, 0.0_f64, 0);
            let (mut failures, mut failure) = (0, None);
            for row in self.rows.counted(case.name, service) {
                rounds += 1;
                loud += usize::from(row.is_loud());
                others = others.max(row.others);
                lost += row.conflicts;
                failures += row.failures;
                failure = failure.or(row.failure.as_deref());
            }
            if loud > 0 {
                let percent = others * 100.0;
                notes += &format!(
                    "  ! {service}: in {loud} of {rounds} rounds others took more than 5 % of the machine (at most {percent:.0} %)\n"
                );
            }
            if lost > 0 {
                notes += &format!("  {service}: {lost} comparisons were lost\n");
            }
            if let Some(failure) = failure.filter(|_| failures > 0) {
                notes +=
                    &format!("  ! {service}: {failures} calls failed, the first by: {failure}\n");
            }
        }
        notes
    }
}

/// The median with the least and the most.
fn spread(quantity: Quantity, sample: &Sample) -> String {
    let [median, least, most] =
        [sample.median(), sample.least(), sample.most()].map(|value| quantity.text(value));
    format!("{median} ({least} to {most})")
}
