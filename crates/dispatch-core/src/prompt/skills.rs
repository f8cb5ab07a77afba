//! Which skills a task is pointed to (`skills.index`).

use camino::Utf8PathBuf;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use thiserror::Error;

use crate::task::DeclaredFile;

/// The skill index: `{"skills": [{"path", "triggers": [globs]}]}`.
#[derive(Debug, Clone, Default)]
pub struct SkillIndex {
    skills: Vec<Skill>,
}

#[derive(Debug, Clone)]
struct Skill {
    path: Utf8PathBuf,
    triggers: Vec<(String, GlobMatcher)>,
}

/// A skill index that cannot be read.
#[derive(Debug, Error)]
pub enum SkillIndexError {
    /// It is not JSON of the right form.
    #[error("the skill index cannot be read at `{path}`")]
    Form {
        /// The path to the value.
        path: String,
        /// The parser's words.
        #[source]
        source: serde_json::Error,
    },
    /// A trigger is not a glob.
    #[error("the trigger `{trigger}` of the skill `{skill}` is not a glob")]
    Trigger {
        /// The skill.
        skill: Utf8PathBuf,
        /// The trigger.
        trigger: String,
        /// The error it failed with.
        #[source]
        source: globset::Error,
    },
}

#[derive(Deserialize)]
struct IndexForm {
    skills: Vec<SkillForm>,
}

#[derive(Deserialize)]
struct SkillForm {
    path: Utf8PathBuf,
    #[serde(default)]
    triggers: Vec<String>,
}

impl SkillIndex {
    /// Reads an index.
    pub fn parse(text: &str) -> Result<Self, SkillIndexError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let form: IndexForm = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            SkillIndexError::Form { path: error.path().to_string(), source: error.into_inner() }
        })?;
        let mut skills = Vec::new();
        for SkillForm { path, triggers } in form.skills {
            let compiled = triggers.into_iter().map(|trigger| {
                let glob = GlobBuilder::new(&trigger).literal_separator(true).build();
                match glob {
                    Ok(glob) => Ok((trigger, glob.compile_matcher())),
                    Err(source) => {
                        Err(SkillIndexError::Trigger { skill: path.clone(), trigger, source })
                    }
                }
            });
            let triggers = compiled.collect::<Result<_, _>>()?;
            skills.push(Skill { path: path.clone(), triggers });
        }
        Ok(Self { skills })
    }

    /// The skills whose triggers match a declared file, in the order of the index, each once.
    pub fn matching(&self, declared: &[DeclaredFile]) -> Vec<Utf8PathBuf> {
        let mut found: Vec<Utf8PathBuf> = Vec::new();
        for skill in &self.skills {
            let meets = declared.iter().any(|file| {
                skill.triggers.iter().any(|(text, glob)| meets(text, glob, &file.text))
            });
            if meets && !found.contains(&skill.path) {
                found.push(skill.path.clone());
            }
        }
        found
    }
}

/// Whether a trigger is about a declared entry; for a folder or a glob, whether it is about something in it.
fn meets(trigger: &str, glob: &GlobMatcher, declared: &str) -> bool {
    let literal = declared.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let whole = literal.len() == declared.len();
    if whole && !declared.ends_with('/') {
        return glob.is_match(declared);
    }
    // The folder that everything the entry names lies in.
    let folder = literal.rfind('/').map_or("", |slash| literal.get(..slash).unwrap_or_default());
    let trigger_literal = trigger.split(['*', '?', '[', '{']).next().unwrap_or_default();
    glob.is_match(declared.trim_end_matches('/'))
        || glob.is_match(format!("{folder}/x"))
        || (!folder.is_empty() && trigger_literal.starts_with(&format!("{folder}/")))
        || (!folder.is_empty()
            && trigger_literal.ends_with('/')
            && format!("{folder}/").starts_with(trigger_literal))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn declared(text: &str) -> DeclaredFile {
        DeclaredFile { text: text.to_owned(), shared: false }
    }

    #[test_case("src/api/user.rs", &["api.md"]; "a file")]
    #[test_case("src/user.rs", &[]; "a file that nothing is about")]
    #[test_case("src/api/", &["api.md"]; "a folder")]
    #[test_case("src/api/v1/*.rs", &["api.md"]; "a glob below a trigger")]
    #[test_case("docs/guide.md", &["docs.md"]; "another skill")]
    #[test_case("web/", &["web.md"]; "a folder that holds what a trigger is about")]
    fn skills_are_found_by_declared_files(file: &str, expected: &[&str]) {
        let index = SkillIndex::parse(
            r#"{"skills":[{"path":"api.md","triggers":["src/api/**"]},{"path":"docs.md","triggers":["**/*.md","docs/**"]},{"path":"web.md","triggers":["web/app/*.ts"]},{"path":"none.md"}],"version":3}"#,
        )
        .unwrap();
        assert_eq!(index.matching(&[declared(file)]), expected);
    }

    #[test]
    fn mistakes_are_named() {
        let error = SkillIndex::parse(r#"{"skills":[{"triggers":[]}]}"#).unwrap_err();
        assert_eq!(error.to_string(), "the skill index cannot be read at `skills[0]`");
        let error = SkillIndex::parse(r#"{"skills":[{"path":"a","triggers":["{"]}]}"#).unwrap_err();
        assert_eq!(error.to_string(), "the trigger `{` of the skill `a` is not a glob");
    }
}
