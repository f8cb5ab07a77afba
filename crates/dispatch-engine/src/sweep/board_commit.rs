//! M1 step 1: the board's changes are committed (B6).

use super::Sweep;
use crate::board_place;
use crate::ports::{BoardCommit, PortError};

const MESSAGE: &str = "chore(backlog): record task changes";

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    match sweep.ports.vcs.commit_board(MESSAGE)? {
        BoardCommit::Nothing => {}
        BoardCommit::Committed(commit) => {
            // The commit is ours: the next pass must not take it for somebody's rebase.
            board_place::remember(sweep.ports, &commit)?;
            sweep.said(format!("committed the board as {}", commit.short()));
        }
        BoardCommit::Skipped(why) => {
            sweep.said(format!("left the board uncommitted this time: {why}"));
        }
    }
    Ok(())
}
