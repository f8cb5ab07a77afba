//! What the forge knows: its pull requests, and the bare repository behind them.

use camino::{Utf8Path, Utf8PathBuf};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::programs;

/// The most characters a body may have.
const BODY_MAX: usize = 65_536;
/// The most characters a title may have.
const TITLE_MAX: usize = 256;

/// Whether a pull request is open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PullState {
    /// Open.
    Open,
    /// Closed without a merge.
    Closed,
    /// Merged.
    Merged,
}

impl PullState {
    pub(super) fn graphql(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Closed => "CLOSED",
            Self::Merged => "MERGED",
        }
    }
}

/// How a pull request is merged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Merge {
    /// One new commit with all changes.
    Squash,
    /// A merge commit.
    Commit,
    /// The commits again, on top of the base.
    Rebase,
}

/// What a review says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReviewState {
    /// Approved.
    Approved,
    /// Changes are requested.
    ChangesRequested,
    /// Only remarks.
    Commented,
    /// Taken back by somebody.
    Dismissed,
}

impl ReviewState {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::Commented => "COMMENTED",
            Self::Dismissed => "DISMISSED",
        }
    }
}

/// A review of a pull request.
#[derive(Clone, Debug)]
pub struct Review {
    /// Counts from 1 in its pull request.
    pub id: u64,
    /// Who reviewed.
    pub author: String,
    /// What it says.
    pub state: ReviewState,
    /// Its text.
    pub body: String,
    /// The head it was made on.
    pub commit: String,
    /// When it was sent, as the forge writes times.
    pub submitted_at: String,
}

/// A remark below a pull request.
#[derive(Clone, Debug)]
pub struct IssueComment {
    /// Who wrote it.
    pub author: String,
    /// Its text.
    pub body: String,
    /// When it was written, as the forge writes times.
    pub created_at: String,
}

/// A pull request.
#[derive(Clone, Debug)]
pub struct PullRequest {
    /// Its number, from 1.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Whether it is open.
    pub state: PullState,
    /// The branch to merge.
    pub head: String,
    /// Who owns the repository of that branch.
    pub head_owner: String,
    /// The commit of that branch; kept from the last moment it was open.
    pub head_oid: String,
    /// The branch to merge into.
    pub base: String,
    /// Whether it is a draft.
    pub draft: bool,
    /// Who opened it.
    pub author: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Who is asked to review.
    pub reviewers: Vec<String>,
    /// Its reviews, oldest first.
    pub reviews: Vec<Review>,
    /// The remarks below it.
    pub comments: Vec<IssueComment>,
    /// When it was opened.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// When it was closed or merged.
    pub closed_at: Option<String>,
    /// When it was merged.
    pub merged_at: Option<String>,
    /// The commit the merge made.
    pub merge_commit: Option<String>,
}

impl PullRequest {
    pub(super) fn close(&mut self) {
        if self.state == PullState::Open {
            self.state = PullState::Closed;
            self.closed_at = Some(now());
            self.updated_at = now();
        }
    }

    pub(super) fn add_review(&mut self, author: &str, state: ReviewState, body: &str) {
        let id = u64::try_from(self.reviews.len()).unwrap() + 1;
        let (commit, submitted_at) = (self.head_oid.clone(), now());
        let (author, body) = (author.to_owned(), body.to_owned());
        self.reviews.push(Review { id, author, state, body, commit, submitted_at });
        self.updated_at = now();
    }

    /// Whether a person's last word is a request for changes or an approval.
    pub(super) fn review_decision(&self) -> Option<ReviewState> {
        let said = |review: &&Review| review.state != ReviewState::Commented;
        let last = self.reviews.iter().rev().find(said)?;
        (last.state != ReviewState::Dismissed).then_some(last.state)
    }
}

/// Who is who, and what the repository is set to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who the token belongs to.
    pub login: String,
    /// The only token accepted; any but an empty one when `None`.
    pub token: Option<String>,
    /// Who may be asked for a review.
    pub collaborators: Vec<String>,
    /// The repository's default branch.
    pub default_branch: String,
}

pub(super) struct State {
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) pulls: Vec<PullRequest>,
    pub(super) store: Store,
}

impl State {
    pub(super) fn new(slug: &str, store: Store) -> Self {
        let (owner, name) = slug.split_once('/').expect("a slug is `owner/name`");
        let settings = Settings {
            login: "octo-bot".to_owned(),
            token: None,
            collaborators: ["octo-bot", "octocat", "alice"].map(str::to_owned).into(),
            default_branch: "main".to_owned(),
        };
        Self { owner: owner.to_owned(), name: name.to_owned(), settings, pulls: Vec::new(), store }
    }

    pub(super) fn slug(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    pub(super) fn url(&self, pull: &PullRequest) -> String {
        format!("https://github.com/{}/pull/{}", self.slug(), pull.number)
    }

    /// Follows the branches: an open pull request has its branch's commit, and ends with its branch.
    pub(super) fn refresh(&mut self) {
        for pull in &mut self.pulls {
            if pull.state != PullState::Open || pull.head_owner != self.owner {
                continue;
            }
            match self.store.branch(&pull.head) {
                Some(commit) => pull.head_oid = commit,
                None => pull.close(),
            }
        }
    }

    /// Opens a pull request, with the forge's own checks and words.
    pub(super) fn create(
        &mut self,
        author: &str,
        head: &str,
        base: &str,
        title: &str,
        body: &str,
        draft: bool,
    ) -> Result<u64, String> {
        let head = head.strip_prefix(&format!("{}:", self.owner)).unwrap_or(head);
        if title.trim().is_empty() {
            return Err("Title can't be blank".to_owned());
        }
        let (head_oid, base_oid) = (self.store.branch(head), self.store.branch(base));
        let mut refused = Vec::new();
        if head_oid.is_none() {
            refused.push("Head sha can't be blank".to_owned());
        }
        if base_oid.is_none() {
            refused.push("Base sha can't be blank".to_owned());
        }
        let ahead = match (&base_oid, &head_oid) {
            (Some(base), Some(head)) => !self.store.between(base, head).is_empty(),
            _ => false,
        };
        if !ahead {
            refused.push(format!("No commits between {base} and {head}"));
        }
        if head_oid.is_none() {
            refused.push("Head ref must be a branch".to_owned());
        }
        if base_oid.is_none() {
            refused.push("Base ref must be a branch".to_owned());
        }
        if !refused.is_empty() {
            return Err(refused.join(", "));
        }
        let same = |pull: &PullRequest| {
            pull.state == PullState::Open
                && pull.head_owner == self.owner
                && (pull.head.as_str(), pull.base.as_str()) == (head, base)
        };
        if self.pulls.iter().any(same) {
            return Err(format!("A pull request already exists for {}:{head}.", self.owner));
        }
        check_texts(title, body)?;
        let owner = self.owner.clone();
        let head_oid = head_oid.unwrap_or_default();
        let number = self.push(author, (&owner, head, &head_oid), base, title);
        let pull = self.pulls.last_mut().expect("it was just pushed");
        body.clone_into(&mut pull.body);
        pull.draft = draft;
        Ok(number)
    }

    pub(super) fn create_from_fork(
        &mut self,
        author: &str,
        head: &str,
        base: &str,
        title: &str,
    ) -> u64 {
        let oid = "f0".repeat(20);
        self.push(author, (author, head, &oid), base, title)
    }

    fn push(&mut self, author: &str, head: (&str, &str, &str), base: &str, title: &str) -> u64 {
        let number = u64::try_from(self.pulls.len()).unwrap() + 1;
        let (head_owner, head, head_oid) = head;
        self.pulls.push(PullRequest {
            number,
            title: title.to_owned(),
            body: String::new(),
            state: PullState::Open,
            head: head.to_owned(),
            head_owner: head_owner.to_owned(),
            head_oid: head_oid.to_owned(),
            base: base.to_owned(),
            draft: false,
            author: author.to_owned(),
            labels: Vec::new(),
            reviewers: Vec::new(),
            reviews: Vec::new(),
            comments: Vec::new(),
            created_at: now(),
            updated_at: now(),
            closed_at: None,
            merged_at: None,
            merge_commit: None,
        });
        number
    }

    pub(super) fn merge(&mut self, number: u64, how: Merge) -> Result<String, String> {
        self.refresh();
        let slug = self.slug();
        let pull = self.pulls.iter_mut().find(|pull| pull.number == number).ok_or("Not Found")?;
        if pull.state != PullState::Open {
            return Err(format!("pull request {slug}#{number} is not open"));
        }
        let message = match how {
            Merge::Squash => format!("{} (#{number})", pull.title),
            Merge::Commit | Merge::Rebase => {
                format!("Merge pull request #{number} from {}/{}", pull.head_owner, pull.head)
            }
        };
        let commit = self.store.merge(&pull.base, &pull.head_oid, how, &message)?;
        pull.state = PullState::Merged;
        pull.merged_at = Some(now());
        pull.closed_at.clone_from(&pull.merged_at);
        pull.updated_at = now();
        pull.merge_commit = Some(commit.clone());
        Ok(commit)
    }

    /// Asks for reviews, with the forge's own checks and words.
    pub(super) fn request_reviews(&mut self, number: u64, logins: &[String]) -> Result<(), String> {
        let slug = self.slug();
        let Some(pull) = self.pulls.iter_mut().find(|pull| pull.number == number) else {
            return Err("Not Found".to_owned());
        };
        if logins.contains(&pull.author) {
            return Err("Review cannot be requested from pull request author.".to_owned());
        }
        if logins.iter().any(|login| !self.settings.collaborators.contains(login)) {
            return Err(format!(
                "Reviews may only be requested from collaborators. One or more of the users or teams you specified is \
                 not a collaborator of the {slug} repository."
            ));
        }
        for login in logins {
            if !pull.reviewers.contains(login) {
                pull.reviewers.push(login.clone());
            }
        }
        pull.updated_at = now();
        Ok(())
    }
}

/// The forge's limits on texts; it counts characters.
pub(super) fn check_texts(title: &str, body: &str) -> Result<(), String> {
    for (what, text, limit) in [("Title", title, TITLE_MAX), ("Body", body, BODY_MAX)] {
        if text.chars().count() > limit {
            return Err(format!("{what} is too long (maximum is {limit} characters)"));
        }
    }
    Ok(())
}

pub(super) fn now() -> String {
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).expect("zero is a nanosecond");
    now.format(&Rfc3339).expect("a moment of this era")
}

/// The bare repository.
pub(super) struct Store {
    git: Utf8PathBuf,
    dir: Utf8PathBuf,
    home: Utf8PathBuf,
}

impl Store {
    pub(super) fn new(git: &Utf8Path, dir: &Utf8Path, home: &Utf8Path) -> Self {
        Self { git: git.to_owned(), dir: dir.to_owned(), home: home.to_owned() }
    }

    fn git(&self, args: &[&str]) -> Option<String> {
        let mut command = programs::command(&self.git, &self.home);
        command.args(args).current_dir(&self.dir);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "GitHub");
            command.env(format!("GIT_{role}_EMAIL"), "noreply@github.com");
        }
        let output = programs::output(&mut command);
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        output.status.success().then_some(text)
    }

    /// The commit of a branch.
    pub(super) fn branch(&self, name: &str) -> Option<String> {
        self.git(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{name}^{{commit}}")])
    }

    /// Removes a branch; says whether it was there.
    pub(super) fn remove_branch(&self, name: &str) -> bool {
        self.branch(name).is_some()
            && self.git(&["update-ref", "-d", &format!("refs/heads/{name}")]).is_some()
    }

    /// The commits of `head` that are not in `base`, oldest first.
    pub(super) fn between(&self, base: &str, head: &str) -> Vec<String> {
        let range = format!("{base}..{head}");
        let listed = self.git(&["rev-list", "--reverse", &range]).unwrap_or_default();
        listed.lines().map(str::to_owned).collect()
    }

    fn merge(&self, base: &str, head: &str, how: Merge, message: &str) -> Result<String, String> {
        let name = format!("refs/heads/{base}");
        let base = self.branch(base).ok_or("Base ref must be a branch")?;
        if how == Merge::Rebase {
            return self.rebase(&name, &base, head);
        }
        let tree = self.git(&["merge-tree", "--write-tree", &base, head]);
        let tree = tree.ok_or("the merge commit cannot be cleanly created")?;
        let mut args = vec!["commit-tree", &tree, "-p", &base];
        match how {
            Merge::Squash | Merge::Rebase => {}
            Merge::Commit => args.extend(["-p", head]),
        }
        args.extend(["-m", message]);
        let commit = self.git(&args).ok_or("the merge commit could not be made")?;
        self.git(&["update-ref", &name, &commit, &base])
            .ok_or("the base branch moved meanwhile")?;
        Ok(commit)
    }

    /// Rebases in a worktree that is there for the purpose.
    fn rebase(&self, name: &str, base: &str, head: &str) -> Result<String, String> {
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let dir =
            Utf8Path::from_path(scratch.path()).ok_or("a temporary folder is UTF-8")?.join("tree");
        self.git(&["worktree", "add", "--quiet", "--detach", dir.as_str(), head])
            .ok_or("the head could not be checked out")?;
        let rebased = self.git(&["-C", dir.as_str(), "rebase", "--quiet", "--no-ff", base]);
        let commit = self.git(&["-C", dir.as_str(), "rev-parse", "HEAD"]);
        self.git(&["worktree", "remove", "--force", dir.as_str()]);
        let commit = rebased.and(commit).ok_or("the commits could not be rebased")?;
        self.git(&["update-ref", name, &commit, base]).ok_or("the base branch moved meanwhile")?;
        Ok(commit)
    }
}
