//! Reading a worker's stream of a gibibyte, against copying it with `cat`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run ends")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::process::Command;

use dispatch_agent::{ClaudeAgent, ClaudeSettings};
use dispatch_core::outcome::StreamSummary;
use dispatch_engine::ports::Agent;
use dispatch_testkit::bench::alternate;
use dispatch_testkit::scratch::Scratch;

const BYTES: usize = 1 << 30;
/// A recorded run, whose events are repeated.
const RECORDED: &str = include_str!("../../../fixtures/claude/success.jsonl");

fn main() {
    let scratch = Scratch::new();
    let (stream, copy) = (scratch.root().join("stream.jsonl"), scratch.root().join("copy"));
    let mut file = BufWriter::new(File::create(&stream).unwrap());
    let mut written = 0;
    while written < BYTES {
        file.write_all(RECORDED.as_bytes()).unwrap();
        written += RECORDED.len();
    }
    file.into_inner().unwrap().sync_all().unwrap();

    let read = || {
        let agent = ClaudeAgent::new(ClaudeSettings::new(Vec::new(), "bench", None));
        let mut summary = StreamSummary::default();
        let end = agent.read_stream(&stream, 0, &mut summary).unwrap();
        assert_eq!(end, written as u64);
        assert!(summary.result.is_some());
    };
    let cat = || {
        let status = Command::new("cat").arg(&stream).stdout(File::create(&copy).unwrap()).status();
        assert!(status.unwrap().success());
    };
    println!(
        "stream: {}",
        alternate(3, read, cat).line("reading 1 GiB of events", "`cat` into a file")
    );
    println!("stream: at most {} in memory", most_memory());
}

/// The most memory that this process ever had.
fn most_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "an unknown amount".to_owned(), |amount| amount.trim().to_owned())
}
