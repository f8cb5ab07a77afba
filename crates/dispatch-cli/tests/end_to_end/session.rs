//! `backlog-watch` as a person has it: in a terminal, or with its lines in a file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use camino::Utf8PathBuf;
use dispatch_testkit::wait;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::world::World;

const PROGRAM: &str = env!("CARGO_BIN_EXE_backlog-watch");

fn ended(child: &mut Child) -> ExitStatus {
    wait::until_some("the end of the watcher", || child.try_wait().unwrap())
}

/// A watcher in a terminal of its own.
pub(crate) struct Session {
    child: Child,
    terminal: File,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Session {
    /// Starts it in a terminal of this size.
    pub(crate) fn start(world: &World, args: &[&str], columns: u16, rows: u16) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
        let other = File::options().read(true).write(true).custom_flags(flags).open(name).unwrap();
        let mut command = world.command(PROGRAM, args);
        command.stdin(other.try_clone().unwrap()).stdout(other.try_clone().unwrap()).stderr(other);
        let child = command.spawn().unwrap();
        // The command holds the other end, and with it the end of what can be read.
        drop(command);
        let terminal = File::from(terminal);
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, all) = (terminal.try_clone().unwrap(), Arc::clone(&written));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, terminal, written }
    }

    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// The last whole frame, as lines.
    pub(crate) fn screen(&self) -> Vec<String> {
        let written = self.written();
        let Some((frames, _)) = written.rsplit_once("\u{1b}[J") else { return Vec::new() };
        let (_, frame) = frames.rsplit_once("\u{1b}[H").unwrap();
        // The terminal makes a line feed a carriage return and a line feed.
        let lines = frame.split('\n').map(|line| line.trim_end_matches('\r'));
        lines.map(|line| line.replace("\u{1b}[K", "")).collect()
    }

    /// Waits until a line of the screen holds all of these.
    #[track_caller]
    pub(crate) fn shows(&self, parts: &[&str]) {
        let shown = |line: &String| parts.iter().all(|part| line.contains(part));
        let mut last = Vec::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait::until(&format!("{parts:?} on the screen"), || {
                last = self.screen();
                last.iter().any(shown)
            });
        }));
        assert!(found.is_ok(), "{parts:?} is not on the screen\n{}", last.join("\n"));
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn ends(mut self) -> (ExitStatus, String) {
        let status = ended(&mut self.child);
        (status, self.written())
    }
}

/// A watcher whose lines go to a file.
pub(crate) struct PlainSession {
    child: Child,
    file: Utf8PathBuf,
}

impl PlainSession {
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        let file = world.repo().root().join("watch.log");
        let mut command = world.command(PROGRAM, args);
        command.stdin(Stdio::null()).stdout(File::create(&file).unwrap());
        command.stderr(File::create(world.repo().root().join("watch.err")).unwrap());
        Self { child: command.spawn().unwrap(), file }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.file).unwrap().lines().map(str::to_owned).collect()
    }

    /// Waits until so many lines hold this, and gives all lines.
    #[track_caller]
    pub(crate) fn says(&self, text: &str, times: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait::until(&format!("`{text}` {times} times"), || {
                lines = self.lines();
                lines.iter().filter(|line| line.contains(text)).count() >= times
            });
        }));
        assert!(found.is_ok(), "`{text}` was not said {times} times\n{}", lines.join("\n"));
        lines
    }

    pub(crate) fn interrupt(&self) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
    }

    pub(crate) fn ends(mut self) -> (ExitStatus, Vec<String>) {
        let status = ended(&mut self.child);
        (status, self.lines())
    }
}
