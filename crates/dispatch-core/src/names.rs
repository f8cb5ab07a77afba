//! The closed sets of reasons, causes, outcomes and steps.

use thiserror::Error;

/// A text that is not a member of one of the closed sets.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{found}` is not a {what}")]
pub struct UnknownName {
    /// The set it was looked up in.
    pub what: &'static str,
    /// The text.
    pub found: String,
}

closed_set! {
    /// Why a task is blocked: a person has to do something about the task.
    BlockReason, "block reason" {
        MissingTriage = "missing-triage",
        ConflictingTriage = "conflicting-triage",
        MissingTestCommand = "missing-test-command",
        InvalidTestCommand = "invalid-test-command",
        MissingFiles = "missing-files",
        InvalidFiles = "invalid-files",
        MissingAcceptanceCriteria = "missing-acceptance-criteria",
        PromptTooLarge = "prompt-too-large",
        PermissionConflict = "permission-conflict",
        LaunchRefused = "launch-refused",
        ComplexOnLocal = "complex-on-local",
        TierNotAllowedOnLane = "tier-not-allowed-on-lane",
        ForbiddenPath = "forbidden-path",
        UnknownDependency = "unknown-dependency",
        DependencyCycle = "dependency-cycle",
        AttemptsExhausted = "attempts-exhausted",
        ProvisionChanged = "provision-changed",
        BoardTampered = "board-tampered",
        ScopeCheckFailed = "scope-check-failed",
        NoChanges = "no-changes",
        ChecksFailed = "checks-failed",
        TreeChangedByChecks = "tree-changed-by-checks",
        GeneratedFilesFailed = "generated-files-failed",
        ReviewChangesRequested = "review-changes-requested",
        ReviewNoVerdict = "review-no-verdict",
        ReviewDiffUnreadable = "review-diff-unreadable",
        ReviewDiffTooLarge = "review-diff-too-large",
        AcceptanceUnmet = "acceptance-unmet",
        NeedsGuidance = "needs-guidance",
        TurnsExhausted = "turns-exhausted",
        BudgetExceeded = "budget-exceeded",
        Timeout = "timeout",
        Stalled = "stalled",
        PromptTooLong = "prompt-too-long",
        Refused = "refused",
        ApiError = "api-error",
        ExecutionError = "execution-error",
        PromptSwallowed = "prompt-swallowed",
        EmptyAnswer = "empty-answer",
        UsageError = "usage-error",
        Crash = "crash",
        WorkerLost = "worker-lost",
        SupervisorLost = "supervisor-lost",
        WorkHeld = "work-held",
        Orphan = "orphan",
        PrClosed = "pr-closed",
        PrChangesRequested = "pr-changes-requested",
        MergedWithLaterCommits = "merged-with-later-commits",
        DispatchFailed = "dispatch-failed",
        BoardCheckFailed = "board-check-failed",
        FormatFailed = "format-failed",
        FreezeFailed = "freeze-failed",
        ReviewerFailed = "reviewer-failed",
        AcceptanceFailed = "acceptance-failed",
        OpenPrFailed = "open-pr-failed",
        SaveWorkFailed = "save-work-failed",
        BlockFailed = "block-failed",
        RequeueFailed = "requeue-failed",
        ReleaseSlotFailed = "release-slot-failed",
        RecomputeParentsFailed = "recompute-parents-failed",
        DrainFailed = "drain-failed",
    }
}

closed_set! {
    /// Why a task stays `Queued` for now: nothing is wrong with the task.
    WaitReason, "wait reason" {
        PermissionConflict = "permission-conflict",
        DependencyNotDone = "dependency-not-done",
        ParentBranchMissing = "parent-branch-missing",
        RemoteUnknown = "remote-unknown",
        BoardIncomplete = "board-incomplete",
        LaneAtCapacity = "lane-at-capacity",
        NoFreeSlot = "no-free-slot",
        LanePaused = "lane-paused",
        ClaimsOverlap = "claims-overlap",
        SettingsUnreadable = "settings-unreadable",
        TooManyFaults = "too-many-faults",
    }
}

closed_set! {
    /// Why a pass selects no task at all.
    SelectionOff, "reason for selecting nothing" {
        Callback = "callback",
        Sentinel = "sentinel",
        Flag = "flag",
        BoardElsewhere = "board-elsewhere",
        NotOwner = "not-owner",
        ConfigChanged = "config-changed",
    }
}

closed_set! {
    /// Why a lane is paused: a fault of the machine or of an account.
    PauseCause, "pause cause" {
        UsageLimit = "usage-limit",
        LoginExpired = "login-expired",
        Overloaded = "overloaded",
        LocalModelNotLoaded = "local-model-not-loaded",
        LaunchRefused = "launch-refused",
        SurfaceMismatch = "surface-mismatch",
        ProvisionFailed = "provision-failed",
        DiskFull = "disk-full",
        ForgeUnreachable = "forge-unreachable",
        RemoteUnreachable = "remote-unreachable",
        ReviewerUnavailable = "reviewer-unavailable",
        ConfinementMissing = "confinement-missing",
        DenyListTooLong = "deny-list-too-long",
        ContractMissing = "contract-missing",
        ByHand = "by-hand",
    }
}

/// Why a task goes back to `Queued` without using up an attempt.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum RequeueReason {
    /// A person edited the protected part of the task while it was worked on.
    TaskEdited,
    /// The supervisor was shut down.
    Interrupted,
    /// The task's branch moved on the remote.
    RemoteMoved,
    /// The supervisor found its worker gone.
    WorkerLost,
    /// A sweep found the supervisor gone.
    SupervisorLost,
    /// A file in the slot has links outside it.
    HardLinkOutside,
    /// The task could not be read.
    BoardUnreadable,
    /// Preparing the slot's dependencies failed (D6.7).
    ProvisionFailed,
    /// The slot's settings differ from those that were judged (P5.7).
    SettingsDrift,
    /// A fault of the machine or of an account, met after the claim.
    Paused(PauseCause),
}

impl RequeueReason {
    /// The one text of this reason.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TaskEdited => "task-edited",
            Self::Interrupted => "interrupted",
            Self::RemoteMoved => "remote-moved",
            Self::WorkerLost => "worker-lost",
            Self::SupervisorLost => "supervisor-lost",
            Self::HardLinkOutside => "hard-link-outside",
            Self::BoardUnreadable => "board-unreadable",
            Self::ProvisionFailed => "provision-failed",
            Self::SettingsDrift => "settings-drift",
            Self::Paused(cause) => cause.as_str(),
        }
    }
}

impl std::fmt::Display for RequeueReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

closed_set! {
    /// How a worker ended (D10).
    Outcome, "outcome" {
        Success = "success",
        NeedsGuidance = "needs-guidance",
        TurnsExhausted = "turns-exhausted",
        BudgetExceeded = "budget-exceeded",
        Timeout = "timeout",
        Stalled = "stalled",
        Cancelled = "cancelled",
        Interrupted = "interrupted",
        SurfaceMismatch = "surface-mismatch",
        UsageError = "usage-error",
        Crash = "crash",
        UsageLimit = "usage-limit",
        LoginExpired = "login-expired",
        Overloaded = "overloaded",
        PromptTooLong = "prompt-too-long",
        Refused = "refused",
        ApiError = "api-error",
        ExecutionError = "execution-error",
        PromptSwallowed = "prompt-swallowed",
        EmptyAnswer = "empty-answer",
        SpawnFailed = "spawn-failed",
    }
}

/// What an outcome other than success means for the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeMeans {
    /// The success plan runs.
    Success,
    /// The task is the cause: it is blocked.
    Block(BlockReason),
    /// The machine or an account is the cause: the lane pauses, the task goes back.
    Pause(PauseCause),
    /// Somebody asked for it: the task goes where they said.
    Cancelled,
    /// We were shut down: the task goes back to `Queued`, uncounted.
    Interrupted,
}

impl Outcome {
    /// What follows from this outcome (D10, D11.1).
    pub const fn means(self) -> OutcomeMeans {
        match self {
            Self::Success => OutcomeMeans::Success,
            Self::NeedsGuidance => OutcomeMeans::Block(BlockReason::NeedsGuidance),
            Self::TurnsExhausted => OutcomeMeans::Block(BlockReason::TurnsExhausted),
            Self::BudgetExceeded => OutcomeMeans::Block(BlockReason::BudgetExceeded),
            Self::Timeout => OutcomeMeans::Block(BlockReason::Timeout),
            Self::Stalled => OutcomeMeans::Block(BlockReason::Stalled),
            Self::PromptTooLong => OutcomeMeans::Block(BlockReason::PromptTooLong),
            Self::Refused => OutcomeMeans::Block(BlockReason::Refused),
            Self::ApiError => OutcomeMeans::Block(BlockReason::ApiError),
            Self::ExecutionError => OutcomeMeans::Block(BlockReason::ExecutionError),
            Self::PromptSwallowed => OutcomeMeans::Block(BlockReason::PromptSwallowed),
            Self::EmptyAnswer => OutcomeMeans::Block(BlockReason::EmptyAnswer),
            Self::UsageError => OutcomeMeans::Block(BlockReason::UsageError),
            Self::Crash => OutcomeMeans::Block(BlockReason::Crash),
            Self::Cancelled => OutcomeMeans::Cancelled,
            Self::Interrupted => OutcomeMeans::Interrupted,
            Self::SurfaceMismatch => OutcomeMeans::Pause(PauseCause::SurfaceMismatch),
            Self::UsageLimit => OutcomeMeans::Pause(PauseCause::UsageLimit),
            Self::LoginExpired => OutcomeMeans::Pause(PauseCause::LoginExpired),
            Self::Overloaded => OutcomeMeans::Pause(PauseCause::Overloaded),
            Self::SpawnFailed => OutcomeMeans::Pause(PauseCause::LaunchRefused),
        }
    }
}

closed_set! {
    /// A step of the close.
    CloseStep, "close step" {
        BoardCheck = "board-check",
        Format = "format",
        GeneratedFiles = "generated-files",
        Freeze = "freeze",
        ScopeCheck = "scope-check",
        Checks = "checks",
        Reviewer = "reviewer",
        Acceptance = "acceptance",
        OpenPr = "open-pr",
        SaveWork = "save-work",
        Block = "block",
        Requeue = "requeue",
        ReleaseSlot = "release-slot",
        RecomputeParents = "recompute-parents",
        Drain = "drain",
    }
}

impl CloseStep {
    /// The reason `<step>-failed` of an error inside this step (C1.3).
    pub const fn failed(self) -> BlockReason {
        match self {
            Self::BoardCheck => BlockReason::BoardCheckFailed,
            Self::Format => BlockReason::FormatFailed,
            Self::GeneratedFiles => BlockReason::GeneratedFilesFailed,
            Self::Freeze => BlockReason::FreezeFailed,
            Self::ScopeCheck => BlockReason::ScopeCheckFailed,
            Self::Checks => BlockReason::ChecksFailed,
            Self::Reviewer => BlockReason::ReviewerFailed,
            Self::Acceptance => BlockReason::AcceptanceFailed,
            Self::OpenPr => BlockReason::OpenPrFailed,
            Self::SaveWork => BlockReason::SaveWorkFailed,
            Self::Block => BlockReason::BlockFailed,
            Self::Requeue => BlockReason::RequeueFailed,
            Self::ReleaseSlot => BlockReason::ReleaseSlotFailed,
            Self::RecomputeParents => BlockReason::RecomputeParentsFailed,
            Self::Drain => BlockReason::DrainFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_itself() {
        for reason in BlockReason::ALL {
            assert_eq!(reason.as_str().parse::<BlockReason>(), Ok(*reason));
        }
        for step in CloseStep::ALL {
            assert_eq!(serde_json::to_string(step).unwrap(), format!("\"{step}\""));
            assert_eq!(step.failed().as_str(), format!("{step}-failed"));
        }
    }

    #[test]
    fn a_name_outside_the_set_is_refused_with_the_set_named() {
        let error = "blocked".parse::<WaitReason>().unwrap_err();
        assert_eq!(error.to_string(), "`blocked` is not a wait reason");
    }
}
