//! The texts shown on the board, in pull requests and in notifications, in every language (K3).
//!
//! Each says what happened, why, which value, and what to do next.

mod catalogue;
mod causes;

pub use catalogue::{english_in, fill, placeholders};
pub use causes::pause_sentence;

use crate::config::Language;

/// What every comment about a blocked task begins with, so that it is found again (D8.1).
pub const fn blocked_word(language: Language) -> &'static str {
    match language {
        Language::En => "Blocked",
        Language::Es => "Bloqueada",
    }
}

crate::catalogue! {
    /// Texts of the pass, the sweep and notifications.
    pub enum Message {
        /// Title of the notification of a blocked task (K4).
        NotifyBlockedTitle { en: "{id} blocked: {reason}", es: "{id} bloqueada: {reason}" },
        /// Its body.
        NotifyBlockedBody {
            en: "{title}\nThe comment on the task says what to do. Log: {log}",
            es: "{title}\nEl comentario de la tarea dice qué hacer. Registro: {log}",
        },
        /// Title of the notification of a pull request.
        NotifyPullRequestTitle { en: "{id}: pull request opened", es: "{id}: pull request abierta" },
        /// Title of the notification of a pull request that was there already.
        NotifyPullRequestReusedTitle {
            en: "{id}: pull request updated",
            es: "{id}: pull request actualizada",
        },
        /// Title of the notification of a pushed branch where there is no forge.
        NotifyBranchTitle { en: "{id}: branch pushed", es: "{id}: rama enviada" },
        /// Title of the notification of a held slot.
        NotifyHeldTitle { en: "{id}: work held in slot {slot}", es: "{id}: trabajo retenido en el puesto {slot}" },
        /// Its body.
        NotifyHeldBody {
            en: "The work could not be saved ({cause}). It lies in {path} and nothing will touch it. Repair the cause; the next pass saves it.",
            es: "No se pudo guardar el trabajo ({cause}). Está en {path} y nada lo tocará. Repare la causa; la próxima pasada lo guardará.",
        },
        /// Title of the notification of a task whose file must not be written.
        NotifyUncleanTitle {
            en: "{id}: its file has to be cleaned by hand",
            es: "{id}: hay que limpiar su fichero a mano",
        },
        /// Its body.
        NotifyUncleanBody {
            en: "{problem}. Do not use the board program before: it would run what the file holds. The attempt has ended and its work is kept; once the file is clean, the next pass sets the task to {status} and comments on it.",
            es: "{problem}. No use antes el programa del tablero: ejecutaría lo que contiene el fichero. El intento terminó y su trabajo se conserva; cuando el fichero esté limpio, la próxima pasada pone la tarea en {status} y la comenta.",
        },
        /// Title of the notification of a paused lane.
        NotifyPausedTitle { en: "Lane {lane} paused: {cause}", es: "Carril {lane} en pausa: {cause}" },
        /// Its body, with the time from which a pass tries it again.
        NotifyPausedUntilBody {
            en: "{sentence} ({detail}) The first pass after {until} tries it again; `dispatch resume --lane {lane}` lets the next one do so.",
            es: "{sentence} ({detail}) La primera pasada después de {until} vuelve a intentarlo; `dispatch resume --lane {lane}` se lo permite a la próxima.",
        },
        /// Its body, when only a person ends the pause.
        NotifyPausedBody {
            en: "{sentence} ({detail}) It stays paused until `dispatch resume --lane {lane}`.",
            es: "{sentence} ({detail}) Queda en pausa hasta `dispatch resume --lane {lane}`.",
        },
        /// Title of the notification of a task that waits for a missing parent branch.
        NotifyParentBranchTitle {
            en: "{id} waits for the branch {branch}",
            es: "{id} espera la rama {branch}",
        },
        /// Its body.
        NotifyParentBranchBody {
            en: "The branch of its parent is not on the remote, and `parentBranch` is `require`. Push it, or set `parentBranch` to `create`.",
            es: "La rama de su tarea madre no está en el remoto y `parentBranch` es `require`. Envíela o ponga `parentBranch` en `create`.",
        },
        /// Title of the notification of a task that too many faults met.
        NotifyTooManyFaultsTitle { en: "{id} waits: {count} attempts were lost to faults", es: "{id} espera: {count} intentos perdidos por fallos" },
        /// Its body.
        NotifyTooManyFaultsBody {
            en: "None of them was the task's own fault. Look at the last one ({log}), and when the machine is well again run `dispatch retry {id}`.",
            es: "Ninguno fue culpa de la tarea. Mire el último ({log}) y, cuando la máquina esté bien, ejecute `dispatch retry {id}`.",
        },

        /// The pull request was merged.
        Merged { en: "Merged: {link}.", es: "Fusionada: {link}." },
        /// The pull request was closed without a merge (M1 step 3).
        PullRequestClosed {
            en: "Blocked (`pr-closed`): {link} was closed without being merged. The work is at `{reference}`. Say in a comment what should be different and move the task to Queued, or set it to Done if nothing more is wanted.",
            es: "Bloqueada (`pr-closed`): {link} se cerró sin fusionarse. El trabajo está en `{reference}`. Diga en un comentario qué debe cambiar y mueva la tarea a Queued, o póngala en Done si no se quiere nada más.",
        },
        /// Without pull requests, the branch that was proposed is gone from the remote and not merged (M1 step 3, V3).
        BranchDeleted {
            en: "Blocked (`pr-closed`): {link} was deleted on the remote, and its work is not in `{base}`. The work is at `{reference}`. Say in a comment what should be different and move the task to Queued, or set it to Done if nothing more is wanted.",
            es: "Bloqueada (`pr-closed`): {link} se borró en el remoto y su trabajo no está en `{base}`. El trabajo está en `{reference}`. Diga en un comentario qué debe cambiar y mueva la tarea a Queued, o póngala en Done si no se quiere nada más.",
        },
        /// A review asks for changes (M1 step 3).
        ChangesRequested {
            en: "Blocked (`pr-changes-requested`): a review of {link} asks for changes. Move the task to Queued to have them made; the next attempt reads the review and continues on the same branch.",
            es: "Bloqueada (`pr-changes-requested`): una revisión de {link} pide cambios. Mueva la tarea a Queued para que se hagan; el próximo intento lee la revisión y continúa en la misma rama.",
        },
        /// A review asks for changes and the configuration queues the task again.
        ChangesRequestedRetry {
            en: "A review of {link} asks for changes. Queued again, since `reviews.autoRetry` is set; the next attempt reads the review and continues on the same branch.",
            es: "Una revisión de {link} pide cambios. En cola otra vez porque `reviews.autoRetry` está activo; el próximo intento lee la revisión y continúa en la misma rama.",
        },
        /// Changes were requested on a pull request whose task a person moved meanwhile (M1 step 3, D8.1).
        ChangesRequestedMoved {
            en: "A review of {link} asks for changes. The task stays where a person put it; its next attempt reads the review and continues on the same branch.",
            es: "Una revisión de {link} pide cambios. La tarea queda donde una persona la puso; su próximo intento lee la revisión y continúa en la misma rama.",
        },
        /// Commits of ours were not part of what was merged (M1 step 3).
        MergedWithLaterCommits {
            en: "Blocked (`merged-with-later-commits`): {link} was merged at {merged}, without the later commit {missing} of `{branch}`. Nothing was deleted. Open a pull request for what is missing, or set the task to Done to do without it.",
            es: "Bloqueada (`merged-with-later-commits`): {link} se fusionó en {merged}, sin el commit posterior {missing} de `{branch}`. No se borró nada. Abra una pull request con lo que falta o ponga la tarea en Done para prescindir de ello.",
        },
        /// A task set to Done by hand whose pull request is open (M1 step 3b).
        DoneWhileOpen {
            en: "Set back to In Progress: {link} is still open. Set the task to Done once more to have it stay there.",
            es: "Devuelta a In Progress: {link} sigue abierta. Póngala en Done una vez más para que se quede así.",
        },
        /// A task set to Done by hand whose pull request was closed (M1 step 3b).
        DoneWhileClosed {
            en: "Blocked: {link} was closed without being merged, so the work is not in the base branch. Set the task to Done once more to have it stay there.",
            es: "Bloqueada: {link} se cerró sin fusionarse, así que el trabajo no está en la rama base. Póngala en Done una vez más para que se quede así.",
        },
        /// Nothing works on a task `In Progress` (M1 step 3c).
        Orphan {
            en: "Blocked (`orphan`): the task was In Progress for more than {hours} h and nothing works on it: there is no attempt and no record. If a person works on it, set it back to In Progress and assign it; otherwise move it to Queued.",
            es: "Bloqueada (`orphan`): la tarea estuvo In Progress más de {hours} h y nada trabaja en ella: no hay intento ni registro. Si una persona trabaja en ella, devuélvala a In Progress y asígnela; si no, muévala a Queued.",
        },
        /// The start of the worker failed for a reason nobody foresaw.
        DispatchFailed {
            en: "Blocked (`dispatch-failed`): the attempt could not be started: {cause}. Nothing was changed. Repair the cause and move the task to Queued.",
            es: "Bloqueada (`dispatch-failed`): no se pudo iniciar el intento: {cause}. No se cambió nada. Repare la causa y mueva la tarea a Queued.",
        },
        /// An attempt goes back to the queue without being counted.
        Requeued {
            en: "Queued again (`{reason}`): attempt {attempt} does not count. {sentence}",
            es: "En cola otra vez (`{reason}`): el intento {attempt} no cuenta. {sentence}",
        },
        /// The branch of a finished task was kept (M3).
        BranchKept {
            en: "The branch `{branch}` was kept: {cause}. Commits that are only there: {commits}.",
            es: "Se conservó la rama `{branch}`: {cause}. Commits que solo están ahí: {commits}.",
        },
        /// A backup push failed too often (C10.1).
        BackupFailed {
            en: "The work of attempt {attempt} is saved locally at `{reference}`; its backup on the remote failed {count} times ({cause}) and is not tried again.",
            es: "El trabajo del intento {attempt} está guardado localmente en `{reference}`; su copia en el remoto falló {count} veces ({cause}) y no se intenta más.",
        },
        /// A parent waits for its close attempt (B5.3).
        ParentQueued {
            en: "All subtasks are Done. Queued for the attempt that verifies the whole and opens the pull request of `{branch}`.",
            es: "Todas las subtareas están en Done. En cola para el intento que verifica el conjunto y abre la pull request de `{branch}`.",
        },
        /// A lane goes on again.
        LaneResumed { en: "Lane {lane} goes on: {cause} is over.", es: "El carril {lane} continúa: terminó {cause}." },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k3_both_languages_have_the_same_placeholders() {
        assert_eq!(Message::faults(), []);
    }

    #[test]
    fn k3_no_two_languages_share_a_sentence() {
        for message in Message::ALL {
            assert_ne!(message.text(Language::En), message.text(Language::Es), "{message:?}");
        }
    }

    /// D8.1: the texts of a task that is blocked are found by their first word.
    #[test]
    fn k3_what_says_that_a_task_is_blocked_begins_with_that_word() {
        let blocking = [
            Message::PullRequestClosed,
            Message::BranchDeleted,
            Message::ChangesRequested,
            Message::MergedWithLaterCommits,
            Message::DoneWhileClosed,
            Message::Orphan,
            Message::DispatchFailed,
        ];
        for language in Language::ALL {
            let begin =
                |message: &&Message| message.text(*language).starts_with(blocked_word(*language));
            let found: Vec<&Message> = Message::ALL.iter().filter(begin).collect();
            assert_eq!(found, blocking.iter().collect::<Vec<_>>(), "{language}");
        }
    }

    #[test]
    fn k4_the_notification_of_a_blocked_task_names_it_and_the_reason() {
        let title = Message::NotifyBlockedTitle
            .render(Language::En, &[("id", &"T-5"), ("reason", &"checks-failed")]);
        assert_eq!(title, "T-5 blocked: checks-failed");
    }
}
