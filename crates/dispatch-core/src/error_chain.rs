//! An error with its causes, for places that have one line.

use std::error::Error;

/// An error and all its causes in one line.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use thiserror::Error;

    #[derive(Debug, Error)]
    #[error("could not add")]
    struct Outer(#[source] std::num::ParseIntError);

    #[test]
    fn the_causes_follow_the_error() {
        let outer = Outer("x".parse::<i32>().unwrap_err());
        assert_eq!(super::chain(&outer), "could not add: invalid digit found in string");
    }
}
