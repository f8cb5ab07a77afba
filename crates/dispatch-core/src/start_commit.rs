//! The commit an attempt starts from (D6.6).

use serde::Serialize;

use crate::object::CommitId;

/// How our last saved commit of a task and the task's branch on the remote lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedAndRemote {
    /// The saved commit descends from the remote one, or is the same.
    SavedDescends,
    /// The remote commit descends from the saved one.
    RemoteDescends,
    /// Neither descends from the other.
    Apart,
    /// It could not be found out.
    Unknown,
}

/// What is known about where a task's work stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownWork {
    /// The task's branch on the remote.
    pub remote: Option<CommitId>,
    /// Our last saved commit of the task.
    pub saved: Option<CommitId>,
    /// How the two lie to each other, when both are there.
    pub relation: SavedAndRemote,
    /// The base ref's commit.
    pub base: CommitId,
}

/// Where an attempt starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// The commit.
    pub commit: CommitId,
    /// Whose commit it is.
    pub origin: StartOrigin,
    /// Saved work that is not part of the start: it stays where it is saved, and the prompt names it.
    pub aside: Option<CommitId>,
}

closed_set! {
    /// Whose commit an attempt starts from.
    StartOrigin, "start origin" {
        /// The task's branch on the remote.
        Remote = "remote",
        /// Our last saved work.
        Saved = "saved",
        /// The base: there is no earlier work.
        Base = "base",
    }
}

/// Decides where an attempt starts: earlier work is never abandoned, and a person's commits on the branch win.
pub fn start_commit(known: &KnownWork) -> Start {
    let start = |commit: &CommitId, origin, aside: Option<&CommitId>| Start {
        commit: commit.clone(),
        origin,
        aside: aside.cloned(),
    };
    match (&known.remote, &known.saved) {
        (None, None) => start(&known.base, StartOrigin::Base, None),
        (None, Some(saved)) => start(saved, StartOrigin::Saved, None),
        (Some(remote), None) => start(remote, StartOrigin::Remote, None),
        (Some(remote), Some(saved)) if remote == saved => start(remote, StartOrigin::Remote, None),
        (Some(remote), Some(saved)) => match known.relation {
            SavedAndRemote::SavedDescends => start(saved, StartOrigin::Saved, None),
            SavedAndRemote::RemoteDescends => start(remote, StartOrigin::Remote, None),
            SavedAndRemote::Apart | SavedAndRemote::Unknown => {
                start(remote, StartOrigin::Remote, Some(saved))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn commit(digit: char) -> CommitId {
        CommitId::parse(&digit.to_string().repeat(40)).unwrap()
    }

    #[test_case(None, None, SavedAndRemote::Unknown, 'b', StartOrigin::Base, None; "no earlier work starts from the base")]
    #[test_case(None, Some('5'), SavedAndRemote::Unknown, '5', StartOrigin::Saved, None; "saved work without a branch is continued")]
    #[test_case(Some('e'), None, SavedAndRemote::Unknown, 'e', StartOrigin::Remote, None; "a branch without saved work is continued")]
    #[test_case(Some('e'), Some('5'), SavedAndRemote::SavedDescends, '5', StartOrigin::Saved, None; "saved work on top of the branch")]
    #[test_case(Some('e'), Some('5'), SavedAndRemote::RemoteDescends, 'e', StartOrigin::Remote, None; "a person went on from our work")]
    #[test_case(Some('e'), Some('5'), SavedAndRemote::Apart, 'e', StartOrigin::Remote, Some('5'); "a person's branch wins and our work is kept and named")]
    #[test_case(Some('e'), Some('5'), SavedAndRemote::Unknown, 'e', StartOrigin::Remote, Some('5'); "without an answer nothing is abandoned")]
    #[test_case(Some('e'), Some('e'), SavedAndRemote::Unknown, 'e', StartOrigin::Remote, None; "the same commit needs no answer")]
    fn n54_d6_6(
        remote: Option<char>,
        saved: Option<char>,
        relation: SavedAndRemote,
        expected: char,
        origin: StartOrigin,
        aside: Option<char>,
    ) {
        let known = KnownWork {
            remote: remote.map(commit),
            saved: saved.map(commit),
            relation,
            base: commit('b'),
        };
        let found = start_commit(&known);
        let expected = Start { commit: commit(expected), origin, aside: aside.map(commit) };
        assert_eq!(found, expected);
    }
}
