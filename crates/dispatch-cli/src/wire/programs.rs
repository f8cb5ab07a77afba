//! Our own programs, where they lie, and what a supervisor knows of its process.

use anyhow::{Context, bail};
use camino::Utf8PathBuf;
use dispatch_engine::supervise;

use super::{CONFINED, Ground};

/// What a supervisor knows of the process it runs in.
pub fn context(ground: &Ground) -> anyhow::Result<supervise::Context> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Ok(supervise::Context { environment, worker_edit: worker_edit(ground)?, confined: CONFINED })
}

/// The worker's board command: the program of that name beside this one, or this one under that name.
///
/// The name lies in the state directory, which is outside every slot.
pub(super) fn worker_edit(ground: &Ground) -> anyhow::Result<Utf8PathBuf> {
    let program = own_program()?;
    let beside = program.with_file_name("worker-edit");
    if beside.is_file() {
        return Ok(beside);
    }
    let folder = ground.state_dir().join("bin");
    std::fs::create_dir_all(&folder).with_context(|| format!("could not make `{folder}`"))?;
    let name = folder.join("worker-edit");
    if std::fs::read_link(&name).ok().as_deref() == Some(program.as_std_path()) {
        return Ok(name);
    }
    let fresh = folder.join(format!("worker-edit.{}", std::process::id()));
    std::os::unix::fs::symlink(&program, &fresh)
        .with_context(|| format!("could not make `{fresh}`"))?;
    std::fs::rename(&fresh, &name).with_context(|| format!("could not make `{name}`"))?;
    Ok(name)
}

/// The file of the `dispatch` program: this very one, or the one beside `backlog-watch`.
pub fn own_program() -> anyhow::Result<Utf8PathBuf> {
    let program = std::env::current_exe().context("could not find this program's own file")?;
    let program = Utf8PathBuf::try_from(program).context("this program's path is not UTF-8")?;
    if program.file_name() != Some("backlog-watch") {
        return Ok(program);
    }
    let beside = program.with_file_name("dispatch");
    if beside.is_file() {
        return Ok(beside);
    }
    bail!("`backlog-watch` runs the `dispatch` that lies beside it, and there is no `{beside}`")
}
