//! Committing the board, in the person's own checkout (B6).

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::branch::BranchName;
use dispatch_core::object::CommitId;
use dispatch_engine::ports::{BoardCommit, BoardPlace};

use crate::git::{GitCall, Place, UNSET};
use crate::{GitError, Repository};

/// Files whose presence says that the checkout is in the middle of something.
const UNDER_WAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge is under way"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
    ("REVERT_HEAD", "a revert is under way"),
    ("rebase-merge", "a rebase is under way"),
    ("rebase-apply", "a rebase is under way"),
    ("BISECT_LOG", "a bisect is under way"),
    ("sequencer", "a sequence of commits is under way"),
];

/// The checkout that holds the board.
struct BoardCheckout<'a> {
    repository: &'a Repository,
    git_dir: Utf8PathBuf,
    top: Utf8PathBuf,
    /// The board's directory in it; empty when it is the checkout itself.
    board: Utf8PathBuf,
    /// Filters the configuration names and ours does not.
    silenced: BTreeSet<String>,
}

impl<'a> BoardCheckout<'a> {
    /// Finds it; none when the board is in no repository.
    fn find(repository: &'a Repository) -> Result<Option<Self>, GitError> {
        let dir = &repository.settings.board_dir;
        let asked = |what: &[&str]| {
            let call = repository.git.call(dir, &Place::Discovered);
            let call = call.args(["rev-parse", "--path-format=absolute"]).args(what);
            match call.line() {
                Ok(line) => Ok(Some(line)),
                Err(GitError::Refused { stderr, .. })
                    if stderr.contains("not a git repository") =>
                {
                    Ok(None)
                }
                Err(error) => Err(error),
            }
        };
        let (git_dir, top) = ("--git-dir", "--show-toplevel");
        let Some(both) = asked(&[git_dir, top])? else { return Ok(None) };
        let (git_dir, top) = match both.split_once('\n') {
            Some((git_dir, top)) if !top.contains('\n') => (git_dir.to_owned(), top.to_owned()),
            // A path of more than one line is told from the other only when each is asked for alone.
            _ => match (asked(&[git_dir])?, asked(&[top])?) {
                (Some(git_dir), Some(top)) => (git_dir, top),
                _ => return Ok(None),
            },
        };
        let (git_dir, top) = (Utf8PathBuf::from(git_dir), Utf8PathBuf::from(top));
        let real = dir.canonicalize_utf8().map_err(GitError::file("find", dir))?;
        let board = real.strip_prefix(&top).map(Utf8Path::to_owned).unwrap_or_default();
        Ok(Some(Self { repository, git_dir, top, board, silenced: BTreeSet::new() }))
    }

    /// The same for calls that read or write its files.
    fn with_filters_silenced(mut self) -> Result<Self, GitError> {
        self.silenced = self.filters_not_allowed()?;
        Ok(self)
    }

    fn filters_not_allowed(&self) -> Result<BTreeSet<String>, GitError> {
        let call = self.call().args([
            "config",
            "-z",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|smudge|process)$",
        ]);
        let text = call.optional(UNSET)?.unwrap_or_default();
        let name = |key: &str| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
        let mut filters: BTreeSet<String> = text.split('\0').filter_map(name).collect();
        filters.retain(|filter| !self.repository.settings.filters.contains(filter));
        Ok(filters)
    }

    /// A call on the checkout. Filters run on the person's files whatever the call is about, so those that may not
    /// run are emptied, by variables: on a command line a name with `=` in it would be another setting.
    fn call(&self) -> GitCall {
        let place = Place::Main { git_dir: &self.git_dir, work_tree: &self.top };
        let mut call = self.repository.git.call(&self.top, &place);
        let mut count = 0;
        for filter in &self.silenced {
            for (key, value) in
                [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
            {
                call = call
                    .env(&format!("GIT_CONFIG_KEY_{count}"), format!("filter.{filter}.{key}"))
                    .env(&format!("GIT_CONFIG_VALUE_{count}"), value);
                count += 1;
            }
        }
        call.env("GIT_CONFIG_COUNT", count.to_string())
    }

    fn branch(&self) -> Result<Option<String>, GitError> {
        let head = self.call().args(["symbolic-ref", "--quiet", "HEAD"]).optional(1)?;
        Ok(head.and_then(|head| head.trim().strip_prefix("refs/heads/").map(str::to_owned)))
    }

    fn head(&self) -> Result<Option<CommitId>, GitError> {
        let call = self.call().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let parse = |text: String| {
            CommitId::parse(text.trim()).map_err(|error| call.answer(error.to_string()))
        };
        call.optional(1)?.map(parse).transpose()
    }

    /// The branch that is checked out, and its commit.
    fn standing(&self) -> Result<(Option<String>, Option<CommitId>), GitError> {
        let call = self.call().args(["rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD"]);
        let finished = call.run()?;
        let text = String::from_utf8_lossy(&finished.stdout);
        match text.trim().split_once('\n') {
            Some((commit, head)) if finished.is_success() => {
                let commit =
                    CommitId::parse(commit).map_err(|error| call.answer(error.to_string()))?;
                Ok((head.strip_prefix("refs/heads/").map(str::to_owned), Some(commit)))
            }
            // It ends without an answer also where only one of the two has none, as before the first commit.
            _ => Ok((self.branch()?, self.head()?)),
        }
    }

    /// The board's files as pathspecs, without our attempts, and without the configuration: what it says bounds workers
    /// and names programs, so committing it is for whoever wrote it and can still take it back.
    fn pathspecs(&self) -> [String; 3] {
        let board = if self.board.as_str().is_empty() { "." } else { self.board.as_str() };
        let without = |folder: &str| format!(":(top,exclude,literal){}", self.board.join(folder));
        [format!(":(top,literal){board}"), without(".dispatch"), without("dispatch")]
    }

    /// Whether a branch seems to be checked out, and the board's files that differ from the last commit.
    fn changed(&self) -> Result<(bool, Vec<Vec<u8>>), GitError> {
        let call = self
            .call()
            .magic_pathspecs()
            .args(["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"])
            .args(["--ignore-submodules=all", "--branch", "--no-ahead-behind", "--"])
            .args(self.pathspecs());
        let bytes = call.output()?;
        let records = || bytes.split(|&byte| byte == 0);
        let on_branch = !records().any(|record| record == b"# branch.head (detached)");
        let path = |record: &[u8]| {
            let fields_before = match record.first()? {
                b'#' => return None,
                b'1' => 8,
                b'u' => 10,
                _ => 1,
            };
            record
                .splitn(fields_before + 1, |&byte| byte == b' ')
                .nth(fields_before)
                .map(<[u8]>::to_vec)
        };
        Ok((on_branch, records().filter_map(path).collect()))
    }

    /// A filter that would have to run on one of these files and may not.
    fn filter_needed(&self, paths: &[Vec<u8>]) -> Result<Option<String>, GitError> {
        if self.silenced.is_empty() {
            return Ok(None);
        }
        let call =
            self.call().args(["check-attr", "-z", "--stdin", "filter"]).stdin(paths.join(&0));
        let bytes = call.output()?;
        let values = bytes.split(|&byte| byte == 0).skip(2).step_by(3).map(String::from_utf8_lossy);
        Ok(values.map(std::borrow::Cow::into_owned).find(|value| self.silenced.contains(value)))
    }

    fn commit(&self, message: &str) -> Result<BoardCommit, GitError> {
        if let Some((_, why)) = UNDER_WAY.iter().find(|(file, _)| self.git_dir.join(file).exists())
        {
            return Ok(BoardCommit::Skipped((*why).to_owned()));
        }
        let (on_branch, changed) = self.changed()?;
        // A branch may be called `(detached)`.
        if !on_branch && self.branch()?.is_none() {
            return Ok(BoardCommit::Skipped("HEAD is detached".to_owned()));
        }
        if changed.is_empty() {
            return Ok(BoardCommit::Nothing);
        }
        if let Some(filter) = self.filter_needed(&changed)? {
            return Ok(BoardCommit::Skipped(format!(
                "its files go through the filter `{filter}`, which `vcs.filters` does not name"
            )));
        }
        // A commit of paths takes only files that git knows, so new ones are added first.
        let add = self.call().magic_pathspecs().args(["add", "--all", "--"]).args(self.pathspecs());
        let commit = self
            .repository
            .identified(self.call().magic_pathspecs())?
            .args(["commit", "--quiet", "--no-verify", "--no-edit", "--no-status"])
            .args(["--cleanup=whitespace", "--file=-", "--only", "--"])
            .args(self.pathspecs())
            .stdin(message);
        for call in [add, commit] {
            match call.output() {
                Ok(_) => {}
                Err(GitError::Refused { stderr, .. }) if stderr.contains(".lock': File exists") => {
                    let why = "its index is locked by another git process".to_owned();
                    return Ok(BoardCommit::Skipped(why));
                }
                Err(error) => return Err(error),
            }
        }
        match self.head()? {
            Some(commit) => Ok(BoardCommit::Committed(commit)),
            None => Ok(BoardCommit::Nothing),
        }
    }
}

impl Repository {
    /// Where the board's checkout stands.
    pub(crate) fn place_of_board(&self) -> Result<BoardPlace, GitError> {
        let Some(checkout) = BoardCheckout::find(self)? else {
            return Ok(BoardPlace { branch: None, head: None, repository: false });
        };
        let (branch, head) = checkout.standing()?;
        let branch = branch.and_then(|name| BranchName::parse(&name).ok());
        Ok(BoardPlace { branch, head, repository: true })
    }

    /// Commits changes under the board's directory, and nothing else.
    pub(crate) fn commit_of_board(&self, message: &str) -> Result<BoardCommit, GitError> {
        match BoardCheckout::find(self)? {
            Some(checkout) => checkout.with_filters_silenced()?.commit(message),
            None => Ok(BoardCommit::Nothing),
        }
    }
}
