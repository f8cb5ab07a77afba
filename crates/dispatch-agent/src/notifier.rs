//! Telling a person (K4).

use std::ffi::OsString;
use std::time::Duration;

use dispatch_core::config::Notify;
use dispatch_engine::ports::Notifier;
use dispatch_proc::{Call, Sink, find_program, run};

/// How long a notifier may take.
const LIMIT: Duration = Duration::from_secs(5);

/// A macOS script that shows its two arguments: nothing a person or a worker wrote becomes part of the script.
const OSASCRIPT: &str =
    "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

/// Notifies through a program, best effort.
#[derive(Debug, Clone)]
pub struct SystemNotifier {
    notify: Notify,
    env: Vec<(OsString, OsString)>,
}

impl SystemNotifier {
    /// A notifier as configured; its program is found on the `PATH` of `env`, and gets all of `env`.
    pub fn new(notify: Notify, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { notify, env: env.into_iter().collect() }
    }

    fn finds(&self, program: &str) -> bool {
        let path = self.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| &**path);
        find_program(program, path, "/".into()).is_ok()
    }
}

impl Notifier for SystemNotifier {
    fn notify(&self, title: &str, body: &str) {
        let Some(argv) = notifier_argv(&self.notify, title, body, |program| self.finds(program))
        else {
            return;
        };
        let Some((program, words)) = argv.split_first() else { return };
        let mut call = Call::new(program.as_str(), "/", LIMIT).args(words).envs(self.env.clone());
        call.stdout = Sink::Null;
        match run(&call) {
            Ok(finished) if finished.is_success() => {}
            // The program's own words, without those of the notification.
            Ok(finished) => tracing::warn!(why = finished.failure(program), "nobody was notified"),
            Err(error) => tracing::warn!(%error, "nobody was notified"),
        }
    }
}

/// The command line that shows a notification; none when nothing is to be shown, or nothing can show it.
pub fn notifier_argv(
    notify: &Notify,
    title: &str,
    body: &str,
    finds: impl Fn(&str) -> bool,
) -> Option<Vec<String>> {
    match notify {
        Notify::Command(argv) => Some(argv.iter().map(|word| filled(word, title, body)).collect()),
        Notify::Auto if finds("notify-send") => Some(
            ["notify-send", "--app-name=dispatch", "--", title, body].map(str::to_owned).into(),
        ),
        Notify::Auto if finds("osascript") => {
            Some(["osascript", "-e", OSASCRIPT, "--", title, body].map(str::to_owned).into())
        }
        Notify::Auto | Notify::Off => None,
    }
}

/// Fills in the placeholders in one go: what is filled in is not looked at again.
fn filled(word: &str, title: &str, body: &str) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        rest = if let Some(after) = from.strip_prefix("{title}") {
            filled.push_str(title);
            after
        } else if let Some(after) = from.strip_prefix("{body}") {
            filled.push_str(body);
            after
        } else {
            filled.push('{');
            &from[1..]
        };
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(notify: &Notify, present: &[&str]) -> Option<Vec<String>> {
        notifier_argv(notify, "T-1 blocked: {body}", "$(x) {title}", |program| {
            present.contains(&program)
        })
    }

    #[test]
    fn k4_a_command_gets_title_and_body_in_place_of_its_placeholders() {
        let notify =
            Notify::Command(["say", "{title}: {body}!", "{other} {"].map(str::to_owned).into());
        assert_eq!(
            argv(&notify, &[]).unwrap(),
            ["say", "T-1 blocked: {body}: $(x) {title}!", "{other} {"]
        );
    }

    #[test]
    fn k4_auto_takes_the_platforms_own_notifier_when_there_is_one() {
        assert_eq!(argv(&Notify::Auto, &[]), None);
        let linux = argv(&Notify::Auto, &["notify-send", "osascript"]).unwrap();
        assert_eq!(linux[0], "notify-send");
        assert_eq!(linux[2..], ["--", "T-1 blocked: {body}", "$(x) {title}"]);
        let mac = argv(&Notify::Auto, &["osascript"]).unwrap();
        assert_eq!(mac[..3], ["osascript", "-e", OSASCRIPT]);
        assert_eq!(argv(&Notify::Off, &["notify-send"]), None);
    }
}
