//! The gates a change passes.

use anyhow::Result;

use crate::shell::{cargo, root, run};

/// Formatting, then every lint as an error.
pub(crate) fn lint() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]).current_dir(root()))?;
    run(cargo()
        .args(["clippy", "--workspace", "--all-targets", "--locked"])
        .args(["--", "-D", "warnings"])
        .current_dir(root()))
}
