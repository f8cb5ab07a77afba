//! A git remote without pull requests (C9.5).

use std::collections::BTreeMap;
use std::time::Duration;

use dispatch_core::branch::BranchName;
use dispatch_core::record::RecordedProposal;
use dispatch_engine::ports::{
    Forge, ForgeKind, NewPullRequest, PortError, ProposalState, PullRequest,
};

use super::ForgeError;

/// The forge that is none: the pushed branch is the proposal, and git itself tells whether it was merged.
#[derive(Debug, Clone, Copy, Default)]
pub struct GitForge;

fn none_here(what: &'static str) -> PortError {
    PortError::new(format!("ask the forge for {what}"), ForgeError::NoneHere { what })
}

impl Forge for GitForge {
    fn kind(&self) -> ForgeKind {
        ForgeKind::Git
    }

    fn missing(&self) -> Option<String> {
        None
    }

    fn proposals(
        &self,
        _recorded: &[RecordedProposal],
        _limit: Duration,
    ) -> Result<BTreeMap<u64, ProposalState>, PortError> {
        Ok(BTreeMap::new())
    }

    fn find_open(
        &self,
        _branch: &BranchName,
        _base: &BranchName,
    ) -> Result<Option<PullRequest>, PortError> {
        Ok(None)
    }

    fn create(&self, _new: &NewPullRequest) -> Result<PullRequest, PortError> {
        Err(none_here("pull requests"))
    }

    fn update_body(&self, _number: u64, _body: &str) -> Result<(), PortError> {
        Err(none_here("pull requests"))
    }

    fn label(&self, _number: u64, _label: &str) -> Result<(), PortError> {
        Err(none_here("labels"))
    }

    fn request_review(&self, _number: u64, _reviewer: &str) -> Result<(), PortError> {
        Err(none_here("reviewers"))
    }
}
