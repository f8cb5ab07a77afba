//! Reading a worker's stream of a gibibyte, against copying it with `cat`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run ends")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use camino::Utf8Path;
use dispatch_agent::{ClaudeAgent, ClaudeSettings};
use dispatch_core::outcome::StreamSummary;
use dispatch_engine::ports::Agent;
use dispatch_testkit::bench::alternate;
use dispatch_testkit::programs;
use dispatch_testkit::scratch::Scratch;

const BYTES: usize = 1 << 30;
/// Recorded runs, whose events make up a long one: edits, calls side by side, partial messages.
const RECORDED: [&str; 3] = [
    include_str!("../../../fixtures/claude/success-edits.jsonl"),
    include_str!("../../../fixtures/claude/success-parallel-tools.jsonl"),
    include_str!("../../../fixtures/claude/thinking-partial-messages.jsonl"),
];

fn main() {
    let scratch = Scratch::new();
    let (stream, copy) = (scratch.root().join("stream.jsonl"), scratch.root().join("copy"));
    let written = write_run(&stream);

    let read = || {
        let agent = ClaudeAgent::new(ClaudeSettings::new(Vec::new(), "bench", None));
        let mut summary = StreamSummary::default();
        let end = agent.read_stream(&stream, 0, &mut summary).unwrap();
        assert_eq!(end, written);
        assert!(summary.result.is_some());
    };
    let cat = || {
        let mut command = programs::command("cat", scratch.root());
        let status = command.arg(&stream).stdout(File::create(&copy).unwrap()).status();
        assert!(status.unwrap().success());
    };
    println!(
        "stream: {}",
        alternate(3, read, cat).line("reading 1 GiB of events", "`cat` into a file")
    );
    println!("stream: at most {} in memory", most_memory());
}

/// Writes one long run: it begins and ends once, and what the recorded ones did in between is repeated.
fn write_run(path: &Utf8Path) -> u64 {
    let edges = |line: &&str| {
        line.starts_with(r#"{"type":"system","subtype":"init""#)
            || line.starts_with(r#"{"type":"result""#)
    };
    let lines = || RECORDED.iter().flat_map(|run| run.split_inclusive('\n'));
    let between: String = lines().filter(|line| !edges(line)).collect();
    let [begin, end] = [lines().next(), lines().rfind(edges)].map(Option::unwrap);
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(begin.as_bytes()).unwrap();
    for _ in 0..BYTES / between.len() {
        file.write_all(between.as_bytes()).unwrap();
    }
    file.write_all(end.as_bytes()).unwrap();
    file.into_inner().unwrap().sync_all().unwrap();
    fs::metadata(path).unwrap().len()
}

/// The most memory that this process ever had.
fn most_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "an unknown amount".to_owned(), |amount| amount.trim().to_owned())
}
