//! Sentences for the causes of a pause, as the pass and notifications report them.

use crate::config::Language;
use crate::names::PauseCause;

/// Why a lane is paused and what a person can do about it.
pub const fn pause_sentence(language: Language, cause: PauseCause) -> &'static str {
    match language {
        Language::En => pause_en(cause),
        Language::Es => pause_es(cause),
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
            "Esta máquina no puede confinar a un agente como exige la configuración: vea `confinement.mode`."
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
        }
        for text in PauseCause::ALL.iter().map(|cause| pause_sentence(Language::Es, *cause)) {
            assert!(crate::message::english_in(text).is_empty(), "{text}");
        }
    }
}
