//! What each lane grants and loads, judged once for all its tasks (D3.3, P5).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use dispatch_core::object::CommitId;
use dispatch_core::triage::Lane;
use dispatch_guards::permission::{LaneSurface, LoadedFile};

use crate::ports::Ports;
use crate::setup::Setup;
use crate::surface::{
    PROJECT_SETTINGS, lane_rules, loaded, loads_project, settings_files, tree_path,
};

/// A lane, and the base commit where its project file matters.
type Key = (Lane, Option<CommitId>);

/// The surfaces of the lanes, each made when it is first asked for.
#[derive(Default)]
pub(super) struct Surfaces(RefCell<BTreeMap<Key, Rc<OfLane>>>);

/// What a lane grants and loads on top of one base commit.
pub(super) struct OfLane {
    pub(super) lane: Lane,
    /// None may be started where there is an error.
    pub(super) judged: Result<JudgedLane, String>,
}

/// A lane whose files can be used.
pub(super) struct JudgedLane {
    pub(super) loaded: Vec<LoadedFile>,
    pub(super) surface: LaneSurface,
}

impl Surfaces {
    /// The surface of a lane; none when its settings were not read.
    pub(super) fn get(
        &self,
        ports: &Ports<'_>,
        setup: &Setup,
        lane: Lane,
        base: Option<&CommitId>,
    ) -> Option<Rc<OfLane>> {
        let settings = setup.lanes.get(&lane)?;
        let project = loads_project(setup.config.setting_sources(lane));
        let key = (lane, base.filter(|_| project).cloned());
        if let Some(known) = self.0.borrow().get(&key) {
            return Some(Rc::clone(known));
        }
        let judged = settings.as_ref().map_err(String::clone).and_then(|settings| {
            let loaded = load(ports, setup, lane, base)?;
            let rules = lane_rules(lane, settings, &setup.roots.slots_root, None);
            let surface = LaneSurface::new(&rules, &loaded);
            Ok(JudgedLane { loaded, surface })
        });
        let made = Rc::new(OfLane { lane, judged });
        self.0.borrow_mut().insert(key, Rc::clone(&made));
        Some(made)
    }
}

/// The settings files of a lane. Where the base was not seen there is no project file either: no attempt starts then,
/// and a launch reads and judges it again.
fn load(
    ports: &Ports<'_>,
    setup: &Setup,
    lane: Lane,
    base: Option<&CommitId>,
) -> Result<Vec<LoadedFile>, String> {
    let at_base = || {
        let Some(base) = base else { return Ok(None) };
        let read = tree_path(PROJECT_SETTINGS)
            .and_then(|path| ports.vcs.file_at(&ports.vcs.tree_of(base)?, &path));
        read.map_err(|error| error.chain())
    };
    settings_files(&setup.config, lane, &setup.agent_settings.person, at_base)
        .map(|files| loaded(&files))
}
