//! Copies of very long lines with their long texts cut, made while the line passes by.

/// The most bytes kept of one text of a very long line.
const TEXT_LIMIT: usize = 256 * 1024;

/// The most bytes kept of one very long line.
const LINE_LIMIT: usize = 4 * 1024 * 1024;

/// Copies JSON byte by byte and leaves out the end of long texts, so that what remains is JSON again.
#[derive(Debug, Clone, Default)]
pub(super) struct Shortener {
    kept: Vec<u8>,
    place: Place,
    text_bytes: usize,
    dropping: bool,
    overflowed: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    Text,
    /// Right after a backslash.
    Escape,
    /// Among the digits of `\u`, so many still to come.
    Digits(u8),
}

impl Shortener {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    fn byte(&mut self, byte: u8) {
        match (self.place, byte) {
            (Place::Outside, b'"') => {
                self.place = Place::Text;
                self.text_bytes = 0;
                self.keep(byte);
            }
            (Place::Outside, _) => self.keep(byte),
            (Place::Text, b'"') => {
                self.place = Place::Outside;
                self.keep(byte);
            }
            // The rest of a character shares the fate of its beginning.
            (Place::Text, 0x80..0xC0) => self.keep_unless_dropping(byte),
            (Place::Text, _) => {
                self.dropping = self.text_bytes >= TEXT_LIMIT;
                if byte == b'\\' {
                    self.place = Place::Escape;
                }
                self.keep_unless_dropping(byte);
            }
            (Place::Escape, _) => {
                self.place = if byte == b'u' { Place::Digits(4) } else { Place::Text };
                self.keep_unless_dropping(byte);
            }
            (Place::Digits(left), _) => {
                self.place = if left > 1 { Place::Digits(left - 1) } else { Place::Text };
                self.keep_unless_dropping(byte);
            }
        }
    }

    fn keep_unless_dropping(&mut self, byte: u8) {
        if !self.dropping {
            self.text_bytes += 1;
            self.keep(byte);
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.kept.len() < LINE_LIMIT {
            self.kept.push(byte);
        } else {
            self.overflowed = true;
        }
    }

    /// The shortened line; none if even its skeleton is too long.
    pub(super) fn finish(self) -> Option<Vec<u8>> {
        (!self.overflowed).then_some(self.kept)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shorten(text: &str) -> Option<Vec<u8>> {
        let mut shortener = Shortener::default();
        shortener.push(text.as_bytes());
        shortener.finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// What is short passes unchanged, byte by byte.
        #[test]
        fn short_lines_pass_unchanged(text in "\\PC{0,40}") {
            let line = serde_json::json!({ "type": text, "n": [1, { "x": text }] }).to_string();
            prop_assert_eq!(shorten(&line), Some(line.into_bytes()));
        }

        /// Whatever a long text ends in, what remains is JSON with the keys around it.
        #[test]
        fn long_texts_are_cut_and_the_rest_stays_json(unit in "[a\"\\\\ \n\u{1}é日🎉]{1,6}") {
            let long = unit.repeat(TEXT_LIMIT / unit.len() + 10);
            let line = serde_json::json!({ "a": "x", "long": long, "z": { "n": 3 } }).to_string();
            let kept = shorten(&line).unwrap();
            prop_assert!(kept.len() < TEXT_LIMIT + 100);
            let value: serde_json::Value = serde_json::from_slice(&kept).unwrap();
            prop_assert_eq!(&value["z"]["n"], &serde_json::json!(3));
            prop_assert!(long.starts_with(value["long"].as_str().unwrap()));
        }
    }
}
