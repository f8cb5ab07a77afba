//! The benchmarks.

use anyhow::Result;

use crate::shell::{cargo, root, run};

/// Crate and bench target.
const BENCHES: [(&str, &str); 1] = [("dispatch-guards", "guards")];

/// Runs the benchmarks whose name contains `filter`, or all.
pub(crate) fn run_all(filter: Option<&str>) -> Result<()> {
    for (package, bench) in BENCHES {
        if filter.is_none_or(|filter| bench.contains(filter)) {
            run(cargo()
                .args(["bench", "--quiet", "--locked", "--package", package, "--bench", bench])
                .current_dir(root()))?;
        }
    }
    Ok(())
}
