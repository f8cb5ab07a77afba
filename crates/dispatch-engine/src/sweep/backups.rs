//! M1 step 5: saved work whose copy on the remote is missing (C10.1).

use super::Sweep;
use crate::ports::PortError;

/// How often a backup is tried before the sweep leaves it to a person.
const MOST_TRIES: u32 = 5;

pub(super) fn run(sweep: &mut Sweep<'_>) -> Result<(), PortError> {
    for (name, tries) in sweep.ports.store.backups()? {
        if tries >= MOST_TRIES {
            continue;
        }
        let Some(limit) = sweep.left("pushes the backups") else { return Ok(()) };
        match sweep.ports.vcs.push_backup(&name, limit) {
            Ok(()) => {
                sweep.ports.store.change_backups(&mut |list| {
                    list.remove(&name);
                })?;
                sweep.said(format!("pushed the backup {name}"));
            }
            Err(error) => {
                sweep.ports.store.change_backups(&mut |list| {
                    list.insert(name.clone(), tries + 1);
                })?;
                let text = format!("the backup {name} failed again: {}", error.chain());
                if tries + 1 == MOST_TRIES {
                    let body = format!("the work is safe in the local repository; {text}");
                    sweep.ports.notifier.notify("a backup cannot be pushed", &body);
                }
                sweep.problem(None, text);
            }
        }
    }
    Ok(())
}
