//! The one place that starts programs.
//!
//! A [`Call`] names a program completely (nothing is inherited but what is listed), [`run`] carries it to its
//! end or its limit and answers what happened as a value ([`Finished`]); not being able to start it is a
//! [`ProcError`]. A process that outlives a call (a worker, a supervisor) is a [`Running`] or is started by
//! [`spawn_detached`]. Processes are named by [`ProcessIdentity`], never by a bare number, since numbers are
//! used again. What a program means is known elsewhere.
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

mod call;
mod capture;
mod error;
mod finished;
mod identity;
mod output_log;
mod private;
mod regular;
mod run;
mod session;
mod stop;
mod strays;
mod tree;

pub use call::{Call, Sink, Stdin, find_program};
pub use error::ProcError;
pub use finished::{Ended, Finished, brief, failure_text};
pub use identity::{ProcessIdentity, boot_id};
pub use output_log::OutputLog;
pub use private::{make_ignored_dir, make_private_dir};
pub use regular::{Links, open_regular, read_regular};
pub use run::{Running, run, run_watched, start};
pub use rustix::process::Signal;
pub use session::{
    Detached, exec_in_own_session, exec_in_place, set_child_subreaper, spawn_detached,
    unset_child_subreaper,
};
pub use stop::{StopLimits, StopProgress};
pub use strays::{StrayMark, end_strays, find_strays};
pub use tree::{descendants, with_environment};
