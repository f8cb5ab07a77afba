//! Our own words about how an attempt went: a log has them in English, the board in its language.

use std::fmt::{self, Display};

use dispatch_core::config::Language;
use serde::{Deserialize, Serialize};

/// A sentence in every language, its values filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phrase {
    en: String,
    es: String,
}

impl Phrase {
    /// A name, which is the same in every language.
    pub fn of_name(name: &str) -> Self {
        Self { en: name.to_owned(), es: name.to_owned() }
    }

    /// The sentence in a language.
    pub fn text(&self, language: Language) -> &str {
        match language {
            Language::En => &self.en,
            Language::Es => &self.es,
        }
    }
}

impl Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.en)
    }
}

impl Said {
    /// The sentence with its values.
    pub fn phrase(self, values: &[(&str, &dyn Display)]) -> Phrase {
        Phrase { en: self.render(Language::En, values), es: self.render(Language::Es, values) }
    }
}

dispatch_core::catalogue! {
    /// What is said about a failure, beside its reason.
    pub enum Said {
        /// A person took the task from the board.
        TaskGone {
            en: "The board does not hold the task any more.",
            es: "El tablero ya no contiene la tarea.",
        },
        /// A person moved the task.
        StatusSet {
            en: "A person set the status to `{status}`.",
            es: "Una persona puso el estado `{status}`.",
        },
        /// The integrity check (B4).
        Protected {
            en: "Protected parts of the task that read differently now:",
            es: "Partes protegidas de la tarea que ahora se leen de otro modo:",
        },
        /// The task's own file would make the board program run something (B2.7).
        HostileFile {
            en: "The task's own file would make the board program run a command:",
            es: "El propio fichero de la tarea haría que el programa del tablero ejecutara una orden:",
        },
        /// The test command is another one than at the start.
        TestCommandEdited {
            en: "The test command is not the one that was judged.",
            es: "La orden de prueba no es la que se evaluó.",
        },
        /// Nothing says any more when the task is done.
        CriteriaGone {
            en: "The task has no acceptance criterion any more.",
            es: "La tarea ya no tiene ningún criterio de aceptación.",
        },
        /// The labels say something else than at the start.
        TriageEdited {
            en: "The triage is not the one that was judged.",
            es: "La clasificación no es la que se evaluó.",
        },
        /// Somebody pushed to the task's branch.
        BranchMoved {
            en: "`{branch}` moved on the remote meanwhile.",
            es: "`{branch}` avanzó entretanto en el remoto.",
        },
        /// Acceptance (C8).
        StillOpen { en: "Still open:", es: "Sigue abierto:" },
        /// Acceptance, where nothing could prove formatting and linting.
        StillOpenUnproved {
            en: "Still open (no formatter or linter is configured for the changed files, so none of them proved anything):",
            es: "Sigue abierto (no hay formateador ni linter configurado para los ficheros cambiados, así que ninguno demostró nada):",
        },
        /// A command ended by itself.
        ExitCode {
            en: "`{name}` ended with exit status {code}.",
            es: "`{name}` terminó con el código de salida {code}.",
        },
        /// A command was ended.
        ExitSignal {
            en: "`{name}` was ended by signal {signal}.",
            es: "`{name}` terminó por la señal {signal}.",
        },
        /// Nobody knows how a command ended.
        ExitUnknown {
            en: "`{name}` was gone before anybody could ask how it ended.",
            es: "`{name}` desapareció antes de que se supiera cómo terminó.",
        },
        /// A command ran out of time.
        TimedOut {
            en: "`{name}` did not end within {minutes} minutes.",
            es: "`{name}` no terminó en {minutes} minutos.",
        },
        /// A command was ended since somebody asked for the end of the attempt.
        EndedEarly {
            en: "`{name}` was ended before its time.",
            es: "Se detuvo `{name}` antes de tiempo.",
        },
        /// A command could not be started.
        NotStarted {
            en: "`{name}` could not be started.",
            es: "No se pudo iniciar `{name}`.",
        },
        /// The checks wrote files (C5.2).
        ChangedByChecks {
            en: "Files that the checks changed:",
            es: "Ficheros que cambiaron las comprobaciones:",
        },
        /// The attempt changed what an installation runs (D6.7).
        ManifestsChanged {
            en: "Changed by this attempt; `provision.installLocked` is not configured:",
            es: "Cambiados por este intento; `provision.installLocked` no está configurado:",
        },
        /// The task's branch changes what an installation runs (D6.7).
        ManifestsOnBranch {
            en: "Changed on the task's branch; `provision.installLocked` is not configured:",
            es: "Cambiados en la rama de la tarea; `provision.installLocked` no está configurado:",
        },
        /// A generator wrote elsewhere (C6).
        OutsideOutputs {
            en: "`{name}` changed files outside its outputs:",
            es: "`{name}` cambió ficheros fuera de sus salidas:",
        },
        /// The scope check found one file.
        OneFile { en: "1 file:", es: "1 fichero:" },
        /// The scope check found files.
        Files { en: "{count} files:", es: "{count} ficheros:" },
        /// The diff is too large (C7.3).
        DiffTooLarge {
            en: "The difference has {bytes} bytes, and `reviewer.maxDiffBytes` is {limit}.",
            es: "La diferencia tiene {bytes} bytes y `reviewer.maxDiffBytes` es {limit}.",
        },
        /// There is nothing to review.
        DiffEmpty { en: "The difference is empty.", es: "La diferencia está vacía." },
        /// The agent's last text.
        AgentSaidLast { en: "What the agent said last:", es: "Lo último que dijo el agente:" },
        /// How an agent ended that said nothing of its own.
        AgentExitStatus {
            en: "It ended with exit status {code}.",
            es: "Terminó con el código de salida {code}.",
        },
        /// The same, by a signal.
        AgentSignal { en: "It was ended by signal {signal}.", es: "Lo terminó la señal {signal}." },
        /// A shutdown before the worker ran.
        StoppedBefore {
            en: "The dispatcher was asked to stop before the worker started.",
            es: "Se pidió detener el despachador antes de que empezara el agente.",
        },
        /// A shutdown during a step of the close.
        StoppedDuring {
            en: "The dispatcher was asked to stop during `{step}`.",
            es: "Se pidió detener el despachador durante `{step}`.",
        },
        /// A dead supervisor of a claim.
        LostBefore {
            en: "The supervisor disappeared before the worker started.",
            es: "El supervisor desapareció antes de que empezara el agente.",
        },
        /// What the attempt had failed with when its work could not be saved.
        FailedBefore {
            en: "The attempt had failed before with `{reason}`.",
            es: "El intento ya había fallado con `{reason}`.",
        },
        /// Where the work is proposed without a forge.
        ProposedBranch {
            en: "branch `{branch}` for `{base}`",
            es: "rama `{branch}` para `{base}`",
        },
        /// The same, where a person gave the pull request another base.
        ProposedTurned {
            en: "{url} (into `{found}`, where a person turned it, not `{base}`)",
            es: "{url} (hacia `{found}`, adonde la dirigió una persona, no hacia `{base}`)",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k3_a_phrase_is_english_in_a_log_and_the_boards_language_on_the_board() {
        let phrase = Said::Files.phrase(&[("count", &3)]);
        assert_eq!(phrase.to_string(), "3 files:");
        assert_eq!(phrase.text(Language::Es), "3 ficheros:");
        assert_eq!(Said::faults(), []);
    }
}
