//! The supervisor's side of the mailbox (W2).
//!
//! The worker can do to this folder whatever it likes. It is opened once, so that putting another in its place
//! changes nothing for us; only regular files are read, no link is followed, no name is trusted.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::worker_edit::{
    MAIL_MAX_BYTES, MailAnswer, MailRequest, PolicyRule, REQUEST_PREFIX, RESPONSE_PREFIX, Refused,
    is_mail_key,
};
use dispatch_engine::ports::{Mail, Mailbox, PortError};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, open, openat, renameat, unlinkat};
use rustix::io::Errno;

/// The most entries looked at in one go: a folder filled with rubbish costs the worker its own requests, not us.
const ENTRIES_MAX: usize = 10_000;

/// How long nobody looks whether a request has come.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// A mailbox that is a folder.
#[derive(Debug)]
pub struct FolderMailbox {
    path: Utf8PathBuf,
    folder: OwnedFd,
    /// Requests that could not be taken away: they are looked at with every other, and waited for no more.
    stuck: RefCell<BTreeSet<String>>,
}

/// What is in a request's file.
enum Found {
    Request(MailRequest),
    /// It was gone before it could be read: the client took it back.
    Gone,
    /// It cannot be taken: why.
    Refused(&'static str),
}

impl FolderMailbox {
    /// Opens the folder, which must not be a link.
    pub fn open(path: &Utf8Path) -> Result<Self, PortError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = open(path.as_std_path(), flags, Mode::empty())
            .map_err(|error| PortError::new(format!("open the mailbox `{path}`"), error))?;
        Ok(Self { path: path.to_owned(), folder, stuck: RefCell::default() })
    }

    fn failed(&self, doing: &str, error: impl Into<io::Error>) -> PortError {
        PortError::new(format!("{doing} the mailbox `{}`", self.path), error.into())
    }

    /// The keys of the requests that lie there.
    fn keys(&self) -> Result<Vec<String>, Errno> {
        let mut keys = Vec::new();
        for entry in Dir::read_from(&self.folder)?.take(ENTRIES_MAX) {
            keys.extend(key_of(entry?.file_name()));
        }
        Ok(keys)
    }

    fn read(&self, name: &str) -> Result<Found, io::Error> {
        // Without waiting: the other end of a pipe may never be opened.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(Found::Gone),
            Err(Errno::LOOP | Errno::NXIO | Errno::ACCESS) => {
                return Ok(Found::Refused("it is no readable regular file"));
            }
            Err(error) => return Err(error.into()),
        };
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
            return Ok(Found::Refused("it is no regular file of its own"));
        }
        let mut bytes = Vec::new();
        File::from(file).take(MAIL_MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAIL_MAX_BYTES {
            return Ok(Found::Refused("it has more than 1 MiB"));
        }
        Ok(match serde_json::from_slice(&bytes) {
            Ok(request) => Found::Request(request),
            Err(_) => Found::Refused("it is not the JSON of a request"),
        })
    }

    /// Takes a request's file, or an empty folder of its name, away; answers whether it was there. What cannot be taken
    /// away stays, and is not looked at again.
    fn remove(&self, name: &str) -> bool {
        unlinkat(&self.folder, name, AtFlags::empty()).is_ok()
            || unlinkat(&self.folder, name, AtFlags::REMOVEDIR).is_ok()
    }

    fn put(&self, key: &str, answer: &MailAnswer) -> io::Result<()> {
        let bytes = serde_json::to_vec(answer)?;
        let draft = format!("draft-{key}");
        let create = || {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(&self.folder, draft.as_str(), flags, Mode::RUSR | Mode::WUSR)
        };
        let file = match create() {
            Err(Errno::EXIST) => {
                self.remove(&draft);
                create()?
            }
            other => other?,
        };
        File::from(file).write_all(&bytes)?;
        let answered = format!("{RESPONSE_PREFIX}{key}");
        renameat(&self.folder, draft.as_str(), &self.folder, answered.as_str())?;
        Ok(())
    }
}

fn key_of(name: &CStr) -> Option<String> {
    let key = name.to_str().ok()?.strip_prefix(REQUEST_PREFIX)?;
    is_mail_key(key).then(|| key.to_owned())
}

impl Mailbox for FolderMailbox {
    fn wait(&self, limit: Duration) {
        let began = Instant::now();
        loop {
            let look = Instant::now();
            // What cannot be looked into is told by the next one who takes a request.
            let keys = self.keys().unwrap_or_default();
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() || keys.iter().any(|key| !self.stuck.borrow().contains(key)) {
                return;
            }
            // A folder full of rubbish must not keep us busy.
            std::thread::sleep(BETWEEN_LOOKS.max(look.elapsed() * 20).min(left));
        }
    }

    fn take(&self) -> Result<Option<Mail>, PortError> {
        let keys = self.keys().map_err(|error| self.failed("look into", error))?;
        self.stuck.borrow_mut().retain(|key| keys.contains(key));
        for key in keys {
            let name = format!("{REQUEST_PREFIX}{key}");
            match self.read(&name).map_err(|error| self.failed("read a request from", error))? {
                Found::Gone => {}
                Found::Request(request) => {
                    // Whoever removes it has it: the client takes back what is not read in time.
                    if self.remove(&name) {
                        let MailRequest { argv, stdin } = request;
                        return Ok(Some(Mail { name: key, argv, stdin }));
                    }
                    self.stuck.borrow_mut().insert(key);
                }
                Found::Refused(why) => {
                    if self.remove(&name) {
                        let why = format!("the request cannot be taken: {why}");
                        let refused = MailAnswer {
                            exit: 2,
                            stdout: String::new(),
                            stderr: format!("{}\n", Refused::new(PolicyRule::Mailbox, why)),
                        };
                        // Nobody may be waiting for it at all.
                        self.put(&key, &refused).ok();
                    } else {
                        self.stuck.borrow_mut().insert(key);
                    }
                }
            }
        }
        Ok(None)
    }

    fn answer(&self, mail: &Mail, exit: i32, stdout: &str, stderr: &str) -> Result<(), PortError> {
        let answer = MailAnswer { exit, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        self.put(&mail.name, &answer).map_err(|error| self.failed("answer a request in", error))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    struct Folder {
        _keep: tempfile::TempDir,
        path: Utf8PathBuf,
        mailbox: FolderMailbox,
    }

    fn folder() -> Folder {
        let keep = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(keep.path().join("mail")).unwrap();
        fs::create_dir(&path).unwrap();
        let mailbox = FolderMailbox::open(&path).unwrap();
        Folder { _keep: keep, path, mailbox }
    }

    const VIEW: &str = r#"{"argv":["T-5","--view"]}"#;

    fn refusal(folder: &Folder, key: &str) -> MailAnswer {
        assert_eq!(folder.mailbox.take().unwrap(), None);
        serde_json::from_slice(&fs::read(folder.path.join(format!("res-{key}"))).unwrap()).unwrap()
    }

    #[test]
    fn w2_a_request_is_taken_once_and_answered_under_its_key() {
        let folder = folder();
        fs::write(folder.path.join("req-a1"), r#"{"argv":["T-5","--notes","-"],"stdin":"x\ny"}"#)
            .unwrap();
        fs::write(folder.path.join("new-a2"), VIEW).unwrap();
        let mail = folder.mailbox.take().unwrap().unwrap();
        assert_eq!((mail.argv.len(), mail.stdin.as_str()), (3, "x\ny"));
        assert_eq!(folder.mailbox.take().unwrap(), None, "a draft is no request");
        folder.mailbox.answer(&mail, 1, "out", "err").unwrap();
        let answer = fs::read_to_string(folder.path.join("res-a1")).unwrap();
        assert_eq!(answer, r#"{"exit":1,"stdout":"out","stderr":"err"}"#);
    }

    #[test]
    fn w2_links_are_not_followed() {
        let folder = folder();
        let outside = folder.path.with_file_name("outside");
        fs::write(&outside, VIEW).unwrap();
        symlink(&outside, folder.path.join("req-a")).unwrap();
        assert_eq!(refusal(&folder, "a").exit, 2);
        fs::hard_link(&outside, folder.path.join("req-b")).unwrap();
        assert_eq!(refusal(&folder, "b").exit, 2);
        assert_eq!(fs::read_to_string(&outside).unwrap(), VIEW);
    }

    #[test]
    fn w2_an_answer_does_not_follow_a_link_either() {
        let folder = folder();
        let outside = folder.path.with_file_name("outside");
        fs::write(&outside, "precious").unwrap();
        fs::write(folder.path.join("req-a"), VIEW).unwrap();
        symlink(&outside, folder.path.join("draft-a")).unwrap();
        symlink(&outside, folder.path.join("res-a")).unwrap();
        let mail = folder.mailbox.take().unwrap().unwrap();
        folder.mailbox.answer(&mail, 0, "", "").unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
        assert!(fs::symlink_metadata(folder.path.join("res-a")).unwrap().is_file());
    }

    #[test]
    fn w2_only_regular_files_are_read_and_nothing_blocks() {
        let folder = folder();
        fs::create_dir(folder.path.join("req-dir")).unwrap();
        assert_eq!(refusal(&folder, "dir").exit, 2);
        fs::create_dir_all(folder.path.join("req-full/x")).unwrap();
        assert_eq!(folder.mailbox.take().unwrap(), None);
        #[expect(clippy::disallowed_methods, reason = "tests start the programs they need")]
        let made = Command::new("mkfifo").arg(folder.path.join("req-fifo")).status().unwrap();
        assert!(made.success());
        assert_eq!(refusal(&folder, "fifo").exit, 2);
        let _socket = std::os::unix::net::UnixListener::bind(folder.path.join("req-sock")).unwrap();
        assert_eq!(refusal(&folder, "sock").exit, 2);
    }

    #[test]
    fn w2_names_and_sizes_are_checked() {
        let folder = folder();
        for name in ["req-", "req-..", "req-A", "req-a b", "req-a.json", "request"] {
            fs::write(folder.path.join(name), VIEW).unwrap();
        }
        fs::write(folder.path.join(format!("req-{}", "a".repeat(65))), VIEW).unwrap();
        assert_eq!(folder.mailbox.take().unwrap(), None);
        fs::write(folder.path.join("req-big"), vec![b' '; (1 << 20) + 1]).unwrap();
        assert_eq!(refusal(&folder, "big").exit, 2);
        fs::write(folder.path.join("req-torn"), "{\"argv\":[").unwrap();
        assert_eq!(refusal(&folder, "torn").exit, 2);
        fs::write(folder.path.join("req-bytes"), b"{\"argv\":[\"\xff\"]}").unwrap();
        assert_eq!(refusal(&folder, "bytes").exit, 2);
    }

    #[test]
    fn another_folder_in_its_place_changes_nothing() {
        let folder = folder();
        fs::rename(&folder.path, folder.path.with_file_name("moved")).unwrap();
        fs::create_dir(&folder.path).unwrap();
        fs::write(folder.path.join("req-a"), VIEW).unwrap();
        assert_eq!(folder.mailbox.take().unwrap(), None);
        symlink("/", folder.path.with_file_name("link")).unwrap();
        assert!(FolderMailbox::open(&folder.path.with_file_name("link")).is_err());
    }
}
