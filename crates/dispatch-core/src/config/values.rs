//! The closed sets and small values of the configuration.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A length of time as a person writes it, in minutes; fractions are allowed.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Minutes(f64);

impl Minutes {
    /// So many minutes.
    pub const fn new(minutes: f64) -> Self {
        Self(minutes)
    }

    /// The minutes.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The duration; validation keeps it positive and below a year.
    pub fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0 * 60.0).unwrap_or(Duration::ZERO)
    }
}

closed_set! {
    /// How hard the agent thinks.
    Effort, "effort" {
        Low = "low",
        Medium = "medium",
        High = "high",
        XHigh = "xhigh",
        Max = "max",
    }
}

closed_set! {
    /// A settings file that the agent may be told to load. The click-approval overlay is never one (P5.1).
    SettingSource, "settings source" {
        /// The person's own settings.
        User = "user",
        /// The repository's settings.
        Project = "project",
    }
}

closed_set! {
    /// What to do when a parent's integration branch is missing.
    ParentBranch, "parent branch policy" {
        /// Make it from its base when its absence is confirmed.
        Create = "create",
        /// Wait for a person to make it.
        Require = "require",
    }
}

closed_set! {
    /// Who writes the board.
    BoardWriter, "board writer" {
        /// Our own writer, under the board's lock.
        Native = "native",
        /// The `backlog` program, except for statuses.
        Cli = "cli",
    }
}

closed_set! {
    /// Whether one dispatcher per remote is enforced.
    Owner, "ownership" {
        /// By a lease on the remote.
        Lease = "lease",
        /// Not at all.
        Off = "off",
    }
}

closed_set! {
    /// Where pull requests are made.
    ForgeKind, "forge" {
        /// GitHub, through `gh`.
        Github = "github",
        /// No forge: a pushed branch is the proposal.
        Git = "git",
    }
}

closed_set! {
    /// How much confinement must be in force (W3.3).
    ConfinementMode, "confinement mode" {
        /// All of it.
        Required = "required",
        /// What the kernel has.
        Partial = "partial",
        /// None.
        Off = "off",
    }
}

closed_set! {
    /// What a confined process may read.
    ReadPolicy, "read policy" {
        /// Only what is listed.
        Allowlist = "allowlist",
        /// Everything.
        Open = "open",
    }
}

closed_set! {
    /// Whether a confined process may use Unix sockets.
    SocketPolicy, "socket policy" {
        Deny = "deny",
        Allow = "allow",
    }
}

closed_set! {
    /// Where the checks run (C5.2).
    VerificationTree, "verification tree" {
        /// In a second worktree that no worker can write to.
        Fresh = "fresh",
        /// In the slot itself; the pull request says so.
        Slot = "slot",
    }
}

closed_set! {
    /// What a prompt hook is asked (D8.4).
    HookKind, "prompt hook kind" {
        /// Once, with the task text.
        Prompt = "prompt",
        /// Once per declared file.
        File = "file",
    }
}

closed_set! {
    /// How a fold is reviewed in the ledger.
    LedgerReview, "ledger review" {
        Solo = "solo",
        Reviewed = "reviewed",
        Council = "council",
    }
}

closed_set! {
    /// The language of texts on the board and in pull requests.
    Language, "language" {
        En = "en",
        Es = "es",
    }
}

macro_rules! default_member {
    ($($name:ident::$variant:ident),+ $(,)?) => {
        $(impl Default for $name {
            fn default() -> Self {
                Self::$variant
            }
        })+
    };
}

default_member! {
    BoardWriter::Native,
    ConfinementMode::Required,
    ReadPolicy::Allowlist,
    SocketPolicy::Deny,
    LedgerReview::Solo,
    Language::En,
}
