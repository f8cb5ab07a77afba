//! The whole job on a throw-away repository.

use anyhow::Result;

use crate::peers;
use crate::shell::{cargo, root, run, target_dir};

/// Plays the program's own demo, or the same with the real programs.
pub(crate) fn play(real: bool) -> Result<()> {
    if !real {
        return run(cargo().args(["run", "--bin", "dispatch", "--", "demo"]).current_dir(root()));
    }
    let peers = peers::install()?;
    run(cargo().args(["build", "--workspace", "--bins", "--locked"]).current_dir(root()))?;
    run(cargo()
        .args([
            "run",
            "--quiet",
            "--package",
            "dispatch-testkit",
            "--example",
            "demo_real",
            "--locked",
            "--",
        ])
        .arg(target_dir()?.join("debug/dispatch"))
        .env("DISPATCH_PEERS", peers)
        .current_dir(root()))
}
