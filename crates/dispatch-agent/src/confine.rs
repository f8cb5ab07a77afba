//! Kernel confinement of everything that runs in a slot (W3).
//!
//! A small program of ours confines itself and puts the confined program in its place: between the start of a process
//! and its program nothing of ours can run safely. What is confined cannot be undone, and is inherited by everything
//! the program starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use camino::Utf8PathBuf;
use dispatch_proc::{ProcError, exec_in_own_session};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The first version of the kernel's interface with everything that is needed: signals and abstract sockets came last.
const NEEDED: ABI = ABI::V6;

/// Folders of the system, readable for every confined program; those that are not there are left out.
const SYSTEM: [&str; 14] = [
    "/bin",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/proc",
    "/run/systemd/resolve",
    "/sbin",
    "/sys",
    "/usr",
    "/var/lib/ca-certificates",
];

/// Devices without a memory, which programs take for granted, and terminals.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts"];
/// Devices that are only read.
const SOURCES: [&str; 2] = ["/dev/random", "/dev/urandom"];

/// The address family of sockets that have a name in the file system.
const AF_UNIX: u64 = 1;
/// The number under which the kernel knows `io_uring_setup` on every architecture.
const IO_URING_SETUP: i64 = 425;
/// `EACCES`, which the file rules answer too.
const ACCESS_DENIED: u32 = 13;
/// The privileges that a process of root keeps: those over files it may touch anyway, and those that tools which run as
/// root take for granted. With the others root reads the memory and the environment of every process, whatever the
/// file rules say.
const KEPT_PRIVILEGES: [CapabilitySet; 7] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::NET_BIND_SERVICE,
    CapabilitySet::SETGID,
    CapabilitySet::SETUID,
];
/// The bit that marks a call of the x32 interface, which shares the architecture of the other.
const X32_BIT: i64 = 0x4000_0000;

/// What a confined program may touch beside the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Confinement {
    /// Folders and files it may read, write and run.
    pub writable: Vec<Utf8PathBuf>,
    /// Folders and files it may read and run.
    pub readable: Vec<Utf8PathBuf>,
    /// Whether it may make sockets that have a name in the file system.
    pub unix_sockets: UnixSockets,
    /// The TCP ports it may connect to; none means any.
    pub tcp_ports: Option<Vec<u16>>,
}

/// Whether sockets that have a name in the file system may be made (`confinement.unixSockets`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UnixSockets {
    /// Not: they lead to the user's manager, to container engines, terminals and agents with keys.
    Refused,
    /// They may.
    Allowed,
}

/// What the kernel offers (W3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// Everything.
    InForce,
    /// Something, but not these.
    Partial {
        /// What is missing.
        missing: Vec<&'static str>,
    },
    /// Nothing.
    Missing,
}

/// A program could not be confined, and was not started.
#[derive(Debug, Error)]
pub enum ConfineError {
    /// The kernel refuses the rules for files, signals or ports.
    #[error("could not confine files, signals and ports")]
    Landlock(#[from] RulesetError),
    /// The kernel took only part of them.
    #[error("the kernel confines files, signals and ports only in part")]
    NotWhole,
    /// The filter could not be made.
    #[error("could not make the filter of system calls")]
    Filter(#[from] seccompiler::BackendError),
    /// The kernel refuses the filter.
    #[error("could not load the filter of system calls")]
    Load(#[from] seccompiler::Error),
    /// Privileges could not be given up.
    #[error("could not give up the privileges of root")]
    Privileges(#[source] rustix::io::Errno),
    /// The confined program could not be started.
    #[error("could not start the confined program")]
    Exec(#[from] ProcError),
}

/// What this kernel offers; nothing is confined by asking.
pub fn support() -> Support {
    let mut missing = Vec::new();
    let files = fs_rules(ABI::V3).is_ok();
    let signals = fs_rules(NEEDED).is_ok();
    let filters = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
        .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "errno"))
        && architecture().is_some();
    if !files {
        missing.push("files (Landlock)");
    }
    if !signals {
        missing.push("signals and abstract sockets (Landlock ABI 6)");
    }
    if !filters {
        missing.push("the filter of system calls (seccomp)");
    }
    match (missing.is_empty(), files || filters) {
        (true, _) => Support::InForce,
        (false, true) => Support::Partial { missing },
        (false, false) => Support::Missing,
    }
}

/// Asks the kernel for a set of rules of this version, which confines nobody yet.
fn fs_rules(abi: ABI) -> Result<(), RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    let rules = if abi >= NEEDED { rules.scope(Scope::from_all(abi))? } else { rules };
    rules.create().map(drop)
}

/// Confines this process, gives it a session of its own and puts `command_line` in its place; returns only if
/// something fails, and then nothing was started.
pub fn confine_and_exec(confinement: &Confinement, command_line: &[OsString]) -> ConfineError {
    match confine(confinement) {
        Ok(()) => exec_in_own_session(command_line).into(),
        Err(error) => error,
    }
}

fn confine(confinement: &Confinement) -> Result<(), ConfineError> {
    let filter = filter(confinement.unix_sockets)?;
    let all = AccessFs::from_all(NEEDED);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)?
        .scope(Scope::from_all(NEEDED))?;
    if confinement.tcp_ports.is_some() {
        rules = rules.handle_access(AccessNet::ConnectTcp)?;
    }
    let mut created = rules
        .create()?
        .add_rules(path_beneath_rules(&confinement.writable, all))?
        .add_rules(path_beneath_rules(DEVICES, all & !AccessFs::Execute))?
        .add_rules(path_beneath_rules(SOURCES, AccessFs::ReadFile))?
        .add_rules(path_beneath_rules(SYSTEM, AccessFs::from_read(NEEDED)))?
        .add_rules(path_beneath_rules(&confinement.readable, AccessFs::from_read(NEEDED)))?;
    for port in confinement.tcp_ports.iter().flatten() {
        created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    if created.restrict_self()?.ruleset != RulesetStatus::FullyEnforced {
        return Err(ConfineError::NotWhole);
    }
    apply_filter(&filter)?;
    give_up_privileges().map_err(ConfineError::Privileges)
}

/// What is given up here does not come back with the next program, since the rules above came with the promise that no
/// program adds a privilege.
fn give_up_privileges() -> Result<(), rustix::io::Errno> {
    let kept = KEPT_PRIVILEGES.into_iter().collect::<CapabilitySet>();
    let mut sets = capabilities(None)?;
    for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
        *set &= kept;
    }
    set_capabilities(None, sets)
}

/// Refuses `io_uring_setup` and, unless they are allowed, sockets with a name; a pair of connected sockets has none. A
/// call of a foreign architecture ends the process.
fn filter(unix_sockets: UnixSockets) -> Result<BpfProgram, ConfineError> {
    let Some((architecture, socket)) = architecture() else {
        return Err(ConfineError::NotWhole);
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let both = |number: i64| [number, number | X32_BIT];
    for number in both(IO_URING_SETUP) {
        rules.insert(number, Vec::new());
    }
    if unix_sockets == UnixSockets::Refused {
        for number in both(socket) {
            let family =
                SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, AF_UNIX)?;
            rules.insert(number, vec![SeccompRule::new(vec![family])?]);
        }
    }
    let refuse = SeccompAction::Errno(ACCESS_DENIED);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
    Ok(filter.try_into()?)
}

/// This machine's architecture and its number of the call `socket`.
fn architecture() -> Option<(TargetArch, i64)> {
    match std::env::consts::ARCH {
        "x86_64" => Some((TargetArch::x86_64, 41)),
        "aarch64" => Some((TargetArch::aarch64, 198)),
        _ => None,
    }
}
