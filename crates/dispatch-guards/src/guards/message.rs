//! The sentences of the guards: cause, offending value, next step.

dispatch_core::catalogue! {
    /// What a guard found.
    pub enum GuardMessage {
        /// Guard 1.
        PromptTooLarge {
            en: "The task's text, comments and reviews take {bytes} bytes, more than the {limit} that a prompt may have: shorten them, then move the task to Queued.",
            es: "El texto, los comentarios y las revisiones de la tarea ocupan {bytes} bytes, más de los {limit} que admite un prompt: acórtelos y mueva la tarea a Queued.",
        },
        /// Guard 1.
        MissingTriage {
            en: "The label `{key}:` is missing: add one of {allowed}, then move the task to Queued.",
            es: "Falta la etiqueta `{key}:`: añada una de {allowed} y mueva la tarea a Queued.",
        },
        /// Guard 1.
        ConflictingTriage {
            en: "The labels {labels} do not give one `{key}`: keep one of {allowed}, then move the task to Queued.",
            es: "Las etiquetas {labels} no dan un solo `{key}`: deje una de {allowed} y mueva la tarea a Queued.",
        },
        /// Guard 1.
        MissingTestCommand {
            en: "The task names no test command: add a line `Test command: <command>` to its description, then move it to Queued.",
            es: "La tarea no indica un comando de prueba: añada una línea `Test command: <comando>` a su descripción y muévala a Queued.",
        },
        /// Guard 1.
        ConflictingTestCommand {
            en: "The task names more than one test command ({commands}): keep one line `Test command:`, then move it to Queued.",
            es: "La tarea indica más de un comando de prueba ({commands}): deje una sola línea `Test command:` y muévala a Queued.",
        },
        /// Guard 1.
        InvalidTestCommand {
            en: "The test command `{command}` is not allowed: {why}. Write one of the allowed shapes, or add a shape to `testCommands` of the configuration, then move the task to Queued.",
            es: "El comando de prueba `{command}` no está permitido (`{why}`). Escriba una de las formas permitidas, o añada una forma a `testCommands` de la configuración, y mueva la tarea a Queued.",
        },
        /// Guard 1.
        MissingFiles {
            en: "The task declares no files, which the local lane needs: list them under a line `Files to touch:`, then move it to Queued.",
            es: "La tarea no declara archivos y el carril local los necesita: enumérelos bajo una línea `Files to touch:` y muévala a Queued.",
        },
        /// Guard 1.
        InvalidFile {
            en: "The declared file `{file}` is not a path inside the repository ({why}): correct it, then move the task to Queued.",
            es: "El archivo declarado `{file}` no es una ruta dentro del repositorio (`{why}`): corríjalo y mueva la tarea a Queued.",
        },
        /// Guard 1.
        MissingAcceptanceCriteria {
            en: "The task has no acceptance criterion: add at least one, then move it to Queued.",
            es: "La tarea no tiene ningún criterio de aceptación: añada al menos uno y muévala a Queued.",
        },
        /// Guard 1b.
        SettingsUnreadable {
            en: "The settings of the {lane} lane cannot be read: {cause}. Repair the file; the next pass looks at the task again.",
            es: "No se pueden leer los ajustes del carril {lane}: {cause}. Repare el archivo; la próxima pasada vuelve a mirar la tarea.",
        },
        /// Guard 1b, the task's own rule.
        TestCommandConflict {
            en: "The settings file {file} allows `{loaded}`, which has something in common with the rule of this task's test command `{granted}`: denying it would take away part of the test command, keeping it would let the worker do more. Write another test command, or narrow that rule, then move the task to Queued.",
            es: "El archivo de ajustes {file} permite `{loaded}`, que coincide en parte con la regla del comando de prueba `{granted}`: denegarla quitaría parte del comando de prueba y mantenerla permitiría más al agente. Escriba otro comando de prueba, o acote esa regla, y mueva la tarea a Queued.",
        },
        /// Guard 1b, the lane's rules.
        LaneRuleConflict {
            en: "The settings file {file} allows `{loaded}`, which has something in common with the rule `{granted}` of the {lane} lane: it can be neither kept nor denied. Narrow one of the two; the next pass looks at the task again.",
            es: "El archivo de ajustes {file} permite `{loaded}`, que coincide en parte con la regla `{granted}` del carril {lane}: no se puede ni mantener ni denegar. Acote una de las dos; la próxima pasada vuelve a mirar la tarea.",
        },
        /// Guard 2.
        ComplexOnLocal {
            en: "The task is `tier:complex`, which the local lane does not take: set `lane:frontier` or another tier, then move it to Queued.",
            es: "La tarea es `tier:complex`, que el carril local no acepta: ponga `lane:frontier` u otro nivel y muévala a Queued.",
        },
        /// Guard 2.
        TierNotAllowed {
            en: "The {lane} lane takes only {allowed}, and the task is `tier:{tier}`: change its lane or tier, or `lanes.{lane}.tiers` of the configuration, then move it to Queued.",
            es: "El carril {lane} solo acepta {allowed} y la tarea es `tier:{tier}`: cambie su carril o nivel, o `lanes.{lane}.tiers` de la configuración, y muévala a Queued.",
        },
        /// Guard 3.
        ForbiddenPath {
            en: "The declared file `{file}` falls under `{glob}`, which no task may touch: take it out, or do that part by hand, then move the task to Queued.",
            es: "El archivo declarado `{file}` entra en `{glob}`, que ninguna tarea puede tocar: quítelo, o haga esa parte a mano, y mueva la tarea a Queued.",
        },
        /// Guard 3, on the local lane.
        LocalForbiddenPath {
            en: "The declared file `{file}` falls under `{glob}`, which the local lane may not touch: take it out or set `lane:frontier`, then move the task to Queued.",
            es: "El archivo declarado `{file}` entra en `{glob}`, que el carril local no puede tocar: quítelo o ponga `lane:frontier` y mueva la tarea a Queued.",
        },
        /// Guard 4.
        DependencyNotDone {
            en: "It waits until {tasks} is done; a pass after that goes on with it.",
            es: "Espera a que termine {tasks}; una pasada posterior sigue con ella.",
        },
        /// Guards 1, 4, 4b and 7.
        BoardIncomplete {
            en: "Some tasks of the board could not be read, so nothing is known of {tasks}: repair what `dispatch status` names; the next pass looks at the task again.",
            es: "Algunas tareas del tablero no se pudieron leer, así que no se sabe nada de {tasks}: repare lo que indica `dispatch status`; la próxima pasada vuelve a mirar la tarea.",
        },
        /// Guard 4.
        UnknownDependency {
            en: "The dependency {task} can never be done: there is no such task. Correct or remove it, then move the task to Queued.",
            es: "La dependencia {task} no se cumplirá nunca: no existe esa tarea. Corríjala o quítela y mueva la tarea a Queued.",
        },
        /// Guard 4.
        ArchivedDependency {
            en: "The dependency {task} can never be done: it was archived. Remove it or bring that task back, then move this one to Queued.",
            es: "La dependencia {task} no se cumplirá nunca: fue archivada. Quítela o recupere esa tarea y mueva esta a Queued.",
        },
        /// Guard 4.
        ForeignDependency {
            en: "The dependency `{task}` is no task id: correct or remove it, then move the task to Queued.",
            es: "La dependencia `{task}` no es un identificador de tarea: corríjala o quítela y mueva la tarea a Queued.",
        },
        /// Guard 4.
        DependencyCycle {
            en: "The task depends on itself: {path}. Remove one of these dependencies, then move it to Queued.",
            es: "La tarea depende de sí misma: {path}. Quite una de estas dependencias y muévala a Queued.",
        },
        /// Guard 4b.
        ParentBranchMissing {
            en: "The branch `{branch}` of its parent {task} is not on the remote, and `parentBranch` is `require`: push it, or set `parentBranch` to `create`; the next pass looks at the task again.",
            es: "La rama `{branch}` de su tarea madre {task} no está en el remoto y `parentBranch` es `require`: envíela, o ponga `parentBranch` en `create`; la próxima pasada vuelve a mirar la tarea.",
        },
        /// Guard 4b.
        RemoteUnknown {
            en: "The remote did not say whether the branch `{branch}` is there: look at the network and the login; the next pass looks at the task again.",
            es: "El remoto no dijo si existe la rama `{branch}`: revise la red y el acceso; la próxima pasada vuelve a mirar la tarea.",
        },
        /// Guard 5.
        AttemptsExhausted {
            en: "{count} of {limit} attempts are used up: look at the last one (`dispatch logs {task}`), then say in a comment what should be different and run `dispatch retry {task} --reset-attempts`, or raise `attempts` in the configuration and approve it with `dispatch trust`.",
            es: "Se agotaron {count} de {limit} intentos: mire el último (`dispatch logs {task}`), diga en un comentario qué debe cambiar y ejecute `dispatch retry {task} --reset-attempts`, o suba `attempts` en la configuración y apruébela con `dispatch trust`.",
        },
        /// Guard 5.
        TooManyFaults {
            en: "{count} attempts were lost to faults that are not the task's: look at the last one (`dispatch logs {task}`), and when the machine is well again run `dispatch retry {task}`.",
            es: "Se perdieron {count} intentos por fallos ajenos a la tarea: mire el último (`dispatch logs {task}`) y, cuando la máquina esté bien, ejecute `dispatch retry {task}`.",
        },
        /// Guard 6.
        LanePaused {
            en: "The {lane} lane is paused (`{cause}`): {detail}. The first pass after that goes on with the task, or one after `dispatch resume --lane {lane}`.",
            es: "El carril {lane} está en pausa (`{cause}`): {detail}. La primera pasada posterior sigue con la tarea, o una tras `dispatch resume --lane {lane}`.",
        },
        /// Guard 6.
        LaneOff {
            en: "The {lane} lane is off: `lanes.{lane}.maxParallel` is 0. Raise it and approve that with `dispatch trust`, or give the task another `lane:` label.",
            es: "El carril {lane} está apagado: `lanes.{lane}.maxParallel` es 0. Súbalo y apruébelo con `dispatch trust`, o dé a la tarea otra etiqueta `lane:`.",
        },
        /// Guard 6.
        LaneAtCapacity {
            en: "{running} of {limit} tasks run on the {lane} lane; the next pass looks at the task again.",
            es: "Hay {running} de {limit} tareas en el carril {lane}; la próxima pasada vuelve a mirar la tarea.",
        },
        /// Guard 6.
        NoFreeSlot {
            en: "All {count} slots are in use; the next pass looks at the task again.",
            es: "Los {count} puestos están en uso; la próxima pasada vuelve a mirar la tarea.",
        },
        /// Guard 7.
        ClaimsOverlap {
            en: "Its `{path}` ({field}) overlaps `{other_path}` ({other_field}) of {task}, which is being worked on; a later pass looks at it again. Add a dependency or split the files to order the two.",
            es: "Su `{path}` ({field}) se solapa con `{other_path}` ({other_field}) de {task}, en la que se está trabajando; una pasada posterior vuelve a mirarla. Añada una dependencia o separe los archivos para ordenarlas.",
        },
    }
}
