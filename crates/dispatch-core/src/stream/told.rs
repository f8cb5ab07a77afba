//! What an agent says and does, as lines for people.

/// Most lines that are told of one stream.
const MOST_LINES: u64 = 5_000;

/// Most characters of a line.
const LONGEST: usize = 300;

/// Lines that were not taken yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    lines: Vec<String>,
    count: u64,
}

impl Told {
    /// Tells what was said or done, as one line.
    pub(super) fn say(&mut self, what: &str, text: &str) {
        self.count += 1;
        if self.count <= MOST_LINES {
            self.lines.push(format!("{what}: {}", readable(text)));
        } else if self.count == MOST_LINES + 1 {
            self.lines.push("what it did from here on is in `stream.jsonl` only".to_owned());
        }
    }

    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

/// One line of at most so many characters, whatever would act on a terminal escaped.
fn readable(text: &str) -> String {
    let mut line = String::new();
    for (count, c) in text
        .split_whitespace()
        .flat_map(|word| [" ", word])
        .flat_map(str::chars)
        .skip(1)
        .enumerate()
    {
        if count == LONGEST {
            line.push('…');
            break;
        }
        if c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_bounded_line_and_acts_on_no_terminal() {
        assert_eq!(readable(" a\n\tb\u{1b}[2J \u{202e}c"), "a b\\u{1b}[2J \\u{202e}c");
        assert_eq!(readable(&"é".repeat(900)), format!("{}…", "é".repeat(LONGEST)));
        assert_eq!(readable(" \n"), "");
    }

    #[test]
    fn a_talkative_agent_is_told_of_up_to_a_bound_and_that_is_said_once() {
        let mut told = Told::default();
        for _ in 0..2 * MOST_LINES {
            told.say("says", "x");
        }
        let lines = told.take();
        assert_eq!(lines.len() as u64, MOST_LINES + 1);
        assert!(lines.last().unwrap().contains("stream.jsonl"));
        told.say("says", "y");
        assert!(told.take().is_empty());
    }
}
