//! The benchmarks, each a comparison within one run.

use anyhow::Result;

use crate::peers;
use crate::shell::{cargo, root, run};

/// Crate and bench target.
const BENCHES: [(&str, &str); 5] = [
    ("dispatch-agent", "stream"),
    ("dispatch-board", "board"),
    ("dispatch-cli", "commands"),
    ("dispatch-cli", "graph"),
    ("dispatch-guards", "guards"),
];

/// Runs the benchmarks whose name contains `filter`, or all.
pub(crate) fn run_all(filter: Option<&str>) -> Result<()> {
    let peers = peers::install()?;
    // Attempts that a benchmark runs find it beside the dispatcher.
    run(cargo()
        .args(["build", "--quiet", "--locked", "--release", "--bin", "worker-edit"])
        .current_dir(root()))?;
    for (package, bench) in BENCHES {
        if filter.is_none_or(|filter| bench.contains(filter)) {
            run(cargo()
                .args(["bench", "--quiet", "--locked", "--package", package, "--bench", bench])
                .env("DISPATCH_PEERS", &peers)
                .current_dir(root()))?;
        }
    }
    Ok(())
}
