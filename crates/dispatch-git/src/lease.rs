//! One dispatcher per remote: the ownership lease (D2.4).

use std::collections::BTreeSet;
use std::time::Duration;

use dispatch_core::object::{CommitId, TreeId};
use dispatch_engine::ports::{Lease, Push};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::deadline::Deadline;
use crate::{GitError, Ownership, Repository};

/// How long a lease lasts, in wall-clock time, since another machine reads it.
const LEASE: time::Duration = time::Duration::minutes(30);
/// A lease with more than this left is not renewed: every renewal is a push.
const FRESH: time::Duration = time::Duration::minutes(25);
/// On the remote, and our last look at it.
const OWNER_REF: &str = "refs/dispatch/owner";

/// What a lease says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claim {
    host: String,
    user: String,
    /// Tells two clones of one person apart.
    code_root: String,
    #[serde(with = "time::serde::rfc3339")]
    expires: OffsetDateTime,
}

impl Claim {
    fn is_of(&self, other: &Self) -> bool {
        (&self.host, &self.user, &self.code_root) == (&other.host, &other.user, &other.code_root)
    }

    fn as_other(&self) -> Lease {
        Lease::Other {
            who: format!("{}@{} ({})", self.user, self.host, self.code_root),
            until: self.expires.format(&Rfc3339).unwrap_or_default(),
        }
    }
}

impl Repository {
    /// Takes or renews the lease by compare-and-swap.
    pub(crate) fn take_lease(&self, now: OffsetDateTime, deadline: Deadline) -> Lease {
        match self.settings.ownership {
            Ownership::Off => Lease::Ours,
            Ownership::Lease => self.lease_on_remote(now, deadline).unwrap_or_else(|error| {
                match self.own_claim_left(now) {
                    Ok(true) => Lease::Ours,
                    Ok(false) | Err(_) => {
                        Lease::Unreachable(error.remote_port("ask who owns the remote").chain())
                    }
                }
            }),
        }
    }

    fn lease_on_remote(&self, now: OffsetDateTime, deadline: Deadline) -> Result<Lease, GitError> {
        let ours = self.claim(now + LEASE);
        let mut seen_other = None;
        // A second round sees who was quicker; a third would only lose again.
        for _ in 0..2 {
            let names = BTreeSet::from([OWNER_REF.to_owned()]);
            let at = self.look_at_remote(&names, true, deadline)?.remove(OWNER_REF);
            if let Some(at) = &at {
                let claim = self.claim_at(at, deadline)?;
                if claim.is_of(&ours) && claim.expires - now > FRESH {
                    self.point(OWNER_REF, at)?;
                    return Ok(Lease::Ours);
                }
                if !claim.is_of(&ours) && claim.expires > now {
                    return Ok(claim.as_other());
                }
                seen_other = Some(claim);
            }
            let commit = self.claim_commit(&ours)?;
            if self.push_ref(OWNER_REF, &commit, at.as_ref(), deadline)? == Push::Pushed {
                self.point(OWNER_REF, &commit)?;
                return Ok(Lease::Ours);
            }
        }
        Ok(seen_other.map_or_else(
            || Lease::Unreachable("the lease changes hands faster than it can be read".to_owned()),
            |claim| claim.as_other(),
        ))
    }

    fn claim(&self, expires: OffsetDateTime) -> Claim {
        let who = &self.settings.who;
        Claim {
            host: who.host.clone(),
            user: who.user.clone(),
            code_root: self.code_root().to_string(),
            expires: expires.replace_millisecond(0).unwrap_or(expires),
        }
    }

    fn claim_commit(&self, claim: &Claim) -> Result<CommitId, GitError> {
        let empty =
            self.plumbing()?.call(self).args(["hash-object", "-t", "tree", "-w", "--stdin"]);
        let tree =
            TreeId::parse(&empty.line()?).map_err(|error| empty.answer(error.to_string()))?;
        let text = serde_json::to_string(claim).unwrap_or_default();
        self.commit_tree(&tree, &[], &format!("The dispatcher of this remote\n\n{text}\n"))
    }

    /// What the lease at this commit says, fetched if need be.
    fn claim_at(&self, commit: &CommitId, deadline: Deadline) -> Result<Claim, GitError> {
        if self.tree_of(commit).is_err() {
            self.fetch_object(OWNER_REF, deadline.left(Duration::MAX))?;
        }
        let call = self.plumbing()?.call(self).args(["cat-file", "commit", commit.as_str()]);
        let text = String::from_utf8_lossy(&call.output()?).into_owned();
        let claim = text.lines().rev().find_map(|line| serde_json::from_str(line).ok());
        claim.ok_or_else(|| call.answer(format!("no lease this version can read; if nobody owns it, delete `{OWNER_REF}` on the remote")))
    }

    /// Whether the lease we last took still lasts.
    fn own_claim_left(&self, now: OffsetDateTime) -> Result<bool, GitError> {
        let Some(commit) = self.commit_at(OWNER_REF)? else { return Ok(false) };
        let claim = self.claim_at(&commit, Deadline::within(Duration::ZERO))?;
        Ok(claim.is_of(&self.claim(now)) && claim.expires > now)
    }
}
