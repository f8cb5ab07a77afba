//! What a person types at the live view.

/// A key that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// End the watching.
    Quit,
    /// Leave the log, or say no.
    Escape,
    /// The slot before.
    Up,
    /// The slot after.
    Down,
    /// This slot, counted from 0.
    Slot(usize),
    /// Open the log of the chosen slot.
    Log,
    /// Run a pass.
    Dispatch,
    /// Cancel the task of the chosen slot.
    Cancel,
    /// Yes.
    Yes,
    /// Anything else, which is a no where something was asked.
    Other,
}

/// The keys in what was read from the terminal.
pub(super) fn parse(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        keys.push(match first {
            0x1b => {
                let (key, after) = escaped(after);
                rest = after;
                key
            }
            0x03 | b'q' | b'Q' => Key::Quit,
            b'k' => Key::Up,
            b'j' => Key::Down,
            b'l' | b'\r' | b'\n' => Key::Log,
            b'd' => Key::Dispatch,
            b'c' => Key::Cancel,
            b'y' | b'Y' => Key::Yes,
            b'1'..=b'9' => Key::Slot(usize::from(first - b'1')),
            _ => Key::Other,
        });
    }
    keys
}

/// A key after the escape byte, which alone is the escape key.
fn escaped(rest: &[u8]) -> (Key, &[u8]) {
    let Some((b'[' | b'O', sequence)) = rest.split_first() else { return (Key::Escape, rest) };
    let end = sequence.iter().position(|byte| (0x40..0x7f).contains(byte));
    let Some(end) = end else { return (Key::Other, &[]) };
    let key = match sequence.get(end) {
        Some(b'A') => Key::Up,
        Some(b'B') => Key::Down,
        _ => Key::Other,
    };
    (key, sequence.get(end + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(b"q", &[Key::Quit])]
    #[test_case(b"\x03", &[Key::Quit]; "control c")]
    #[test_case(b"\x1b", &[Key::Escape]; "escape alone")]
    #[test_case(b"\x1b[A\x1bOB", &[Key::Up, Key::Down]; "arrows in both modes")]
    #[test_case(b"\x1b[1;5Cq", &[Key::Other, Key::Quit]; "a longer sequence is one key")]
    #[test_case(b"2l", &[Key::Slot(1), Key::Log])]
    #[test_case(b"\x1b[", &[Key::Other]; "a sequence that is cut")]
    #[test_case("é".as_bytes(), &[Key::Other, Key::Other])]
    fn r2_2_keys_are_read(bytes: &[u8], expected: &[Key]) {
        assert_eq!(parse(bytes), expected);
    }
}
