//! Sentences for the closed sets that the pass and notifications report.

use crate::config::Language;
use crate::names::{PauseCause, WaitReason};

/// Why a lane is paused and what a person can do about it.
pub const fn pause_sentence(language: Language, cause: PauseCause) -> &'static str {
    match language {
        Language::En => pause_en(cause),
        Language::Es => pause_es(cause),
    }
}

/// Why a task waits and what ends the wait.
pub const fn wait_sentence(language: Language, reason: WaitReason) -> &'static str {
    match language {
        Language::En => wait_en(reason),
        Language::Es => wait_es(reason),
    }
}

const fn pause_en(cause: PauseCause) -> &'static str {
    match cause {
        PauseCause::UsageLimit => "The account's usage window is used up.",
        PauseCause::LoginExpired => {
            "The agent's login is missing, invalid or expired: renew the credential that `agent.credential` names."
        }
        PauseCause::Overloaded => "The model's provider is overloaded or cannot be reached.",
        PauseCause::LocalModelNotLoaded => {
            "The local model is not loaded: start the server and load the model."
        }
        PauseCause::LaunchRefused => {
            "The lane's settings cannot be used for a launch: run `dispatch config check`."
        }
        PauseCause::SurfaceMismatch => {
            "The agent had other tools or another permission mode than it was given: look at its version and settings."
        }
        PauseCause::ProvisionFailed => {
            "The slots' dependencies could not be installed three times in a row: look at `prepare.log`."
        }
        PauseCause::DiskFull => "The disk is nearly full: free some space.",
        PauseCause::ForgeUnreachable => {
            "The forge cannot be reached or refuses the login: run `gh auth status`."
        }
        PauseCause::RemoteUnreachable => "The git remote cannot be reached.",
        PauseCause::ReviewerUnavailable => "The reviewing agent could not be run.",
        PauseCause::ConfinementMissing => {
            "This machine cannot confine a worker as the configuration demands: see `confinement.mode`."
        }
        PauseCause::DenyListTooLong => {
            "The deny list does not fit a command line: load fewer settings files."
        }
        PauseCause::ContractMissing => {
            "The delegation contract named by `templates.contract` is not there."
        }
        PauseCause::ByHand => "A person paused it.",
    }
}

const fn pause_es(cause: PauseCause) -> &'static str {
    match cause {
        PauseCause::UsageLimit => "La ventana de uso de la cuenta está agotada.",
        PauseCause::LoginExpired => {
            "Falta la sesión del agente, no es válida o caducó: renueve la credencial que nombra `agent.credential`."
        }
        PauseCause::Overloaded => {
            "El proveedor del modelo está sobrecargado o no se puede alcanzar."
        }
        PauseCause::LocalModelNotLoaded => {
            "El modelo local no está cargado: inicie el servidor y cargue el modelo."
        }
        PauseCause::LaunchRefused => {
            "La configuración del carril no sirve para un lanzamiento: ejecute `dispatch config check`."
        }
        PauseCause::SurfaceMismatch => {
            "El agente tenía otras herramientas u otro modo de permisos que los dados: mire su versión y su configuración."
        }
        PauseCause::ProvisionFailed => {
            "Las dependencias de los slots no se pudieron instalar tres veces seguidas: mire `prepare.log`."
        }
        PauseCause::DiskFull => "El disco está casi lleno: libere espacio.",
        PauseCause::ForgeUnreachable => {
            "No se puede alcanzar la forja o rechaza la sesión: ejecute `gh auth status`."
        }
        PauseCause::RemoteUnreachable => "No se puede alcanzar el remoto de git.",
        PauseCause::ReviewerUnavailable => "No se pudo ejecutar el agente revisor.",
        PauseCause::ConfinementMissing => {
            "Esta máquina no puede confinar a un trabajador como exige la configuración: vea `confinement.mode`."
        }
        PauseCause::DenyListTooLong => {
            "La lista de denegaciones no cabe en una línea de órdenes: cargue menos archivos de configuración."
        }
        PauseCause::ContractMissing => {
            "No existe el contrato de delegación que nombra `templates.contract`."
        }
        PauseCause::ByHand => "Una persona lo puso en pausa.",
    }
}

const fn wait_en(reason: WaitReason) -> &'static str {
    match reason {
        WaitReason::PermissionConflict => {
            "A loaded settings rule conflicts with what the lane grants: run `dispatch explain`."
        }
        WaitReason::DependencyNotDone => "A dependency is not Done yet.",
        WaitReason::ParentBranchMissing => "The parent's branch is not on the remote.",
        WaitReason::RemoteUnknown => "The remote could not be seen.",
        WaitReason::BoardIncomplete => "Part of the board could not be read.",
        WaitReason::LaneAtCapacity => "The lane runs as many tasks as it may.",
        WaitReason::NoFreeSlot => "All slots are in use.",
        WaitReason::LanePaused => "The lane is paused.",
        WaitReason::ClaimsOverlap => "A running task claims the same files.",
        WaitReason::SettingsUnreadable => "A settings file of the lane cannot be read.",
        WaitReason::SettingsDrift => "The slot's settings differ from those that were judged.",
        WaitReason::TooManyFaults => {
            "Too many attempts were lost to faults of the machine: when it is well again, run `dispatch retry <ID>`."
        }
    }
}

const fn wait_es(reason: WaitReason) -> &'static str {
    match reason {
        WaitReason::PermissionConflict => {
            "Una regla de configuración cargada choca con lo que el carril concede: ejecute `dispatch explain`."
        }
        WaitReason::DependencyNotDone => "Una dependencia aún no está en Done.",
        WaitReason::ParentBranchMissing => "La rama de la tarea madre no está en el remoto.",
        WaitReason::RemoteUnknown => "No se pudo ver el remoto.",
        WaitReason::BoardIncomplete => "No se pudo leer parte del tablero.",
        WaitReason::LaneAtCapacity => "El carril ejecuta todas las tareas que puede.",
        WaitReason::NoFreeSlot => "Todos los slots están en uso.",
        WaitReason::LanePaused => "El carril está en pausa.",
        WaitReason::ClaimsOverlap => "Una tarea en curso reclama los mismos archivos.",
        WaitReason::SettingsUnreadable => {
            "No se puede leer un archivo de configuración del carril."
        }
        WaitReason::SettingsDrift => "La configuración del slot difiere de la que se juzgó.",
        WaitReason::TooManyFaults => {
            "Demasiados intentos perdidos por fallos de la máquina: cuando esté bien, ejecute `dispatch retry <ID>`."
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn k3_every_cause_has_a_sentence_of_its_own_in_every_language() {
        let mut sentences = BTreeSet::new();
        for language in Language::ALL {
            for cause in PauseCause::ALL {
                assert!(sentences.insert(pause_sentence(*language, *cause)), "{cause}");
            }
            for reason in WaitReason::ALL {
                assert!(sentences.insert(wait_sentence(*language, *reason)), "{reason}");
            }
        }
    }
}
