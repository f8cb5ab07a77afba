//! The first run: the whole job on a throw-away repository (K5).
//!
//! The passes are real: this very program is run as a person would run it, with the native board writer, a bare git
//! remote and a scripted agent that speaks the real agent's stream format. It needs git and nothing else.

mod agent;
mod repository;
mod script;

use std::time::{Duration, Instant};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_proc::Call;
use serde::Serialize;

pub use self::agent::play;
use self::repository::{BOARD, Place};
use self::script::{DemoTask, Ending, TASKS};
use crate::exit::Exit;
use crate::output;

/// How long everything may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often it is looked whether everything has ended.
const LOOK: Duration = Duration::from_millis(100);
/// How often in a row it must look as if everything had ended.
const QUIET_LOOKS: u32 = 2;

/// How the demo ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    ok: bool,
    root: Utf8PathBuf,
    remote: Utf8PathBuf,
    board: Utf8PathBuf,
    tasks: Vec<TaskReport>,
}

/// How one task of the demo ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskReport {
    id: &'static str,
    title: &'static str,
    expected: String,
    status: String,
    outcome: Option<String>,
    branch: Option<String>,
    commit: Option<String>,
    comment: Option<String>,
    #[serde(skip)]
    as_expected: bool,
}

/// Runs the demo.
pub fn run(json: bool, keep: bool) -> anyhow::Result<Exit> {
    let folder = tempfile::Builder::new()
        .prefix("dispatch-demo-")
        .tempdir()
        .context("could not make a folder for the demo")?;
    let root = Utf8Path::from_path(folder.path())
        .context("the folder for temporary files has a name that is not UTF-8")?;
    let root = root.canonicalize_utf8().context("could not look up the folder of the demo")?;
    let program = std::env::current_exe().context("could not find this program's own file")?;
    let program = Utf8PathBuf::try_from(program).context("this program's path is not UTF-8")?;
    let place = Place::below(&root);
    let report = play_through(&place, &program, !json);
    let kept = keep || report.is_err();
    if kept {
        let _kept = folder.keep();
        output::note(&format!("the demo's folder is kept: {root}"));
    }
    let report = report?;
    if json {
        output::json(&report)?;
    } else {
        tell(&report, kept)?;
    }
    Ok(if report.ok { Exit::Done } else { Exit::Failed })
}

fn play_through(place: &Place, program: &Utf8Path, talk: bool) -> anyhow::Result<Report> {
    let say = |text: &str| if talk { output::line(text) } else { Ok(()) };
    say("Making a repository with a bare remote and a board of five queued tasks.")?;
    repository::make(place, program)?;
    dispatch(place, program, &["trust"])?;
    say("First pass: four tasks may start, two at a time; the fifth waits for the first.")?;
    pass(place, program)?;
    let [first, ..] = &TASKS;
    match look(place, first)?.branch {
        Some(branch) => {
            say(&format!("A person merges {branch}."))?;
            repository::merge(place, &branch)?;
            say("Second pass: the first task is done, so the one that waited for it runs.")?;
            pass(place, program)?;
        }
        // Why is in the task's own words, which follow.
        None => say(&format!("{} was not proposed, so there is nothing to merge.", first.id))?,
    }
    let tasks = TASKS.iter().map(|task| look(place, task)).collect::<anyhow::Result<Vec<_>>>()?;
    let ok = tasks.iter().all(|task| task.as_expected);
    let board = place.code.join(BOARD);
    Ok(Report { ok, root: place.root.clone(), remote: place.remote.clone(), board, tasks })
}

/// Runs passes until nothing is at work: a supervisor that ends goes on as a pass of its own, which may dispatch more.
///
/// Between freeing its slot and taking the pass lock such a pass cannot be seen, so one quiet look is not enough.
fn pass(place: &Place, program: &Utf8Path) -> anyhow::Result<()> {
    let end = Instant::now() + PATIENCE;
    let mut quiet = 0;
    loop {
        let report = dispatch(place, program, &["--wait", "--json"])?;
        let report: serde_json::Value =
            serde_json::from_str(&report).context("could not read the report of a pass")?;
        quiet = if is_quiet(&report) && !at_work(place)? { quiet + 1 } else { 0 };
        if quiet == QUIET_LOOKS {
            return Ok(());
        }
        anyhow::ensure!(
            Instant::now() < end,
            "something is still at work after {} s",
            PATIENCE.as_secs()
        );
        std::thread::sleep(LOOK);
    }
}

/// Whether a pass was the only one and started nothing.
fn is_quiet(report: &serde_json::Value) -> bool {
    let rounds = report["rounds"].as_array().into_iter().flatten();
    let mut considered = rounds.filter_map(|round| round["considered"].as_array()).flatten();
    report["another"].is_null() && considered.all(|task| task["verdict"] != "dispatched")
}

/// Whether a slot is bound.
fn at_work(place: &Place) -> anyhow::Result<bool> {
    let file = place.code.join(".git/dispatch/registry.json");
    let bytes = std::fs::read(&file).with_context(|| format!("could not read `{file}`"))?;
    let registry: serde_json::Value =
        serde_json::from_slice(&bytes).with_context(|| format!("could not read `{file}`"))?;
    let slots = registry["slots"].as_array().into_iter().flatten();
    Ok(slots.into_iter().any(|slot| !slot["taskId"].is_null()))
}

fn dispatch(place: &Place, program: &Utf8Path, args: &[&str]) -> anyhow::Result<String> {
    let call = Call::new(program, &place.code, Duration::from_mins(5))
        .args(args)
        .envs(place.environment());
    let finished = dispatch_proc::run(&call)?;
    let said = String::from_utf8_lossy(&finished.stdout).into_owned();
    // What a pass could not do stands in its report.
    anyhow::ensure!(finished.is_success(), "{}\n{said}", finished.failure(&call.shown()));
    Ok(said)
}

/// Looks at how a task ended, with the eyes of a person: the board's file, the remote, the attempt's outcome.
fn look(place: &Place, task: &'static DemoTask) -> anyhow::Result<TaskReport> {
    let folder = place.code.join(BOARD).join("tasks");
    let file =
        folder.join(format!("{} - {}.md", task.id.to_lowercase(), task.title.replace(' ', "-")));
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("could not read `{file}`"))?;
    let status = text.lines().find_map(|line| line.strip_prefix("status: ")).unwrap_or_default();
    let status = status.trim_matches(['\'', '"']).to_owned();
    let branch = format!("task/{}", task.id);
    let commit = place
        .git(&place.remote, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")])
        .ok();
    let outcome = std::fs::read(
        place.code.join(BOARD).join(format!(".dispatch/{}/attempt-1/outcome.json", task.id)),
    )
    .ok();
    let outcome =
        outcome.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let outcome = outcome.and_then(|value| value["outcome"].as_str().map(str::to_owned));
    let comment = last_comment(&text);
    let as_expected = status == task.ends.status()
        && match task.ends {
            // The sweep deletes the branch of a merged proposal.
            Ending::Merged => place
                .git(&place.remote, &["cat-file", "-e", &format!("main:{}", task.file)])
                .is_ok(),
            Ending::Proposed => commit.is_some(),
            Ending::Blocked(reason) => {
                comment.as_deref().is_some_and(|comment| comment.contains(reason))
                    && commit.is_none()
            }
        };
    Ok(TaskReport {
        id: task.id,
        title: task.title,
        expected: task.ends.describe(),
        status,
        outcome,
        branch: commit.is_some().then_some(branch),
        commit,
        comment,
        as_expected,
    })
}

fn last_comment(text: &str) -> Option<String> {
    let (_, comments) = text.split_once("<!-- COMMENTS:BEGIN -->")?;
    let (comments, _) = comments.split_once("<!-- COMMENTS:END -->")?;
    let body = comments.trim().trim_end_matches("---").trim_end();
    let (_, last) = body.rsplit_once("\n---\n")?;
    Some(last.trim().to_owned())
}

fn tell(report: &Report, kept: bool) -> anyhow::Result<()> {
    output::line("")?;
    for task in &report.tasks {
        let mark = if task.as_expected { "ok" } else { "NOT AS EXPECTED" };
        output::line(&format!(
            "{}  {:<12} {:<32} {} ({mark})",
            task.id, task.status, task.title, task.expected
        ))?;
        // What went as it should is told by its first line; what did not needs all of it.
        let shown = if task.as_expected { 1 } else { usize::MAX };
        for line in task.comment.iter().flat_map(|comment| comment.lines()).take(shown) {
            output::line(format!("     {line}").trim_end())?;
        }
    }
    output::line("")?;
    if kept {
        output::line(&format!(
            "Look at the board in {}, the logs in its .dispatch folder, and the branches of {}.",
            report.board, report.remote
        ))
    } else {
        output::line("Run it again with --keep to look at the board, the logs and the branches.")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    #[test_case(&json!({ "rounds": [{ "considered": [{ "verdict": "waiting" }] }] }), true; "nothing was started")]
    #[test_case(&json!({ "rounds": [{ "considered": [] }, { "considered": [{ "verdict": "dispatched" }] }] }), false; "a later round started a task")]
    #[test_case(&json!({ "another": "pid 7", "rounds": [] }), false; "another pass is at work")]
    fn a_pass_is_quiet_when_it_was_alone_and_started_nothing(
        report: &serde_json::Value,
        quiet: bool,
    ) {
        assert_eq!(is_quiet(report), quiet);
    }
}
