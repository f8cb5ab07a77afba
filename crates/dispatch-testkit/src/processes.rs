//! The live processes of the machine, and those that work in a scratch folder.

use std::fs;
use std::time::{Duration, Instant};

use camino::Utf8Path;

/// How long everything a test started may take to end.
const PATIENCE: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(100);

/// A live process.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its command line, the words with blanks between them.
    pub command: String,
}

/// Every live process of the machine that this user may look at.
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let command = fs::read(entry.path().join("cmdline")).ok()?;
            // A process that ended but was not waited for has no command line.
            (!command.is_empty()).then(|| {
                let command = String::from_utf8_lossy(&command).replace('\0', " ");
                Process { pid, command: command.trim_end().to_owned() }
            })
        })
        .collect()
}

/// Every live process but this one whose environment, command line or working folder names `folder`.
pub fn in_folder(folder: &Utf8Path) -> Vec<Process> {
    let folder = folder.as_str().as_bytes();
    let ourselves = i32::try_from(std::process::id()).ok();
    let names_it = |process: &Process| {
        let of = format!("/proc/{}", process.pid);
        let holds = |bytes: &[u8]| bytes.windows(folder.len()).any(|part| part == folder);
        let cwd = fs::read_link(format!("{of}/cwd")).unwrap_or_default();
        holds(process.command.as_bytes())
            || holds(cwd.as_os_str().as_encoded_bytes())
            || holds(&fs::read(format!("{of}/environ")).unwrap_or_default())
    };
    all().into_iter().filter(|it| Some(it.pid) != ourselves && names_it(it)).collect()
}

/// Waits until no process names `folder` any more.
///
/// # Panics
///
/// When one still lives after two minutes.
#[track_caller]
pub fn settle(folder: &Utf8Path) {
    let deadline = Instant::now() + PATIENCE;
    let mut quiet = 0;
    while quiet < 3 {
        let left = in_folder(folder);
        // One that is just putting a program in its place shows neither a command line nor an environment.
        quiet = if left.is_empty() { quiet + 1 } else { 0 };
        assert!(Instant::now() < deadline, "still alive: {left:#?}");
        std::thread::sleep(PAUSE);
    }
}
