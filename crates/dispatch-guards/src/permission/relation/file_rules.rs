//! How the sets of paths of two file rules lie to each other.

use super::Relation;
use crate::permission::files::{Anchor, FilePattern, RuleSource};

/// What a file rule does, and where.
pub(super) struct FileRule {
    does: Does,
    paths: Option<FilePattern>,
}

/// The tools that a file rule governs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// `Read` bare: the tool, anywhere.
    ReadTool,
    /// `Read(path)`: the tool and the commands that read.
    ReadPaths,
    /// `Edit` bare: that tool alone.
    EditTool,
    /// `Edit(path)`: every writing tool and the shell's redirections [nb_editd-03, rediredits-06].
    EditPaths,
    /// `Write` bare.
    WriteTool,
    /// `NotebookEdit` bare.
    NotebookTool,
    /// `Write(path)`, `NotebookEdit(path)`: nothing [nb_writed-03, nb_nbd-07].
    Nothing,
}

impl FileRule {
    pub(super) fn new(tool: &str, spec: Option<&str>, source: RuleSource) -> Self {
        let does = match (tool, spec.is_some()) {
            ("Read", false) => Does::ReadTool,
            ("Read", true) => Does::ReadPaths,
            ("Edit", false) => Does::EditTool,
            ("Edit", true) => Does::EditPaths,
            ("Write", false) => Does::WriteTool,
            ("NotebookEdit", false) => Does::NotebookTool,
            _ => Does::Nothing,
        };
        Self { does, paths: spec.map(|spec| FilePattern::parse(spec, source)) }
    }

    fn is_dead(&self) -> bool {
        self.does == Does::Nothing || self.paths.as_ref().is_some_and(FilePattern::is_nothing)
    }
}

pub(super) fn relate_files(a: &FileRule, b: &FileRule) -> Relation {
    if a.is_dead() || b.is_dead() {
        let same = a.does == b.does && a.paths == b.paths;
        return if same { Relation::Equal } else { Relation::Disjoint };
    }
    match (a.does, b.does) {
        (Does::EditPaths, Does::EditPaths) | (Does::ReadPaths, Does::ReadPaths) => {
            relate_paths(a.paths.as_ref(), b.paths.as_ref())
        }
        // An edit rule lets the tool read its paths too [r_editout-03], and commands inside the slot;
        // outside that was not tried. A read rule lets nothing be written.
        (Does::EditPaths, Does::ReadPaths) => {
            match relate_paths(a.paths.as_ref(), b.paths.as_ref()) {
                Relation::Equal | Relation::Covers if inside_slot(b) => Relation::Covers,
                Relation::Disjoint => Relation::Disjoint,
                Relation::Equal | Relation::Covers | Relation::CoveredBy | Relation::Overlaps => {
                    Relation::Overlaps
                }
            }
        }
        (Does::ReadPaths, Does::EditPaths) => relate_files(b, a).reversed(),
        // A bare rule is the tool alone, a path rule is more than the tool below its paths.
        (Does::ReadTool, Does::ReadPaths) if inside_slot(b) => Relation::Covers,
        (Does::ReadPaths, Does::ReadTool) if inside_slot(a) => Relation::CoveredBy,
        (Does::ReadTool, Does::ReadPaths | Does::EditPaths)
        | (Does::ReadPaths | Does::EditPaths, Does::ReadTool)
        | (Does::EditPaths, Does::EditTool | Does::WriteTool | Does::NotebookTool)
        | (Does::EditTool | Does::WriteTool | Does::NotebookTool, Does::EditPaths) => {
            Relation::Overlaps
        }
        (x, y) if x == y => Relation::Equal,
        (
            Does::ReadTool
            | Does::ReadPaths
            | Does::EditTool
            | Does::EditPaths
            | Does::WriteTool
            | Does::NotebookTool
            | Does::Nothing,
            _,
        ) => Relation::Disjoint,
    }
}

/// Reading inside the slot is free, so such a rule adds nothing to the bare one.
fn inside_slot(rule: &FileRule) -> bool {
    rule.paths.as_ref().is_some_and(|paths| match paths.anchor {
        Anchor::Here | Anchor::Start => true,
        Anchor::Home | Anchor::Root | Anchor::AgentHome | Anchor::Nowhere => false,
    })
}

fn relate_paths(a: Option<&FilePattern>, b: Option<&FilePattern>) -> Relation {
    let (Some(a), Some(b)) = (a, b) else { return Relation::Overlaps };
    if a == b {
        return Relation::Equal;
    }
    let (forth, back) = (a.within(b), b.within(a));
    match (forth, back, a.meets(b)) {
        (Some(true), Some(true), _) => Relation::Equal,
        (Some(true), _, _) => Relation::CoveredBy,
        (_, Some(true), _) => Relation::Covers,
        (_, _, Some(false)) => Relation::Disjoint,
        (None | Some(false), None | Some(false), None | Some(true)) => Relation::Overlaps,
    }
}
