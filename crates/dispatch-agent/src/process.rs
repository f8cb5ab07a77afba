//! Between the engine's words for processes and those of `dispatch-proc`.

use dispatch_core::record::ProcessMark;
use dispatch_engine::ports::ExitMark;
use dispatch_proc::{Ended, ProcessIdentity, StrayMark};

/// The variable that every process of an attempt carries (D7.6).
pub(crate) const MARKER: &str = "DISPATCH_ATTEMPT";

pub(crate) fn mark_of(identity: ProcessIdentity) -> ProcessMark {
    ProcessMark {
        pid: identity.pid.cast_unsigned(),
        start: identity.start,
        boot_id: identity.boot_id,
    }
}

pub(crate) fn identity_of(mark: &ProcessMark) -> ProcessIdentity {
    ProcessIdentity {
        pid: mark.pid.cast_signed(),
        start: mark.start,
        boot_id: mark.boot_id.clone(),
    }
}

/// How a program ended that was not ended at a limit of ours.
pub(crate) fn exit_of(ended: Ended) -> ExitMark {
    match ended {
        Ended::Exit(code) => ExitMark::Code(code),
        Ended::Signal(signal) => ExitMark::Signal(signal),
        Ended::TimedOut | Ended::Stopped => ExitMark::Unknown,
    }
}

/// Strays known by the marker in their environment alone.
pub(crate) fn marked(marker: &str) -> StrayMark {
    StrayMark::Environment { name: MARKER.to_owned(), value: marker.to_owned() }
}

/// Strays known by the marker, and whatever else is below this process.
pub(crate) fn marked_or_below(marker: &str) -> StrayMark {
    StrayMark::Both { name: MARKER.to_owned(), value: marker.to_owned() }
}
