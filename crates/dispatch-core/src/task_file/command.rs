//! The shell command that a task file can carry (B2.7).

/// The key of the command, which the board program runs at a status change.
pub(super) const OWN_CALLBACK: &str = "onStatusChange";

/// Whether the name of the command stands in a text, its letters written as they are or as escapes.
pub(super) fn may_be_in(header: &str) -> bool {
    header.contains(OWN_CALLBACK) || without_escapes(header).contains(OWN_CALLBACK)
}

/// A text with the letters that its escapes stand for, and with the lines joined that an escape joins.
fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else { break };
        rest = &rest[kind.len_utf8()..];
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '\n' => {
                rest = rest.trim_start();
                continue;
            }
            _ => continue,
        };
        let code = rest.get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        if let Some(letter) = code.and_then(char::from_u32) {
            out.push(letter);
            rest = &rest[digits..];
        }
    }
    out + rest
}
