//! `backlog-graph`: draws what depends on what (R1).

mod document;
mod place;

use std::collections::BTreeMap;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Parser, ValueEnum};
use dispatch_board::{BoardLocation, locate, read_board};
use dispatch_core::config::Config;
use dispatch_core::status::Status;
use dispatch_core::triage::Lane;
use dispatch_graph::{
    Capacity, ClaimBasis, Filter, Finished, Graph, NoSuchTask, Scope, View, dot, json, mermaid,
    plan, section, svg, text, waves,
};
use dispatch_guards::claims::TestSiblings;

use self::document::{DocumentError, Others};
use self::place::Bounds;
use crate::args::TaskArg;
use crate::exit::Exit;
use crate::output;
use crate::setup::{self, Places};

/// Draw what depends on what on a Backlog.md board.
///
/// Problems (cycles, dependencies that lead nowhere, tasks that cannot be read) stand in every format and, but for
/// `--format text`, are told on standard error too. Exit codes: 0 done; 1 failed, or `--check` found something to change; 2 refused or wrong usage; 3 the
/// board could not be read completely, with `--strict` or for a `--root` that was not seen.
#[derive(Debug, Parser)]
#[command(
    name = "backlog-graph",
    version,
    after_help = "Examples:\n  backlog-graph --format text           a tree for the terminal\n  backlog-graph --root T-5 --format svg > t-5.svg\n  backlog-graph --write                 put the graph into the board's own document\n  backlog-graph --write --check         fail when that document is out of date\n  backlog-graph --plan                  what could be worked on at the same time"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct GraphArgs {
    /// The form of the output; with `--plan`, `text` or `json`.
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["write", "check"])]
    pub format: Option<Format>,
    /// Put the graph as Mermaid between the markers of a document of the repository instead; without PATH into
    /// `<board directory>/docs/dependency-graph.md`, which is made when it is not there. No link is followed.
    #[arg(long, value_name = "PATH", num_args = 0..=1)]
    pub write: Option<Option<Utf8PathBuf>>,
    /// Write nothing and exit 1 when `--write` or `--svg` would change something; with neither, the board's own document is
    /// looked at.
    #[arg(long)]
    pub check: bool,
    /// Write the picture to this file, beside everything else; one that is there has to be a picture of ours.
    #[arg(long, value_name = "PATH")]
    pub svg: Option<Utf8PathBuf>,
    /// Let `--svg` replace a file that is no picture of ours.
    #[arg(long, requires = "svg")]
    pub force: bool,
    /// Only tasks of this status; may be given several times.
    #[arg(long, value_name = "STATUS")]
    pub status: Vec<String>,
    /// Only tasks with this label; may be given several times.
    #[arg(long, value_name = "LABEL")]
    pub label: Vec<String>,
    /// Only this task, what it waits for and what waits for it; may be given several times.
    #[arg(long, value_name = "ID", value_parser = TaskArg::parse)]
    pub root: Vec<TaskArg>,
    /// Hide finished work; the default but for `--format json` and `--status Done`.
    #[arg(long, conflicts_with = "all")]
    pub open: bool,
    /// Show finished work too.
    #[arg(long)]
    pub all: bool,
    /// Print waves of tasks that could be worked on at the same time with the present capacity of the lanes.
    #[arg(long, conflicts_with_all = ["write", "check"])]
    pub plan: bool,
    /// Exit 3 when the board could not be read completely.
    #[arg(long)]
    pub strict: bool,
    /// The dispatcher's configuration, for capacities and claims; otherwise `<board directory>/dispatch/lanes.json`.
    #[arg(long, value_name = "FILE", env = "DISPATCH_CONFIG")]
    pub config: Option<Utf8PathBuf>,
}

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A Mermaid flow chart.
    Mermaid,
    /// Graphviz.
    Dot,
    /// A stable JSON document, of all tasks unless `--open` is given.
    Json,
    /// A picture.
    Svg,
    /// A tree for terminals.
    Text,
}

/// Draws the board of the current directory.
pub fn run(args: &GraphArgs) -> anyhow::Result<Exit> {
    let here = std::env::current_dir().context("could not find the current directory")?;
    let here = Utf8PathBuf::try_from(here)
        .context("the current directory has a name that is not UTF-8")?;
    let backlog_cwd = std::env::var("BACKLOG_CWD").ok().filter(|value| !value.is_empty());
    let place = locate(&here, backlog_cwd.as_deref())?;
    if args.plan && !matches!(args.format, None | Some(Format::Text | Format::Json)) {
        output::note("error: a plan is printed as `--format text` or `--format json`");
        return Ok(Exit::Refused);
    }
    let config = configuration(args, &here, &place)?;
    let graph = draw(&place, config.as_ref());
    let filter = filter(args, &place.config.task_prefix)?;
    let view = match View::of(&graph, &filter) {
        Ok(view) => view,
        Err(error) if graph.complete => {
            output::note(&format!("error: {error}"));
            return Ok(Exit::Refused);
        }
        Err(NoSuchTask { id, .. }) => {
            tell_problems(&graph, Scope::Board);
            output::note(&format!("error: {id} was not seen, and the board is incomplete"));
            return Ok(Exit::Incomplete);
        }
    };
    for unknown in filter.unknown(&graph, &place.config.statuses) {
        output::note(&format!("note: {unknown}"));
    }
    if args.plan || args.format != Some(Format::Text) {
        tell_problems(&graph, view.scope);
    }
    match write(args, &here, &place, &view) {
        Ok(Written::UpToDate) => {}
        Ok(Written::WouldChange) => return Ok(Exit::Failed),
        Err(error) if error.is::<DocumentError>() => {
            output::error(&error);
            return Ok(Exit::Refused);
        }
        Err(error) => return Err(error),
    }
    if args.plan {
        print_plan(args, &view, config.as_ref())?;
    } else if args.write.is_none() && !args.check && (args.svg.is_none() || args.format.is_some()) {
        print(args, &view)?;
    }
    Ok(if args.strict && !graph.complete { Exit::Incomplete } else { Exit::Done })
}

/// Reads the board and finds its graph.
pub fn draw(place: &BoardLocation, config: Option<&Config>) -> Graph {
    let board = read_board(&place.dir, &place.config);
    let siblings = TestSiblings::new(
        config.map(|config| config.paths.test_siblings.clone()).unwrap_or_default(),
    );
    let project_root = config.map_or(".", |config| config.project_root.as_str());
    Graph::of(&board, &ClaimBasis { project_root, siblings: &siblings })
}

/// Brings the part of a document up to date as `--write` does, and says whether that changed it.
pub fn refresh(
    place: &BoardLocation,
    config: Option<&Config>,
    path: Option<&Utf8Path>,
) -> anyhow::Result<bool> {
    let graph = draw(place, config);
    let view = View::of(&graph, &Filter { finished: Finished::Hidden, ..Filter::default() })?;
    let part = section::mermaid_part(&mermaid::render(&view));
    match document::with_part(path, &Bounds::of(place), &part)? {
        None => Ok(false),
        Some(plan) => plan.write().map(|()| true),
    }
}

/// The top of the checkout that holds the board; the board root where there is none.
fn code_root(place: &BoardLocation) -> &Utf8Path {
    let mut above = place.root.ancestors();
    above.find(|folder| folder.join(".git").exists()).unwrap_or(&place.root)
}

/// The dispatcher's configuration: a board may be drawn without, but not with one that was named and cannot be used.
fn configuration(
    args: &GraphArgs,
    here: &Utf8Path,
    place: &BoardLocation,
) -> anyhow::Result<Option<Config>> {
    let code_root = code_root(place);
    let places = Places {
        code_root: code_root.to_owned(),
        board_dir: place.dir.strip_prefix(code_root).ok().map(Utf8Path::to_owned),
        given: args.config.as_ref().map(|file| here.join(file)),
        agent_home: None,
    };
    match setup::read(&places, |_| Vec::new()) {
        Ok(setup) => Ok(Some(setup.loaded.config)),
        Err(error) if args.config.is_some() => Err(error),
        Err(error) => {
            if args.plan {
                output::note(&format!("going on without the capacities of the lanes: {error:#}"));
            }
            Ok(None)
        }
    }
}

fn filter(args: &GraphArgs, prefix: &str) -> anyhow::Result<Filter> {
    let statuses: Vec<Status> = args.status.iter().map(|status| Status::parse(status)).collect();
    let everything =
        args.all || args.format == Some(Format::Json) || statuses.contains(&Status::Done);
    Ok(Filter {
        statuses,
        labels: args.label.clone(),
        roots: args.root.iter().map(|root| root.with_prefix(prefix)).collect::<Result<_, _>>()?,
        finished: if everything && !args.open { Finished::Shown } else { Finished::Hidden },
    })
}

fn tell_problems(graph: &Graph, scope: Scope) {
    if scope == Scope::Filtered && !graph.problems.is_empty() {
        output::note("problems of the whole board, whatever is shown:");
    }
    for problem in &graph.problems {
        output::note(&format!("problem: {problem}"));
    }
    if !graph.complete {
        output::note("the board could not be read completely: what is missing is not drawn");
    }
}

fn print(args: &GraphArgs, view: &View<'_>) -> anyhow::Result<()> {
    let rendered = match args.format.unwrap_or(Format::Mermaid) {
        Format::Mermaid => {
            tell_large(view);
            mermaid::render(view)
        }
        Format::Dot => dot::render(view),
        Format::Json => json::render(view, None),
        Format::Svg => svg::render(view),
        Format::Text => text::render(view),
    };
    output::raw(rendered.as_bytes())
}

fn tell_large(view: &View<'_>) {
    if view.edges.len() > mermaid::MOST_EDGES {
        output::note(&format!(
            "note: {} edges; Mermaid draws no more than {} unless it is configured: `--root`, `--label` or `--format svg` help",
            view.edges.len(),
            mermaid::MOST_EDGES
        ));
    }
}

fn print_plan(args: &GraphArgs, view: &View<'_>, config: Option<&Config>) -> anyhow::Result<()> {
    let capacity = config.map_or_else(Capacity::default, |config| Capacity {
        lanes: Lane::ALL
            .iter()
            .map(|lane| (*lane, count(config.max_parallel(*lane))))
            .collect::<BTreeMap<_, _>>(),
        slots: Some(config.slots.len()),
    });
    let waves = plan(view, &capacity);
    let rendered = match args.format {
        Some(Format::Json) => json::render(view, Some(&waves)),
        _ => waves::render(view, &waves, &capacity),
    };
    output::raw(rendered.as_bytes())
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// What became of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// They are as they should be.
    UpToDate,
    /// With `--check`: one of them is not.
    WouldChange,
}

/// Writes the document and the picture, or says whether that would change something.
fn write(
    args: &GraphArgs,
    here: &Utf8Path,
    place: &BoardLocation,
    view: &View<'_>,
) -> anyhow::Result<Written> {
    let bounds = Bounds::of(place);
    let mut planned = Vec::new();
    if args.write.is_some() || (args.check && args.svg.is_none()) {
        tell_large(view);
        let named = args.write.clone().flatten().map(|path| here.join(path));
        let part = section::mermaid_part(&mermaid::render(view));
        planned.push(document::with_part(named.as_deref(), &bounds, &part)?);
    }
    if let Some(path) = &args.svg {
        let others = if args.force { Others::Replaced } else { Others::Kept };
        planned.push(document::picture(&here.join(path), &bounds, svg::render(view), others)?);
    }
    let mut written = Written::UpToDate;
    for plan in planned.into_iter().flatten() {
        if args.check {
            output::note(&plan.due());
            written = Written::WouldChange;
        } else {
            plan.write()?;
        }
    }
    Ok(written)
}
