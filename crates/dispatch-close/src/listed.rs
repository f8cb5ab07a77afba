//! Lists that are kept with the journal: bounded, whatever an attempt did.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::text::cut_chars;

/// Most entries that are kept; what is shown anywhere is fewer.
pub const MOST_KEPT: usize = 300;

/// Most characters of an entry: a longer name than people give to files.
pub const LONGEST: usize = 300;

/// The first entries of a list, and how many there are beside them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Listed {
    /// The first entries, each cut to a bearable length.
    pub items: Vec<String>,
    /// How many more there were.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Listed {
    /// A list without entries.
    pub const EMPTY: Self = Self { items: Vec::new(), more: 0 };

    /// How many entries there were in all.
    pub const fn len(&self) -> usize {
        self.items.len().saturating_add(self.more)
    }

    /// Whether there was none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the entries of another list.
    pub fn append(&mut self, other: &Self) {
        for item in &other.items {
            self.push(item.clone());
        }
        self.more = self.more.saturating_add(other.more);
    }

    fn push(&mut self, item: String) {
        if self.items.len() < MOST_KEPT {
            self.items.push(item);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

impl<T: Display> FromIterator<T> for Listed {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut listed = Self::default();
        for item in items {
            if listed.items.len() < MOST_KEPT {
                listed.items.push(cut_chars(&item.to_string(), LONGEST));
            } else {
                listed.more += 1;
            }
        }
        listed
    }
}

/// As one line of a log.
impl Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_SHOWN: usize = 50;
        let shown = &self.items[..self.items.len().min(MOST_SHOWN)];
        f.write_str(&shown.join(", "))?;
        match self.len() - shown.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_counted_and_its_record_stays_small() {
        let listed: Listed =
            (0..100_000).map(|number| format!("{number}{}", "x".repeat(4000))).collect();
        assert_eq!((listed.items.len(), listed.len()), (MOST_KEPT, 100_000));
        let record = serde_json::to_string(&listed).unwrap();
        assert!(record.len() < 100_000, "{}", record.len());
        assert_eq!(serde_json::from_str::<Listed>(&record).unwrap(), listed);
        let mut both = listed.clone();
        both.append(&listed);
        assert_eq!((both.items.len(), both.len()), (MOST_KEPT, 200_000));
    }

    #[test]
    fn a_log_shows_fifty_entries_and_the_number_of_the_rest() {
        let line = (0..12_395).collect::<Listed>().to_string();
        assert!(line.starts_with("0, 1, 2") && line.ends_with("48, 49 and 12345 more"), "{line}");
        assert_eq!(["a", "b"].into_iter().collect::<Listed>().to_string(), "a, b");
    }
}
