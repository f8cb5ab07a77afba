//! The three answers a person gives when triaging a task: tier, lane and path.

closed_set! {
    /// How much judgement a task needs.
    Tier, "tier" {
        Minor = "minor",
        Medium = "medium",
        Complex = "complex",
    }
}

closed_set! {
    /// Which kind of agent works on a task.
    Lane, "lane" {
        Local = "local",
        Frontier = "frontier",
    }
}

closed_set! {
    /// How the work is approached.
    ExecutionPath, "path" {
        Direct = "direct",
        Sdd = "sdd",
    }
}

/// One triage answer as the labels give it (B1.1).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "value")]
pub enum Answer<T> {
    /// No label of this key.
    Missing,
    /// One value, however often it is given.
    Given(T),
    /// Two different values, or an unknown one: the labels in question, as written. It never picks one.
    Conflicting(Vec<String>),
}

impl<T: Copy> Answer<T> {
    /// The value, when there is exactly one.
    pub fn given(&self) -> Option<T> {
        match self {
            Self::Given(value) => Some(*value),
            Self::Missing | Self::Conflicting(_) => None,
        }
    }
}

/// Reads the labels `<key>:<value>` of one key, letter case aside (B1.1).
pub fn read_answer<T>(labels: &[String], key: &str) -> Answer<T>
where
    T: std::str::FromStr + PartialEq + Copy,
{
    let mut found: Vec<T> = Vec::new();
    let mut named = Vec::new();
    let mut unknown = false;
    for label in labels {
        let Some((name, value)) = label.split_once(':') else { continue };
        if !name.trim().eq_ignore_ascii_case(key) {
            continue;
        }
        named.push(label.clone());
        match value.trim().to_ascii_lowercase().parse::<T>() {
            Ok(value) if !found.contains(&value) => found.push(value),
            Ok(_) => {}
            Err(_) => unknown = true,
        }
    }
    match found.as_slice() {
        [] if !unknown => Answer::Missing,
        [value] if !unknown => Answer::Given(*value),
        _ => Answer::Conflicting(named),
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(&[], &Answer::Missing; "no label")]
    #[test_case(&["Lane:LOCAL", "lane: local"], &Answer::Given(Lane::Local); "one value twice in any case")]
    #[test_case(&["lane:local", "lane:frontier"], &Answer::Conflicting(vec!["lane:local".into(), "lane:frontier".into()]); "two values")]
    #[test_case(&["lane:cloud"], &Answer::Conflicting(vec!["lane:cloud".into()]); "an unknown value")]
    fn b1_1_labels_answer_or_conflict_and_never_pick(labels: &[&str], expected: &Answer<Lane>) {
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        assert_eq!(read_answer::<Lane>(&labels, "lane"), *expected);
    }
}
