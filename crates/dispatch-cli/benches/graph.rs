//! Drawing large boards, against Graphviz on the same graph: whole commands, from the files of a board to a drawing.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run ends")]

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_testkit::bench::{Compared, alternate, median, time};
use dispatch_testkit::board::{Board, TaskText};
use dispatch_testkit::programs;
use dispatch_testkit::scratch::Scratch;

/// How long Graphviz is waited for; what it has not done by then took at least this long.
const PATIENCE: Duration = Duration::from_mins(3);

struct Drawn {
    scratch: Scratch,
    dot: Utf8PathBuf,
}

impl Drawn {
    /// A board in which every task waits for two earlier ones near it.
    fn new(tasks: usize) -> Option<Self> {
        let dot = programs::on_path("dot")?;
        let scratch = Scratch::new();
        let board = Board::new(&scratch.dir("code"));
        for number in 1..=tasks {
            let mut task = TaskText::new(&format!("T-{number}"), "Do what has to be done here");
            // Steps that share no factor spread the edges and never name a task twice.
            for back in [1 + number * 7 % 40, 42 + number * 11 % 40] {
                if back < number {
                    task = task.depends_on(&format!("T-{}", number - back));
                }
            }
            // A third for some makes up for those that have too few before them: two edges a task.
            if (85..169).contains(&number) {
                task = task.depends_on(&format!("T-{}", number - 82));
            }
            board.add(&task);
        }
        let drawn = Self { scratch, dot };
        drawn.ours("dot", &drawn.graph());
        Some(drawn)
    }

    fn graph(&self) -> Utf8PathBuf {
        self.scratch.root().join("graph.dot")
    }

    fn ours(&self, format: &str, to: &Utf8Path) {
        let mut command =
            programs::command(env!("CARGO_BIN_EXE_backlog-graph"), &self.scratch.home());
        command
            .args(["--format", format])
            .current_dir(self.scratch.root().join("code"))
            .stdout(File::create(to).unwrap())
            // That a viewer may not draw so many edges is told there.
            .stderr(Stdio::null());
        assert!(command.status().unwrap().success());
    }

    fn graphviz(&self, format: &str) -> Command {
        let mut command = programs::command(&self.dot, &self.scratch.home());
        let output = File::create(self.scratch.root().join("theirs")).unwrap();
        command.args([format, self.graph().as_str()]).stdout(output);
        command
    }
}

fn main() {
    let Some(large) = Drawn::new(5000) else { return };
    let to = large.scratch.root().join("ours");
    let edges = std::fs::read_to_string(large.graph()).unwrap().matches(" -> ").count();
    let ours = median((0..5).map(|_| time(|| large.ours("mermaid", &to))).collect());
    let (other, whole) = waited(&mut large.graphviz("-Tplain"));
    let theirs = if whole { "`dot -Tplain`" } else { "`dot -Tplain`, given up after" };
    println!(
        "graph: 5,000 tasks, {edges} edges: {}",
        Compared { ours, other }.line("mermaid", theirs)
    );

    let Some(small) = Drawn::new(500) else { return };
    let to = small.scratch.root().join("ours");
    let compared = alternate(
        9,
        || small.ours("svg", &to),
        || assert!(small.graphviz("-Tsvg").status().unwrap().success()),
    );
    println!("graph: 500 tasks: {}", compared.line("svg", "`dot -Tsvg`"));
}

/// How long a command took, and whether it ended by itself.
fn waited(command: &mut Command) -> (Duration, bool) {
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return (began.elapsed(), true);
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return (PATIENCE, false);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
