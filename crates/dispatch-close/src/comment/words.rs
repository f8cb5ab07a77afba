//! The sentences of the comments, in each language.

use dispatch_core::config::Language;
use dispatch_core::message::blocked_word;
use dispatch_core::names::{BlockReason, RequeueReason};

/// The fixed words of a comment.
pub(super) struct Words {
    pub(super) blocked: &'static str,
    pub(super) requeued: &'static str,
    pub(super) cancelled: &'static str,
    pub(super) proposed: &'static str,
    pub(super) error: &'static str,
    pub(super) question: &'static str,
    pub(super) output: &'static str,
    pub(super) saved: &'static str,
    pub(super) look: &'static str,
    pub(super) held: &'static str,
    pub(super) nothing_to_save: &'static str,
    pub(super) started_from: &'static str,
    pub(super) left_out: &'static str,
    pub(super) files: &'static str,
    pub(super) denials: &'static str,
    pub(super) log: &'static str,
    pub(super) next_answer: &'static str,
    pub(super) next_read: &'static str,
    pub(super) next_mend: &'static str,
    pub(super) next_last: &'static str,
    pub(super) next_held: &'static str,
    pub(super) next_edited: &'static str,
    pub(super) next_nothing: &'static str,
    pub(super) next_cancelled: &'static str,
}

impl Words {
    pub(super) const fn of(language: Language) -> Self {
        match language {
            Language::En => ENGLISH,
            Language::Es => SPANISH,
        }
    }
}

const ENGLISH: Words = Words {
    blocked: blocked_word(Language::En),
    requeued: "Back to Queued",
    cancelled: "Cancelled",
    proposed: "Proposed",
    error: "What went wrong, as it was reported",
    question: "The question, in the worker's words",
    output: "The last lines",
    saved: "The work is kept as",
    look: "To look at it",
    held: "The work could not be saved and is only in the slot, which is held",
    nothing_to_save: "There was no work to save.",
    started_from: "The earlier work that it went on from is kept as",
    left_out: "Could not be saved",
    files: "Files a person should look at",
    denials: "Tool calls that were denied",
    log: "Logs",
    next_answer: "What to do next: answer in a comment and move the task to Queued.",
    next_read: "What to do next: look at the points above, say in a comment what should be different, and move the task to Queued.",
    next_mend: "What to do next: find out why, from what is above and the logs; repair the cause, or say in a comment what should be different; then move the task to Queued.",
    next_last: "No attempt is left. What to do next: say in a comment what should be different and run `dispatch retry {id} --reset-attempts`, or give the work to a new task; moving this one to Queued alone starts nothing.",
    next_held: "What to do next: make room or repair the repository; the next pass saves the work and frees the slot. Then move the task to Queued.",
    next_edited: "Nothing has to be done: the next attempt is told about the change.",
    next_nothing: "Nothing has to be done: the task is tried again, and this attempt does not count.",
    next_cancelled: "The status stays as a person set it.",
};

const SPANISH: Words = Words {
    blocked: blocked_word(Language::Es),
    requeued: "De vuelta a Queued",
    cancelled: "Cancelada",
    proposed: "Propuesta",
    error: "Qué falló, tal como se informó",
    question: "La pregunta, en palabras del agente",
    output: "Las últimas líneas",
    saved: "El trabajo se guarda como",
    look: "Para verlo",
    held: "El trabajo no se pudo guardar y solo está en el puesto, que queda retenido",
    nothing_to_save: "No había trabajo que guardar.",
    started_from: "El trabajo anterior del que partió se guarda como",
    left_out: "No se pudo guardar",
    files: "Ficheros que una persona debería mirar",
    denials: "Llamadas a herramientas denegadas",
    log: "Registros",
    next_answer: "Qué hacer ahora: responda en un comentario y mueva la tarea a Queued.",
    next_read: "Qué hacer ahora: mire los puntos de arriba, diga en un comentario qué debe cambiar y mueva la tarea a Queued.",
    next_mend: "Qué hacer ahora: averigüe la causa con lo de arriba y los registros; repárela o diga en un comentario qué debe cambiar; después mueva la tarea a Queued.",
    next_last: "No queda ningún intento. Qué hacer ahora: diga en un comentario qué debe cambiar y ejecute `dispatch retry {id} --reset-attempts`, o pase el trabajo a una tarea nueva; mover esta a Queued no basta para que empiece.",
    next_held: "Qué hacer ahora: libere espacio o repare el repositorio; la siguiente pasada guarda el trabajo y libera el puesto. Después mueva la tarea a Queued.",
    next_edited: "No hay que hacer nada: el siguiente intento conoce el cambio.",
    next_nothing: "No hay que hacer nada: la tarea se intenta otra vez y este intento no cuenta.",
    next_cancelled: "El estado queda como lo puso una persona.",
};

/// What a block reason means, in one sentence.
pub(super) const fn block_sentence(language: Language, reason: BlockReason) -> &'static str {
    let (english, spanish) = block_sentences(reason);
    match language {
        Language::En => english,
        Language::Es => spanish,
    }
}

/// What a requeue reason means, in one sentence.
pub(super) const fn requeue_sentence(language: Language, reason: RequeueReason) -> &'static str {
    let (english, spanish) = requeue_sentences(reason);
    match language {
        Language::En => english,
        Language::Es => spanish,
    }
}

#[expect(clippy::too_many_lines, reason = "a table: one pair of sentences a reason")]
const fn block_sentences(reason: BlockReason) -> (&'static str, &'static str) {
    use BlockReason as R;
    match reason {
        R::ProvisionChanged => (
            "The task's branch changes lockfile or manifests, and no script-less install is configured: a person has to decide.",
            "La rama de la tarea cambia el lockfile o los manifiestos y no hay instalación sin scripts configurada: debe decidir una persona.",
        ),
        R::BoardTampered => (
            "The task itself was changed while it was worked on.",
            "La propia tarea cambió mientras se trabajaba en ella.",
        ),
        R::ScopeCheckFailed => (
            "The attempt changed files that it may not change.",
            "El intento cambió ficheros que no puede cambiar.",
        ),
        R::NoChanges => ("The attempt changed nothing.", "El intento no cambió nada."),
        R::ChecksFailed => ("A check failed.", "Una comprobación falló."),
        R::TreeChangedByChecks => (
            "Running the checks changed files, so what was tested is not what would be proposed.",
            "Las comprobaciones cambiaron ficheros, así que lo probado no es lo que se propondría.",
        ),
        R::GeneratedFilesFailed => (
            "Generating files failed or touched files outside its outputs.",
            "La generación de ficheros falló o tocó ficheros fuera de sus salidas.",
        ),
        R::ReviewChangesRequested => ("The reviewer asks for changes.", "El revisor pide cambios."),
        R::ReviewNoVerdict => {
            ("The reviewer gave no valid verdict.", "El revisor no dio un veredicto válido.")
        }
        R::ReviewDiffUnreadable => (
            "The difference to review could not be read.",
            "No se pudo leer la diferencia que había que revisar.",
        ),
        R::ReviewDiffTooLarge => (
            "The difference is too large for a reviewer.",
            "La diferencia es demasiado grande para un revisor.",
        ),
        R::AcceptanceUnmet => (
            "Some acceptance criteria or definition-of-done items are open.",
            "Quedan criterios de aceptación o puntos de la definición de hecho abiertos.",
        ),
        R::NeedsGuidance => ("The worker asks for guidance.", "El agente pide orientación."),
        R::TurnsExhausted => (
            "The worker used up its turns; its work may still be finished.",
            "El agente agotó sus turnos; puede que su trabajo esté terminado.",
        ),
        R::BudgetExceeded => (
            "The worker used up its budget; its work may still be finished.",
            "El agente agotó su presupuesto; puede que su trabajo esté terminado.",
        ),
        R::Timeout => (
            "The time limit passed and the worker was stopped.",
            "Se agotó el tiempo y se detuvo al agente.",
        ),
        R::Stalled => (
            "The worker said nothing for too long and was stopped.",
            "El agente no dio señales durante demasiado tiempo y se le detuvo.",
        ),
        R::PromptTooLong => (
            "The task does not fit the model's window.",
            "La tarea no cabe en la ventana del modelo.",
        ),
        R::Refused => ("The model refused the task.", "El modelo rechazó la tarea."),
        R::ApiError => (
            "The model's provider answered with an error.",
            "El proveedor del modelo respondió con un error.",
        ),
        R::ExecutionError => ("The agent ended with an error.", "El agente terminó con un error."),
        R::PromptSwallowed => (
            "The agent never gave the task to the model.",
            "El agente no llegó a dar la tarea al modelo.",
        ),
        R::EmptyAnswer => ("The worker ended without a word.", "El agente terminó sin decir nada."),
        R::UsageError => {
            ("The agent refused its command line.", "El agente rechazó su línea de órdenes.")
        }
        R::Crash => ("The agent ended without a result.", "El agente terminó sin resultado."),
        R::WorkerLost => (
            "The worker disappeared twice in a row; the task may be what ends it.",
            "El agente desapareció dos veces seguidas; puede que lo cause la tarea.",
        ),
        R::SupervisorLost => (
            "The supervisor disappeared twice in a row; the task may be what ends it.",
            "El supervisor desapareció dos veces seguidas; puede que lo cause la tarea.",
        ),
        R::WorkHeld => ("The work could not be saved.", "No se pudo guardar el trabajo."),
        R::LaunchRefused => (
            "The task's own text makes the launch impossible.",
            "El propio texto de la tarea hace imposible el lanzamiento.",
        ),
        R::BoardCheckFailed
        | R::FormatFailed
        | R::FreezeFailed
        | R::ReviewerFailed
        | R::AcceptanceFailed
        | R::OpenPrFailed
        | R::SaveWorkFailed
        | R::BlockFailed
        | R::RequeueFailed
        | R::ReleaseSlotFailed
        | R::RecomputeParentsFailed
        | R::DrainFailed
        | R::DispatchFailed => (
            "A step of the close could not be carried out.",
            "No se pudo llevar a cabo un paso del cierre.",
        ),
        R::MissingTriage
        | R::ConflictingTriage
        | R::MissingTestCommand
        | R::InvalidTestCommand
        | R::MissingFiles
        | R::InvalidFiles
        | R::MissingAcceptanceCriteria
        | R::PromptTooLarge
        | R::PermissionConflict
        | R::ComplexOnLocal
        | R::TierNotAllowedOnLane
        | R::ForbiddenPath
        | R::UnknownDependency
        | R::DependencyCycle
        | R::AttemptsExhausted
        | R::Orphan
        | R::PrClosed
        | R::PrChangesRequested
        | R::MergedWithLaterCommits => {
            ("The task cannot go on as it is.", "La tarea no puede seguir como está.")
        }
    }
}

const fn requeue_sentences(reason: RequeueReason) -> (&'static str, &'static str) {
    use RequeueReason as R;
    match reason {
        R::TaskEdited => (
            "The task was edited while it was worked on, so what was made may not be what is asked for now.",
            "La tarea se editó mientras se trabajaba en ella, así que lo hecho puede no ser lo que se pide ahora.",
        ),
        R::Interrupted => ("The dispatcher was shut down.", "Se detuvo el despachador."),
        R::RemoteMoved => (
            "The task's branch moved on the remote; the next attempt starts from there.",
            "La rama de la tarea avanzó en el remoto; el siguiente intento empieza desde ahí.",
        ),
        R::WorkerLost => ("The worker disappeared.", "El agente desapareció."),
        R::SupervisorLost => ("The supervisor disappeared.", "El supervisor desapareció."),
        R::HardLinkOutside => (
            "A file in the slot has links outside it, which would let a worker change other files.",
            "Un fichero del puesto tiene enlaces fuera de él, lo que dejaría cambiar otros ficheros.",
        ),
        R::BoardUnreadable => ("The task could not be read.", "No se pudo leer la tarea."),
        R::ProvisionFailed => (
            "Preparing the slot's dependencies failed.",
            "Falló la preparación de las dependencias del puesto.",
        ),
        R::SettingsDrift => (
            "The settings in the slot are not those that were judged.",
            "La configuración del puesto no es la que se evaluó.",
        ),
        R::Paused(_) => (
            "The cause is the machine or an account, not the task; the lane is paused.",
            "La causa es la máquina o una cuenta, no la tarea; el carril queda en pausa.",
        ),
    }
}
