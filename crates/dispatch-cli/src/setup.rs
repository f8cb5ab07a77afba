//! The configuration and everything it names, read once: the same bytes are judged, approved and used (D3.3).

use std::collections::BTreeMap;
use std::io;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::config::{
    Config, Found, LaneSettings, Loaded, Location, load, load_lane_settings,
};
use dispatch_core::triage::Lane;

use crate::trust::Subject;

/// Where the older dispatcher had its configuration, relative to the code root.
const OLDER_FILE: &str = "scripts/backlog/lanes.json";

/// A configuration that was read, with the files it names.
#[derive(Debug)]
pub struct Setup {
    /// The configuration file.
    pub file: Utf8PathBuf,
    /// The configuration.
    pub loaded: Loaded,
    /// The settings of each lane, or what is wrong with them (D3.6).
    pub lanes: BTreeMap<Lane, Result<LaneSettings, String>>,
    /// Templates, the contract and the skill index that exist, by path relative to the code root.
    pub texts: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// Everything that names a program to run, for approval.
    pub subject: Subject,
}

impl Setup {
    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }
}

/// The places a configuration is looked for, in order (K2).
#[derive(Debug, Clone)]
pub struct Places {
    /// The code root.
    pub code_root: Utf8PathBuf,
    /// The board directory relative to the code root, when it lies inside it.
    pub board_dir: Option<Utf8PathBuf>,
    /// The file named by `--config` or `DISPATCH_CONFIG`.
    pub given: Option<Utf8PathBuf>,
}

impl Places {
    fn candidates(&self) -> Vec<(Utf8PathBuf, Found)> {
        if let Some(file) = &self.given {
            return vec![(file.clone(), Found::Given)];
        }
        let in_board =
            self.board_dir.as_ref().map(|dir| self.code_root.join(dir).join("dispatch/lanes.json"));
        in_board
            .map(|file| (file, Found::Board))
            .into_iter()
            .chain([(self.code_root.join(OLDER_FILE), Found::Older)])
            .collect()
    }
}

/// Reads the configuration and everything it names.
pub fn read(places: &Places) -> anyhow::Result<Setup> {
    let (file, found, bytes) = find(places)?;
    let text = std::str::from_utf8(&bytes)
        .with_context(|| format!("the configuration `{file}` is not UTF-8 text"))?;
    let shown = relative(&places.code_root, &file);
    let location = Location { file: shown.clone(), found, board_dir: places.board_dir.clone() };
    let mut loaded = load(text, &location).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
        anyhow::anyhow!("the configuration cannot be used:\n{}", lines.join("\n"))
    })?;
    loaded.settle(|path| places.code_root.join(path).exists());
    let mut subject = Subject::from([(shown.to_string(), bytes)]);
    let lanes = [Lane::Local, Lane::Frontier]
        .into_iter()
        .map(|lane| (lane, lane_settings(places, &loaded.config, lane, &mut subject)))
        .collect();
    let texts = texts(places, &loaded.config, &mut subject)?;
    hooks(places, &loaded.config, &mut subject)?;
    Ok(Setup { file, loaded, lanes, texts, subject })
}

fn find(places: &Places) -> anyhow::Result<(Utf8PathBuf, Found, Vec<u8>)> {
    let candidates = places.candidates();
    for (file, found) in &candidates {
        match std::fs::read(file) {
            Ok(bytes) => return Ok((file.clone(), *found, bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("could not read the configuration `{file}`"));
            }
        }
    }
    let looked: Vec<String> = candidates.iter().map(|(file, _)| format!("`{file}`")).collect();
    bail!(
        "there is no configuration; looked at {}. Write one (`dispatch config schema` prints its form), then approve it with `dispatch trust`",
        looked.join(" and ")
    )
}

fn relative(code_root: &Utf8Path, file: &Utf8Path) -> Utf8PathBuf {
    file.strip_prefix(code_root).unwrap_or(file).to_owned()
}

fn lane_settings(
    places: &Places,
    config: &Config,
    lane: Lane,
    subject: &mut Subject,
) -> Result<LaneSettings, String> {
    let path = config.settings_path(lane);
    let bytes = std::fs::read(places.code_root.join(path)).map_err(|error| {
        format!("could not read the settings of lane {lane}, `{path}`: {error}")
    })?;
    let text = String::from_utf8(bytes.clone())
        .map_err(|_| format!("the settings of lane {lane}, `{path}`, are not UTF-8 text"))?;
    subject.insert(path.to_string(), bytes);
    load_lane_settings(&text, path, lane).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })
}

/// The templates, the contract and the skill index. One that is configured but missing is not in the map: whether that
/// matters is decided where it is used (D8.1).
fn texts(
    places: &Places,
    config: &Config,
    subject: &mut Subject,
) -> anyhow::Result<BTreeMap<Utf8PathBuf, Vec<u8>>> {
    let templates = &config.templates;
    let named = [
        &templates.local_system,
        &templates.frontier_addendum,
        &templates.frontier_entry,
        &templates.close_attempt,
        &templates.contract,
        &config.skills.index,
    ];
    let mut texts = BTreeMap::new();
    for path in named.into_iter().flatten() {
        if let Some(bytes) = read_if_there(&places.code_root.join(path))? {
            subject.insert(path.to_string(), bytes.clone());
            texts.insert(path.clone(), bytes);
        }
    }
    Ok(texts)
}

/// The hook programs that lie in the code root: their text is what runs.
fn hooks(places: &Places, config: &Config, subject: &mut Subject) -> anyhow::Result<()> {
    for word in config.prompt_hooks.iter().flat_map(|hook| &hook.command) {
        let path = Utf8Path::new(word);
        if path.is_absolute() || word.starts_with('-') {
            continue;
        }
        if let Some(bytes) = read_if_there(&places.code_root.join(path))? {
            subject.insert(word.clone(), bytes);
        }
    }
    Ok(())
}

fn read_if_there(file: &Utf8Path) -> anyhow::Result<Option<Vec<u8>>> {
    match std::fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::IsADirectory
                    | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("could not read `{file}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_root(files: &[(&str, &str)]) -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for (path, text) in files {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        (folder, root)
    }

    const OLDER: &str = include_str!("../../../fixtures/config/older-lanes.json");

    #[test]
    fn without_a_configuration_the_error_names_every_place_looked_at() {
        let (_folder, root) = code_root(&[]);
        let places =
            Places { code_root: root.clone(), board_dir: Some("backlog".into()), given: None };
        let error = read(&places).unwrap_err().to_string();
        assert!(
            error.contains("backlog/dispatch/lanes.json") && error.contains(OLDER_FILE),
            "{error}"
        );
    }

    #[test]
    fn k2_the_file_of_the_older_dispatcher_is_found_and_its_lane_files_are_part_of_what_is_approved()
     {
        let (_folder, root) = code_root(&[(OLDER_FILE, OLDER)]);
        let places = Places { code_root: root, board_dir: Some("backlog".into()), given: None };
        let setup = read(&places).unwrap();
        assert!(setup.subject.contains_key(OLDER_FILE));
        // Settings that cannot be read are a lane's problem, not the configuration's (D3.6).
        assert!(
            setup.lanes[&Lane::Local]
                .as_ref()
                .is_err_and(|error| error.contains("settings of lane local"))
        );
    }

    #[test]
    fn every_error_of_a_configuration_is_told_at_once() {
        let (_folder, root) =
            code_root(&[("lanes.json", r#"{"slots": ["a"], "attempts": 0, "atempts": 3}"#)]);
        let given = Some(root.join("lanes.json"));
        let error =
            read(&Places { code_root: root, board_dir: None, given }).unwrap_err().to_string();
        assert!(
            error.contains("attempts") && error.contains("atempts") && error.contains("lanes.json"),
            "{error}"
        );
    }
}
