//! Having a diff reviewed by an agent of its own (C7).

use std::fs;
use std::ops::ControlFlow;

use camino::Utf8Path;
use dispatch_core::error_chain::chain;
use dispatch_engine::ports::{PrivatePlace, Review, ReviewRequest};
use dispatch_proc::{Call, Ended, Links, Sink, Stdin, read_regular, run_watched};

use crate::process::{MARKER, marked_or_below};
use crate::verdict::judge_answer;

/// The most an answer may have: a review is a page of text, and its envelope holds it once or twice.
const ANSWER_MAX_BYTES: u64 = 16 << 20;

/// Runs the reviewer in `place`, which is fresh and its own, and judges its answer.
pub(crate) fn review(
    program: &str,
    request: &ReviewRequest,
    place: &PrivatePlace,
    alive: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Review, std::io::Error> {
    let prompt = place.root.join("prompt.md");
    let answer = place.root.join("answer.json");
    fs::write(&prompt, &request.prompt)?;
    let call = call(program, request, place, &prompt, &answer);
    let finished = match run_watched(&call, alive) {
        Ok(finished) => finished,
        Err(error) => return Ok(Review::Error(chain(&error))),
    };
    Ok(match finished.ended {
        Ended::TimedOut => Review::TimedOut,
        Ended::Stopped => Review::Stopped,
        Ended::Exit(_) | Ended::Signal(_) => judge_answer(
            &read_regular(&answer, Links::Refused, ANSWER_MAX_BYTES)?,
            &finished.stderr_text(),
            &finished.ended.to_string(),
            finished.is_success(),
            &request.token,
        ),
    })
}

fn call(
    program: &str,
    request: &ReviewRequest,
    place: &PrivatePlace,
    prompt: &Utf8Path,
    answer: &Utf8Path,
) -> Call {
    let folders = [
        ("HOME", &place.home),
        ("TMPDIR", &place.temporary),
        ("CLAUDE_CODE_TMPDIR", &place.temporary),
        ("CLAUDE_CONFIG_DIR", &place.configuration),
    ];
    let mut call = Call::new(program, &request.dir, request.limit)
        .args(&request.argv)
        .envs(request.env.iter().map(|(name, value)| (name, value)))
        .envs(folders)
        .env(MARKER, &request.marker)
        .stdin(Stdin::File(prompt.to_owned()));
    // On a pipe the agent loses what its reader has not taken when it ends.
    call.stdout = Sink::File(answer.to_owned());
    call.strays = Some(marked_or_below(&request.marker));
    call
}
