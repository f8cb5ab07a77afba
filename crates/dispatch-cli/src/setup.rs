//! The configuration and everything it names, read once: the same bytes are judged, approved and used (D3.3).

use std::collections::BTreeMap;
use std::io;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::config::{
    Config, Found, LaneSettings, Loaded, Location, SettingSource, load, load_lane_settings,
    mistyped_names,
};
use dispatch_core::prompt::check_template;
use dispatch_core::triage::Lane;
use dispatch_engine::setup::{AgentSettings, PROJECT_SETTINGS, PersonSettings};
use dispatch_proc::{Links, read_regular};

use crate::trust::Subject;

/// The most bytes that a configuration, or a file it names, may have.
const MAX_BYTES: u64 = 16 << 20;

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
    /// The agent's own settings files, where a lane loads them.
    pub agent_settings: AgentSettings,
    /// Everything that names a program to run, for approval.
    pub subject: Subject,
}

impl Setup {
    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    fn templates(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        let templates = &self.config().templates;
        [
            &templates.local_system,
            &templates.frontier_addendum,
            &templates.frontier_entry,
            &templates.close_attempt,
            &templates.contract,
        ]
        .into_iter()
        .flatten()
    }

    /// The templates that are configured and not there. Whether that matters is decided where one is used (D8.1).
    pub fn missing_templates(&self) -> Vec<String> {
        let missing = self.templates().filter(|path| !self.texts.contains_key(*path));
        missing.map(|path| format!("the template `{path}` cannot be found")).collect()
    }

    /// Unknown placeholders: no attempt could use such a template (D8.3).
    pub fn template_errors(&self) -> Vec<String> {
        let read = self.templates().filter_map(|path| Some((path, self.texts.get(path)?)));
        read.flat_map(|(path, bytes)| {
            let errors = check_template(&String::from_utf8_lossy(bytes));
            errors.into_iter().map(move |error| format!("`{path}`: {error}"))
        })
        .collect()
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
    /// The person's own configuration directory of the agent, when their environment says where it is.
    pub agent_home: Option<Utf8PathBuf>,
}

/// The person's configuration directory of the agent, as the agent finds it.
pub fn agent_home(variable: impl Fn(&str) -> Option<String>) -> Option<Utf8PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(Utf8PathBuf::from);
    set("CLAUDE_CONFIG_DIR").or_else(|| Some(set("HOME")?.join(".claude")))
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

/// Reads the configuration and everything it names. `further` finds what only its place can be at fault with, so that one
/// run tells everything that keeps the configuration from use.
pub fn read(places: &Places, further: impl Fn(&Config) -> Vec<String>) -> anyhow::Result<Setup> {
    let (file, found, bytes) = find(places)?;
    let text = std::str::from_utf8(&bytes)
        .with_context(|| format!("the configuration `{file}` is not UTF-8 text"))?;
    let shown = relative(&places.code_root, &file);
    let location = Location { file: shown.clone(), found, board_dir: places.board_dir.clone() };
    let mut loaded = load(text, &location).map_err(|rejected| {
        let mut faults: Vec<String> = rejected.errors.iter().map(ToString::to_string).collect();
        faults.extend(rejected.remainder.iter().flat_map(|config| further(config)));
        unusable(&faults)
    })?;
    let faults = further(&loaded.config);
    if !faults.is_empty() {
        return Err(unusable(&faults));
    }
    loaded.settle(|path| places.code_root.join(path).exists());
    let mut subject = Subject::from([(shown.to_string(), bytes)]);
    let mut lanes = BTreeMap::new();
    for lane in Lane::ALL.iter().copied() {
        let settings = lane_settings(places, &loaded.config, lane, &mut subject);
        let path = loaded.config.settings_path(lane);
        if let (Ok(_), Some(bytes)) = (&settings, subject.get(path.as_str())) {
            loaded.warnings.extend(mistyped_names(&String::from_utf8_lossy(bytes), path));
        }
        lanes.insert(lane, settings);
    }
    let texts = texts(places, &loaded.config, &mut subject)?;
    let agent_settings = agent_settings(places, &loaded.config, &mut subject)?;
    hooks(places, &loaded.config, &mut subject)?;
    Ok(Setup { file, loaded, lanes, texts, agent_settings, subject })
}

fn unusable(faults: &[String]) -> anyhow::Error {
    let lines: Vec<String> = faults.iter().map(|fault| format!("  {fault}")).collect();
    anyhow::anyhow!("the configuration cannot be used:\n{}", lines.join("\n"))
}

/// The text of the configuration, if there is one.
pub fn text(places: &Places) -> anyhow::Result<Option<String>> {
    let Some((file, _, bytes)) = first_there(places)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    Ok(Some(text.with_context(|| format!("the configuration `{file}` is not UTF-8 text"))?))
}

fn first_there(places: &Places) -> anyhow::Result<Option<(Utf8PathBuf, Found, Vec<u8>)>> {
    for (file, found) in places.candidates() {
        match read_file(&file) {
            Ok(bytes) => return Ok(Some((file, found, bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("could not read the configuration `{file}`"));
            }
        }
    }
    Ok(None)
}

fn find(places: &Places) -> anyhow::Result<(Utf8PathBuf, Found, Vec<u8>)> {
    if let Some(found) = first_there(places)? {
        return Ok(found);
    }
    let looked: Vec<String> =
        places.candidates().iter().map(|(file, _)| format!("`{file}`")).collect();
    bail!(
        "there is no configuration; looked at {}. Write one (`dispatch config schema` prints its form), then approve it with `dispatch trust`",
        looked.join(" and ")
    )
}

/// Reads a file that a person wrote: a regular one, though a link may lead to it, of a size that a person writes. What
/// stands there may also be a pipe that nobody serves, or a link to a device without end.
fn read_file(path: &Utf8Path) -> io::Result<Vec<u8>> {
    read_regular(path, Links::Followed, MAX_BYTES)
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
    let bytes = read_file(&places.code_root.join(path)).map_err(|error| {
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

/// The settings files of the agent that some lane loads. The project's can name programs that run in a worker, so it is
/// part of what a person approves; the person's own file is their own.
fn agent_settings(
    places: &Places,
    config: &Config,
    subject: &mut Subject,
) -> anyhow::Result<AgentSettings> {
    let loads =
        |source| Lane::ALL.iter().any(|lane| config.setting_sources(*lane).contains(&source));
    let mut settings = AgentSettings::default();
    if loads(SettingSource::User) {
        settings.person = person_settings(places.agent_home.as_deref());
    }
    if loads(SettingSource::Project)
        && let Some(bytes) = read_if_there(&places.code_root.join(PROJECT_SETTINGS))?
    {
        subject.insert(PROJECT_SETTINGS.to_owned(), bytes.clone());
        settings.code_root = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(settings)
}

fn person_settings(agent_home: Option<&Utf8Path>) -> PersonSettings {
    let Some(home) = agent_home else {
        let why =
            "the person's settings cannot be found: neither `CLAUDE_CONFIG_DIR` nor `HOME` is set";
        return PersonSettings { text: Err(why.to_owned()), ..PersonSettings::default() };
    };
    let file = home.join("settings.json");
    let text = match read_if_there(&file) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => {
            String::from_utf8(bytes).map(Some).map_err(|_| format!("`{file}` is not UTF-8 text"))
        }
        Err(error) => Err(format!("{error:#}")),
    };
    PersonSettings { file: file.into_string(), text }
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
    match read_file(file) {
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

    fn nothing_further(_: &Config) -> Vec<String> {
        Vec::new()
    }

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
        let places = Places {
            code_root: root.clone(),
            board_dir: Some("backlog".into()),
            given: None,
            agent_home: None,
        };
        let error = read(&places, nothing_further).unwrap_err().to_string();
        assert!(
            error.contains("backlog/dispatch/lanes.json") && error.contains(OLDER_FILE),
            "{error}"
        );
    }

    #[test]
    fn k2_the_file_of_the_older_dispatcher_is_found_and_its_lane_files_are_part_of_what_is_approved()
     {
        let (_folder, root) = code_root(&[(OLDER_FILE, OLDER)]);
        let places = Places {
            code_root: root,
            board_dir: Some("backlog".into()),
            given: None,
            agent_home: None,
        };
        let setup = read(&places, nothing_further).unwrap();
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
        let places = Places { code_root: root, board_dir: None, given, agent_home: None };
        let error = read(&places, nothing_further).unwrap_err().to_string();
        assert!(
            error.contains("attempts") && error.contains("atempts") && error.contains("lanes.json"),
            "{error}"
        );
    }

    /// A template, or any other file the configuration names, may have been replaced by a pipe that nobody serves.
    #[test]
    fn a_pipe_in_the_place_of_a_named_file_is_not_waited_for() {
        let (_folder, root) = code_root(&[]);
        let pipe = root.join("template.md");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            pipe.as_std_path(),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let error = format!("{:#}", read_if_there(&pipe).unwrap_err());
        assert!(error.ends_with("template.md`: it is not a regular file"), "{error}");
        assert_eq!(read_if_there(&root).unwrap(), None, "a folder holds no text");
        assert_eq!(read_if_there(&root.join("none")).unwrap(), None);
    }

    /// P5.2, D7.6: the files are read where a lane loads them, and nowhere else.
    #[test]
    fn p5_2_the_agents_settings_files_are_read_where_a_lane_loads_them() {
        let (_folder, root) = code_root(&[
            (".claude/settings.json", r#"{"hooks": {}}"#),
            ("home/.claude/settings.json", r#"{"permissions": {}}"#),
        ]);
        let mut config = dispatch_core::config::smallest();
        let places = Places {
            code_root: root.clone(),
            board_dir: None,
            given: None,
            agent_home: agent_home(|name| {
                (name == "HOME").then(|| root.join("home").into_string())
            }),
        };
        let mut subject = Subject::new();
        let none = agent_settings(&places, &config, &mut subject).unwrap();
        assert_eq!((none, subject.len()), (AgentSettings::default(), 0));

        config.lanes.local.setting_sources = vec![SettingSource::User];
        let person = agent_settings(&places, &config, &mut subject).unwrap();
        assert_eq!(person.person.text, Ok(Some(r#"{"permissions": {}}"#.to_owned())));
        assert_eq!((person.code_root, subject.len()), (None, 0));

        config.lanes.frontier.setting_sources = vec![SettingSource::Project];
        let both = agent_settings(&places, &config, &mut subject).unwrap();
        assert_eq!(both.code_root.as_deref(), Some(r#"{"hooks": {}}"#));
        assert!(subject.contains_key(PROJECT_SETTINGS), "its hooks are programs to approve");
    }

    #[test]
    fn p5_2_a_missing_file_of_the_person_has_no_rules_and_an_unreadable_one_is_an_error() {
        let (_folder, root) = code_root(&[("c/settings.json/x", "a folder is in the way")]);
        let moved = agent_home(|name| match name {
            "CLAUDE_CONFIG_DIR" => Some(root.join("elsewhere").into_string()),
            "HOME" => Some("/nowhere".to_owned()),
            _ => None,
        });
        assert_eq!(moved.as_deref(), Some(&*root.join("elsewhere")));
        assert_eq!(person_settings(moved.as_deref()).text, Ok(None));
        std::fs::create_dir_all(root.join("elsewhere")).unwrap();
        std::fs::write(root.join("elsewhere/settings.json"), b"\xff").unwrap();
        let bad = person_settings(moved.as_deref());
        assert!(bad.text.is_err_and(|why| why.contains("UTF-8") && why.contains(&bad.file)));
        let nowhere = person_settings(agent_home(|_| None).as_deref());
        assert!(nowhere.text.is_err_and(|why| why.contains("CLAUDE_CONFIG_DIR")));
    }
}
