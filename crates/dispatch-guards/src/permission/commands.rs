//! Commands of the shell that the agent treats in a way of their own (F3, F5, F7).

/// How the arguments of a command name files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileArguments {
    /// All that are no options and no values of these options are read.
    Read(&'static [&'static str]),
    /// The first is a program in the command's own language, the others are read.
    ReadAfterFirst(&'static [&'static str]),
    /// The first is a pattern unless an option gives one, the others are read.
    ReadAfterPattern,
    /// As with a pattern; they are written with `-i`.
    EditedInPlace,
    /// Those before the first condition are read.
    ReadBeforeConditions,
    /// One folder to move to, judged with the place.
    MovedTo,
    /// All that are no options and no values of these options are written.
    Written(&'static [&'static str]),
    /// Whether the agent looks at them was not recorded: no decision rests on it, and a file rule
    /// is not taken to leave them alone.
    NotRecorded,
}

/// The commands whose file arguments the agent takes for paths: they are held inside the slot, and
/// file rules bear on them.
///
/// `tac`, `xxd` and `dd` are none of them [dr_envb-23, dr_envb-24, dr_envb-26], nor are `tee`, `ln`
/// and `chmod` [cmdnoed-11, cmdnoed-15, cmdnoed-17].
const FILE_COMMANDS: &[(&[&str], FileArguments)] = &[
    // [dr_env-04, dr_env-19, ro-105, ro-115]
    (&["cat", "ls", "uniq", "diff"], FileArguments::Read(COMMON_VALUES)),
    // The facts name `cat/head/grep/sed/ls...` and leave the rest open: taken for one of them, these
    // are held where they are free, and no file rule is taken to leave them alone.
    (
        &[
            "wc",
            "nl",
            "md5sum",
            "sha1sum",
            "sha256sum",
            "hexdump",
            "od",
            "strings",
            "base64",
            "file",
            "paste",
            "column",
        ],
        FileArguments::Read(COMMON_VALUES),
    ),
    // [dr_env-07]
    (&["head", "tail"], FileArguments::Read(&["-n", "-c"])),
    // [dr_env-20]
    (&["sort"], FileArguments::Read(&["-k", "-t", "-S"])),
    (&["cut"], FileArguments::Read(&["-d", "-f", "-c", "-b"])),
    // [ro-95]
    (&["stat"], FileArguments::Read(&["-c", "--format", "--printf", "-f"])),
    // [dr_env-08, dr_src-06]
    (&["grep", "rg"], FileArguments::ReadAfterPattern),
    // [dr_envb-19]
    (&["awk", "jq"], FileArguments::ReadAfterFirst(&["-F", "-v", "--arg", "--argjson"])),
    // [dr_envb-10, edcmd-09]
    (&["sed"], FileArguments::EditedInPlace),
    // [a_find-03]
    (&["find"], FileArguments::ReadBeforeConditions),
    // [a_cd-01]
    (&["cd"], FileArguments::MovedTo),
    // [rd_slash-07]
    (&["mkdir"], FileArguments::Written(&["-m", "--mode"])),
    // [de_src-06]
    (&["touch"], FileArguments::Written(&["-d", "-r", "-t", "--date"])),
    // [de_srcb-07, mo_dontAsk-17]
    (&["rm", "rmdir"], FileArguments::Written(&[])),
    // [de_srcb-05, de_srcb-06]
    (&["cp", "mv"], FileArguments::Written(&["-t", "-S"])),
    // `du` runs on paths outside the slot [ro-27]; under a deny it was not tried.
    (&["cmp", "comm", "du", "egrep", "fgrep", "fold", "tree"], FileArguments::NotRecorded),
];

const COMMON_VALUES: &[&str] = &["-d", "-n", "-s", "-t", "-A", "-j", "-N", "-w"];

/// How the arguments of a command name files; none when the agent does not look at them.
pub(crate) fn file_arguments(command: &str) -> Option<FileArguments> {
    FILE_COMMANDS
        .iter()
        .find(|(names, _)| names.contains(&command))
        .map(|(_, arguments)| *arguments)
}

/// The commands that a file rule may bear on.
pub(crate) fn file_commands() -> impl Iterator<Item = &'static str> {
    FILE_COMMANDS.iter().flat_map(|(names, _)| names.iter().copied())
}

/// Commands that no rule but `Bash` covers [ev1-01, ev2-01, ev3-01].
pub(crate) const UNGRANTABLE: &[&str] = &["eval", "source", "exec", "."];

/// Words of the shell's grammar: what they begin is judged part by part, and no part is called like
/// them [ev6-01].
pub(crate) const GRAMMAR: &[&str] = &["for", "while", "until", "if", "case", "function", "{", "("];
