//! The remote: by address, never by name (V1.5).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8Path;
use dispatch_core::branch::BranchName;
use dispatch_core::object::CommitId;
use dispatch_engine::ports::{Answer, Deletion, Push, RemoteBranch, RemoteView};
use dispatch_proc::{Ended, Finished};

use crate::configured::Configured;
use crate::deadline::Deadline;
use crate::git::{GitCall, UNSET};
use crate::objects::of_ours;
use crate::{GitError, Repository, VcsSettings};

/// How `git remote get-url` ends when there is no remote of the name.
const NO_SUCH_REMOTE: i32 = 2;
/// What asking the remote a small question may take.
const LOOK_LIMIT: Duration = Duration::from_secs(30);
/// What sending work may take.
const PUSH_LIMIT: Duration = Duration::from_mins(8);
/// The same with a look at the remote on either side.
const WHOLE_PUSH_LIMIT: Duration = Duration::from_mins(9);

/// The remote as the code root's configuration named it at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Where from, after git's own rewriting.
    pub fetch_url: String,
    /// Where to.
    pub push_url: String,
    ssh_command: String,
    /// Credential helpers in order, by their keys.
    credentials: Vec<(String, String)>,
}

impl Remote {
    pub(crate) fn read(
        call: &GitCall,
        code_root: &Utf8Path,
        configured: &Configured,
        settings: &VcsSettings,
    ) -> Result<Option<Self>, GitError> {
        let url = |push: &[&str]| {
            let args = [&["remote", "get-url"], push, &["--", &settings.remote]].concat();
            let url = call.clone().args(args).optional(NO_SUCH_REMOTE)?;
            Ok::<_, GitError>(url.map(|url| url.trim_end_matches('\n').to_owned()))
        };
        let Some(fetch_url) = url(&[])? else { return Ok(None) };
        // Only these two make pushes go elsewhere.
        let own_push = |name: &str| name.ends_with(".pushurl") || name.ends_with(".pushinsteadof");
        let push_url = match configured.all(own_push).as_slice() {
            [] => fetch_url.clone(),
            [_, ..] => match url(&["--push"])? {
                Some(push_url) => push_url,
                None => return Ok(None),
            },
        };
        let ssh_command = settings.ssh_command.clone();
        let ssh_command =
            ssh_command.or_else(|| configured.last("core.sshcommand").map(str::to_owned));
        let credentials = configured.all(|name| {
            name.strip_prefix("credential.").is_some_and(|rest| rest.ends_with("helper"))
        });
        let resolve = |url: String| match scheme(&url) {
            "file" if !url.starts_with("file:") && !url.starts_with('/') => {
                code_root.join(url).into_string()
            }
            _ => url,
        };
        Ok(Some(Self {
            fetch_url: resolve(fetch_url),
            push_url: resolve(push_url),
            ssh_command: ssh_command.unwrap_or("ssh".to_owned()),
            credentials,
        }))
    }
}

/// The protocol an address speaks, as git decides it.
pub(crate) fn scheme(url: &str) -> &str {
    if let Some((scheme, _)) = url.split_once("://") {
        return match scheme {
            "git+ssh" | "ssh+git" => "ssh",
            other => other,
        };
    }
    if let Some((helper, _)) = url.split_once("::") {
        return helper;
    }
    let before_slash = url.split('/').next().unwrap_or_default();
    if before_slash.contains(':') { "ssh" } else { "file" }
}

/// The user and password in an address, with the `@` behind them.
fn credentials_in(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (credentials, _) = rest.split('/').next()?.rsplit_once('@')?;
    Some(format!("{credentials}@"))
}

/// An address as it may be shown.
pub(crate) fn shown_url(url: &str) -> String {
    credentials_in(url).map_or_else(|| url.to_owned(), |hidden| url.replacen(&hidden, "", 1))
}

/// What git says about one ref it was to push.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PushStatus {
    Done,
    Moved,
    Refused(String),
}

impl PushStatus {
    /// Reads the one status line of `push --porcelain`: flag, refs, summary.
    fn read(stdout: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stdout);
        let line = text.lines().find(|line| line.as_bytes().get(1) == Some(&b'\t'))?;
        let summary = line.split('\t').nth(2).unwrap_or_default();
        Some(match line.as_bytes().first()? {
            b'!' if summary.contains("[remote rejected]") => Self::Refused(summary.to_owned()),
            b'!' if summary.contains("[rejected]") => Self::Moved,
            // The remote died before it said what it did.
            b'!' => return None,
            _ => Self::Done,
        })
    }
}

impl Repository {
    /// A call that may speak to `url`, and to nothing else.
    fn network(&self, url: &str, limit: Duration) -> Result<GitCall, GitError> {
        let remote = self.remote()?;
        self.refuse_redirection(url)?;
        let mut call = self
            .common()
            .env("GIT_ALLOW_PROTOCOL", scheme(url))
            .env("GIT_SSH_COMMAND", &remote.ssh_command)
            .limit(limit)
            .hiding(credentials_in(url))
            .args(["-c", "credential.helper="]);
        for (key, value) in &remote.credentials {
            call = call.arg("-c").arg(format!("{key}={value}"));
        }
        Ok(call)
    }

    /// git rewrites explicit addresses too, and nothing turns that off: an address that was already rewritten
    /// when we read it is refused once the configuration would rewrite it again.
    fn refuse_redirection(&self, url: &str) -> Result<(), GitError> {
        let call = self.common().args([
            "config",
            "-z",
            "--get-regexp",
            r"^url\..*\.(insteadof|pushinsteadof)$",
        ]);
        let text = call.optional(UNSET)?.unwrap_or_default();
        for entry in text.split('\0') {
            let Some((key, from)) = entry.split_once('\n') else { continue };
            let to =
                key.strip_prefix("url.").and_then(|key| key.rsplit_once('.')).map(|(to, _)| to);
            // An empty prefix rewrites nothing in git either.
            if !from.is_empty() && url.starts_with(from) && to != Some(from) {
                return Err(GitError::Redirected { url: shown_url(url), key: key.to_owned() });
            }
        }
        Ok(())
    }

    /// The commits of these full ref names on the remote; what is not in the answer is confirmed absent.
    pub(crate) fn look_at_remote(
        &self,
        names: &BTreeSet<String>,
        push_side: bool,
        deadline: Deadline,
    ) -> Result<BTreeMap<String, CommitId>, GitError> {
        let remote = self.remote()?;
        let url = if push_side { &remote.push_url } else { &remote.fetch_url };
        let call = self
            .network(url, deadline.left(LOOK_LIMIT))?
            .args(["ls-remote", "--", url])
            .args(names);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        let mut found = BTreeMap::new();
        for line in text.lines() {
            let Some((object, name)) = line.split_once('\t') else {
                return Err(call.answer(format!("the line `{line}`")));
            };
            // A name is matched by its last parts, so others are listed too.
            if names.contains(name) {
                let commit = CommitId::parse(object).map_err(|e| call.answer(e.to_string()))?;
                found.insert(name.to_owned(), commit);
            }
        }
        Ok(found)
    }

    /// The branch the remote's HEAD names (V2.4).
    pub(crate) fn remote_default_branch(&self, limit: Duration) -> Result<BranchName, GitError> {
        let url = &self.remote()?.fetch_url;
        let call = self.network(url, limit.min(LOOK_LIMIT))?.args([
            "ls-remote",
            "--symref",
            "--",
            url,
            "HEAD",
        ]);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        let named = text
            .lines()
            .filter_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"))
            .find_map(|name| BranchName::parse(name).ok());
        named.ok_or_else(|| call.answer("no default branch: its HEAD names none; set `baseBranch`"))
    }

    /// Fetches exactly `branches`, each into its ref of ours (D3.5).
    pub(crate) fn fetch_branches(
        &self,
        branches: &BTreeSet<BranchName>,
        deadline: Deadline,
    ) -> RemoteView {
        let mut tries = 0;
        loop {
            match self.try_fetch(branches, deadline) {
                Ok(branches) => return RemoteView { branches, problem: None },
                // A branch deleted between the look and the fetch fails it as a whole.
                Err(error) if error.stderr().contains("couldn't find remote ref") && tries < 2 => {
                    tries += 1;
                }
                Err(error) => {
                    let unknown = |branch: &BranchName| (branch.clone(), RemoteBranch::Unknown);
                    let branches = branches.iter().map(unknown).collect();
                    let problem = error.remote_port("fetch from the remote").chain();
                    return RemoteView { branches, problem: Some(problem) };
                }
            }
        }
    }

    fn try_fetch(
        &self,
        branches: &BTreeSet<BranchName>,
        deadline: Deadline,
    ) -> Result<BTreeMap<BranchName, RemoteBranch>, GitError> {
        if branches.is_empty() {
            return Ok(BTreeMap::new());
        }
        let names = branches.iter().map(BranchName::full_ref).collect();
        let present = self.look_at_remote(&names, false, deadline)?;
        let (found, gone): (Vec<_>, Vec<_>) =
            branches.iter().partition(|branch| present.contains_key(&branch.full_ref()));
        // First, since a branch `x` that is gone stands in the way of a new `x/y`.
        self.forget_fetched(&gone)?;
        if !found.is_empty() {
            let url = &self.remote()?.fetch_url;
            let wanted = found
                .iter()
                .map(|branch| format!("+{}:{}\n", branch.full_ref(), branch.fetched_ref()))
                .collect::<Vec<_>>()
                .concat();
            self.network(url, deadline.left(Duration::MAX))?
                .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune"])
                .args(["--no-recurse-submodules", "--no-auto-maintenance", "--stdin", "--", url])
                .stdin(wanted)
                .output()?;
        }
        let mut view = BTreeMap::new();
        for branch in found {
            let at = match self.commit_at(&branch.fetched_ref())? {
                Some(commit) => RemoteBranch::At(commit),
                None => RemoteBranch::Unknown,
            };
            view.insert(branch.clone(), at);
        }
        view.extend(gone.into_iter().map(|branch| (branch.clone(), RemoteBranch::Absent)));
        Ok(view)
    }

    fn forget_fetched(&self, branches: &[&BranchName]) -> Result<(), GitError> {
        let mut stale = Vec::new();
        for branch in branches {
            if self.commit_at(&branch.fetched_ref())?.is_some() {
                stale.push(branch.fetched_ref());
            }
        }
        if stale.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let commands =
            stale.iter().map(|name| format!("delete {name}\0\0")).collect::<Vec<_>>().concat();
        self.common().args(["update-ref", "-z", "--stdin"]).stdin(commands).output().map(drop)
    }

    /// Pushes `commit` to a branch that is known to stand at `expected`, and that loses nothing by it.
    pub(crate) fn push_branch(
        &self,
        branch: &BranchName,
        commit: &CommitId,
        expected: Option<&CommitId>,
    ) -> Result<Push, GitError> {
        let name = branch.full_ref();
        let deadline = Deadline::within(WHOLE_PUSH_LIMIT);
        if let Some(expected) = expected
            && self.ancestry(expected, commit) == Answer::No
        {
            let found = self.look_at_remote(&BTreeSet::from([name.clone()]), true, deadline)?;
            return if found.get(&name) == Some(expected) {
                let (commit, expected) = (commit.clone(), expected.clone());
                Err(GitError::WouldDropWork { branch: branch.clone(), commit, expected })
            } else {
                Ok(Push::Moved)
            };
        }
        self.push_ref(&name, commit, expected, deadline)
    }

    /// Pushes `commit` to the full ref `name`, which is known to stand at `expected`; never over anything else.
    pub(crate) fn push_ref(
        &self,
        name: &str,
        commit: &CommitId,
        expected: Option<&CommitId>,
        deadline: Deadline,
    ) -> Result<Push, GitError> {
        let expected = expected.map(CommitId::as_str).unwrap_or_default();
        let (call, finished) =
            self.push_call(&format!("{commit}:{name}"), &format!("{name}:{expected}"), deadline)?;
        if finished.is_success() {
            return Ok(Push::Pushed);
        }
        let status = PushStatus::read(&finished.stdout);
        if status == Some(PushStatus::Moved) {
            return Ok(Push::Moved);
        }
        // It may have happened all the same: an answer can get lost.
        let names = BTreeSet::from([name.to_owned()]);
        match self.look_at_remote(&names, true, deadline) {
            Ok(found) if found.get(name) == Some(commit) => Ok(Push::Pushed),
            Ok(found) if found.get(name).map(CommitId::as_str).unwrap_or_default() != expected => {
                Ok(Push::Moved)
            }
            Ok(_) | Err(_) => Err(self.push_refusal(name, status, &call, &finished)),
        }
    }

    /// Pushes a kept ref of ours to the same name on the remote.
    pub(crate) fn back_up(&self, name: &str, deadline: Deadline) -> Result<(), GitError> {
        let name = of_ours(name)?;
        let Some(commit) = self.commit_at(name)? else {
            return Err(GitError::ForeignRef { name: name.to_owned() });
        };
        let names = BTreeSet::from([name.to_owned()]);
        let expected = self.look_at_remote(&names, true, deadline)?.remove(name);
        match self.push_ref(name, &commit, expected.as_ref(), deadline)? {
            Push::Pushed => Ok(()),
            Push::Moved => {
                let url = shown_url(&self.remote()?.push_url);
                let why = "it changed while we pushed".to_owned();
                Err(GitError::RemoteRefused { url, name: name.to_owned(), why })
            }
        }
    }

    /// Brings the object of a remote ref here, without a ref of its own.
    pub(crate) fn fetch_object(&self, name: &str, limit: Duration) -> Result<(), GitError> {
        let url = &self.remote()?.fetch_url;
        self.network(url, limit.min(LOOK_LIMIT))?
            .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune"])
            .args(["--no-recurse-submodules", "--no-auto-maintenance", "--", url, name])
            .output()
            .map(drop)
    }

    fn push_refusal(
        &self,
        name: &str,
        status: Option<PushStatus>,
        call: &GitCall,
        finished: &Finished,
    ) -> GitError {
        match (status, self.remote()) {
            (Some(PushStatus::Refused(summary)), Ok(remote)) => {
                let url = shown_url(&remote.push_url);
                let said = dispatch_proc::brief(&finished.stderr_text(), 500);
                GitError::RemoteRefused {
                    url,
                    name: name.to_owned(),
                    why: format!("{summary}: {said} (git {})", finished.ended),
                }
            }
            _ => call.refusal(finished),
        }
    }

    fn push_call(
        &self,
        refspec: &str,
        lease: &str,
        deadline: Deadline,
    ) -> Result<(GitCall, Finished), GitError> {
        let url = &self.remote()?.push_url;
        let call = self
            .network(url, deadline.left(PUSH_LIMIT))?
            .args(["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"])
            .args(["--no-recurse-submodules"])
            .arg(format!("--force-with-lease={lease}"))
            .args(["--", url, refspec]);
        let finished = call.run()?;
        Ok((call, finished))
    }

    /// Deletes a remote branch that stands at `expected`.
    pub(crate) fn delete_branch(
        &self,
        branch: &BranchName,
        expected: &CommitId,
        deadline: Deadline,
    ) -> Result<Deletion, GitError> {
        let name = branch.full_ref();
        let (call, finished) =
            self.push_call(&format!(":{name}"), &format!("{name}:{expected}"), deadline)?;
        let names = BTreeSet::from([name.clone()]);
        if finished.is_success() {
            return Ok(Deletion::Deleted);
        }
        let found = self.look_at_remote(&names, true, deadline)?;
        match (found.get(&name), finished.ended) {
            (None, _) => Ok(Deletion::Gone),
            (Some(at), _) if at != expected => Ok(Deletion::Moved),
            (Some(_), Ended::Exit(_) | Ended::Signal(_) | Ended::TimedOut | Ended::Stopped) => {
                Err(self.push_refusal(&name, PushStatus::read(&finished.stdout), &call, &finished))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("https://github.com/a/b", "https")]
    #[test_case("git@github.com:a/b.git", "ssh")]
    #[test_case("ssh://git@host/a", "ssh")]
    #[test_case("git+ssh://host/a", "ssh")]
    #[test_case("/srv/a.git", "file")]
    #[test_case("../a:b.git", "file"; "a colon behind a slash")]
    #[test_case("file:///srv/a", "file"; "file address")]
    #[test_case("ext::sh -c evil", "ext")]
    fn v1_1_the_protocol_is_told_as_git_tells_it(url: &str, expected: &str) {
        assert_eq!(scheme(url), expected);
    }

    #[test]
    fn v1_5_an_address_is_shown_without_credentials() {
        assert_eq!(shown_url("https://me:p%40ss@host/a@b"), "https://host/a@b");
        assert_eq!(shown_url("https://host/a@b"), "https://host/a@b");
        assert_eq!(shown_url("git@github.com:a/b"), "git@github.com:a/b");
    }

    #[test]
    fn a_pushed_ref_is_judged_by_its_status_line() {
        let refused = "[remote rejected] (pre-receive hook declined)";
        for (line, expected) in [
            ("!\ta:refs/heads/x\t[rejected] (stale info)", Some(PushStatus::Moved)),
            (&format!("!\ta:refs/heads/x\t{refused}"), Some(PushStatus::Refused(refused.into()))),
            ("!\ta:refs/heads/x\t[remote failure] (remote failed to report status)", None),
            ("*\ta:refs/heads/x\t[new branch]", Some(PushStatus::Done)),
            ("=\ta:refs/heads/x\t[up to date]", Some(PushStatus::Done)),
            ("error: no status line", None),
        ] {
            let stdout = format!("To /r\n{line}\nDone\n");
            assert_eq!(PushStatus::read(stdout.as_bytes()), expected, "{line}");
        }
    }
}
