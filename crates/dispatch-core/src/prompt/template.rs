//! Templates with placeholders `{{name}}`.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::nearest::nearest;

/// The placeholders that every template may use.
pub const PLACEHOLDERS: &[&str] = &[
    "approach",
    "attempt",
    "attempt_of",
    "attempts",
    "base_branch",
    "board_command",
    "board_root",
    "board_usage",
    "children",
    "id",
    "slot",
    "test_command",
    "test_place",
    "title",
];

/// A template that cannot be used: a mistake in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} of the template has the unknown placeholder `{{{{{name}}}}}`{}; known are {}",
    nearest.map(|nearest| format!(" (did you mean `{{{{{nearest}}}}}`?)")).unwrap_or_default(),
    PLACEHOLDERS.join(", "))]
pub struct TemplateError {
    /// The line, from 1.
    pub line: usize,
    /// The name between the braces.
    pub name: String,
    /// The known name nearest to it.
    pub nearest: Option<&'static str>,
}

/// Everything wrong with the placeholders of a template (D8.3).
pub fn check_template(text: &str) -> Vec<TemplateError> {
    let mut errors = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let mut rest = content;
        while let Some((_, name, after)) = next(rest) {
            if !PLACEHOLDERS.contains(&name) {
                errors.push(TemplateError {
                    line: line + 1,
                    name: name.to_owned(),
                    nearest: nearest(name, PLACEHOLDERS.iter().copied()),
                });
            }
            rest = after;
        }
    }
    errors
}

/// Fills the placeholders once: a value is never searched for placeholders.
pub(super) fn fill(
    text: &str,
    values: &BTreeMap<&'static str, String>,
) -> Result<String, TemplateError> {
    if let Some(error) = check_template(text).into_iter().next() {
        return Err(error);
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, name, after)) = next(rest) {
        out.push_str(before);
        out.push_str(values.get(name).map_or("", String::as_str));
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// What stands before the next `{{name}}`, the name, and what follows. Braces around anything else are text.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text.get(from..)?.find("{{")?;
        let inner = text.get(open + 2..)?;
        let end = inner.find("}}")?;
        let name = inner.get(..end)?.trim();
        if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Some((text.get(..open)?, name, inner.get(end + 2..)?));
        }
        from = open + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d8_3_an_unknown_placeholder_is_an_error_with_its_line() {
        let errors = check_template("{{id}} { x } {{ }} {{a b}}\n{{ idd }}\n{{xyz}}");
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors.len(), 2);
        assert!(errors[0].starts_with(
            "line 2 of the template has the unknown placeholder `{{idd}}` (did you mean `{{id}}`?); known are approach, "
        ));
        assert!(
            errors[1]
                .starts_with("line 3 of the template has the unknown placeholder `{{xyz}}`; known")
        );
    }

    #[test]
    fn values_are_data() {
        let values = BTreeMap::from([("id", "{{slot}}".to_owned()), ("slot", "s".to_owned())]);
        assert_eq!(fill("{{ id }}-{{slot}}", &values).unwrap(), "{{slot}}-s");
    }

    #[test]
    fn built_in_templates_use_known_placeholders() {
        for text in super::super::BUILT_IN {
            assert_eq!(check_template(text), []);
        }
    }
}
