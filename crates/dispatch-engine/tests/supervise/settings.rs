//! P5, D7.6: the settings files that a worker loads.

use dispatch_core::branch::BranchName;
use dispatch_core::config::SettingSource;
use dispatch_core::status::Status;
use dispatch_engine::ports::{AttemptFile, RemoteBranch};
use dispatch_engine::supervise::{Drain, End, Mode};
use serde_json::{Value, json};

use crate::world::{World, diligent};

const PROJECT: &str = ".claude/settings.json";

/// A local lane that loads the person's and the project's settings.
fn world(sources: &[SettingSource], person: Option<&str>) -> World {
    let world = World::new(diligent());
    world.hand_over(|hand| {
        hand.config.lanes.local.setting_sources = sources.to_vec();
        hand.agent_settings.person.text = Ok(person.map(str::to_owned));
    });
    world
}

/// Puts a file into the base that the attempt starts from.
fn commit(world: &World, path: &str, text: &str) {
    let main = BranchName::parse("main").unwrap();
    let mut state = world.state();
    let before = state.repository.remote[&main].clone();
    let mut files = state.repository.files(&before).clone();
    files.insert(path.to_owned(), text.to_owned());
    let tree = state.repository.tree(files);
    let commit = state.repository.commit(&tree, &[before], "settings");
    state.repository.remote.insert(main, commit.clone());
    drop(state);
    world.hand_over(|hand| hand.base.seen = RemoteBranch::At(commit));
}

fn ended(reason: &str) -> End {
    End::Ended { reason: reason.to_owned(), drain: Drain::Pass }
}

#[track_caller]
fn refused(world: &World, reason: &str) -> String {
    assert_eq!(world.supervise(Mode::Begin), ended(reason));
    assert_eq!(world.status(), Status::Queued);
    assert_eq!(world.read().counts.counted, 0);
    assert!(!world.state().log.contains(&"launch".to_owned()));
    String::from_utf8(world.state().files[&AttemptFile::RunLog].clone()).unwrap()
}

fn argv(world: &World) -> Vec<String> {
    let launch: Value = serde_json::from_slice(&world.state().files[&AttemptFile::Launch]).unwrap();
    serde_json::from_value(launch["argv"].clone()).unwrap()
}

/// P5.1, P5.4, D7.6: the worker gets a copy of what was judged, and what it adds is denied where it lies.
#[test]
fn d7_6_the_person_s_settings_are_copied_and_what_they_add_is_denied() {
    let text = json!({"permissions": {"allow": ["Bash(gh:*)", "Bash(npx:*)"]}}).to_string();
    let world = world(&[SettingSource::User], Some(&text));
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert_eq!(world.state().given_settings, Some(("/tmp/d/c".into(), text)));
    let argv = argv(&world);
    let denied = argv.iter().position(|word| word == "--disallowedTools").unwrap();
    assert_eq!(argv[denied + 1..denied + 3], ["Bash(gh:*)", "Bash(npx:*)"]);
    let sources = argv.iter().position(|word| word == "--setting-sources").unwrap();
    assert_eq!(argv[sources + 1], "user");
}

#[test]
fn d7_6_without_the_source_or_the_file_nothing_is_copied() {
    let with_rules = r#"{"permissions": {"allow": ["Bash(gh:*)"]}}"#;
    for (sources, person) in [(&[][..], Some(with_rules)), (&[SettingSource::User][..], None)] {
        let world = world(sources, person);
        assert_eq!(world.supervise(Mode::Begin), ended("success"));
        assert_eq!(world.state().given_settings, None);
        assert!(!argv(&world).contains(&"Bash(gh:*)".to_owned()));
    }
}

/// P5.4, P5.6, P5.1: the second barrier, after guard 1b.
#[test]
fn p5_6_settings_that_cannot_be_loaded_pause_the_lane() {
    for (text, said) in [
        (
            r#"{"permissions": {"allow": ["Edit(**/*.rs)", "Bash(git:*)"], "deny": 1}}"#,
            "`permissions.deny`",
        ),
        (r#"{"permissions": "#, "drop it whole"),
        (r#"{"permissions": {"allow": ["Edit"]}}"#, "`Edit`"),
        (r#"{"permissions": {"allow": ["Bash(/opt/dispatch/worker-edit:*)"]}}"#, "worker-edit"),
        (r#"{"env": {"ANTHROPIC_BASE_URL": "http://other"}}"#, "`env.ANTHROPIC_BASE_URL`"),
        (r#"{"env": {"DISPATCH_MAILBOX": "/x"}}"#, "`env.DISPATCH_MAILBOX`"),
        (r#"{"permissions": {"additionalDirectories": ["/"]}}"#, "additionalDirectories"),
    ] {
        let world = world(&[SettingSource::User], Some(text));
        let log = refused(&world, "launch-refused");
        assert!(log.contains(said), "{text}: {log}");
        let pause = world.state().lane.pause.clone().unwrap();
        assert_eq!(pause.cause.as_str(), "launch-refused", "{text}");
    }
}

/// D4 1b, D7.5: a conflict with the task's own test command is the task's.
#[test]
fn d7_5_a_conflict_with_the_test_command_blocks_the_task_and_pauses_nothing() {
    let text = r#"{"permissions": {"allow": ["Bash(cargo:*)"]}}"#;
    let world = world(&[SettingSource::User], Some(text));
    assert_eq!(world.supervise(Mode::Begin), ended("launch-refused"));
    assert_eq!(world.status(), Status::Blocked);
    assert_eq!(world.state().lane.pause, None);
}

/// P4.4: lists that no command line holds are told from lists that are wrong.
#[test]
fn p4_4_lists_that_do_not_fit_pause_the_lane_for_that() {
    let many: Vec<String> = (0..900).map(|n| format!("Bash({}-{n})", "c".repeat(1000))).collect();
    let text = json!({"permissions": {"allow": many}}).to_string();
    let world = world(&[SettingSource::User], Some(&text));
    refused(&world, "deny-list-too-long");
    let pause = world.state().lane.pause.clone().unwrap();
    assert_eq!(pause.cause.as_str(), "deny-list-too-long");
}

#[test]
fn p5_7_the_project_s_settings_are_loaded_when_the_slot_has_the_base_s() {
    let text = r#"{"permissions": {"allow": ["Bash(gh:*)"]}}"#;
    let world = world(&[SettingSource::Project], None);
    commit(&world, PROJECT, text);
    assert_eq!(world.supervise(Mode::Begin), ended("success"));
    assert_eq!(world.state().given_settings, None);
    assert!(argv(&world).contains(&"Bash(gh:*)".to_owned()));
}

/// P5.7: what provisioning, or the branch, put into the slot is what the agent would read.
#[test]
fn p5_7_a_slot_with_other_settings_than_the_base_s_starts_nothing() {
    let files = [
        (PROJECT, r#"{"permissions": {"allow": ["Bash(gh:*)"]}}"#),
        (".claude/settings.local.json", "{}"),
    ];
    for (path, text) in files {
        for at_base in [None, Some("{}")] {
            let world = world(&[SettingSource::Project], None);
            if let Some(at_base) = at_base {
                commit(&world, PROJECT, at_base);
            }
            world.hand_over(|hand| {
                hand.config.provision.install = vec!["npm".into(), "install".into()];
            });
            world.state().writing.push(("npm", path, text));
            let log = refused(&world, "settings-drift");
            assert!(log.contains(path), "{log}");
            assert_eq!(world.state().lane.pause, None, "nothing of the lane is wrong");
        }
    }
}

/// P5.7: programs, variables and a mode come from what a person sees in the checkout.
#[test]
fn p5_7_what_the_checkout_s_file_does_not_have_starts_nothing() {
    let base = json!({"hooks": {"Stop": [{"hooks": []}]}, "env": {"CI": "1"}}).to_string();
    for (code_root, said) in [
        (None, Some("a hook for `Stop`, `env.CI`")),
        (Some(r#"{"env": {"CI": "1"}}"#), Some("a hook for `Stop`;")),
        (Some("not JSON"), Some("`env.CI`")),
        (Some(base.as_str()), None),
    ] {
        let world = world(&[SettingSource::Project], None);
        commit(&world, PROJECT, &base);
        world.hand_over(|hand| hand.agent_settings.code_root = code_root.map(str::to_owned));
        match said {
            None => assert_eq!(world.supervise(Mode::Begin), ended("success")),
            Some(said) => {
                let log = refused(&world, "settings-drift");
                assert!(log.contains(said), "{log}");
            }
        }
    }
}

/// D7.6: a worker without an account would start only to say that it is not logged in.
#[test]
fn d7_6_a_credential_that_is_not_set_pauses_the_lane_before_anything_starts() {
    let world = World::new(diligent());
    world.hand_over(|hand| {
        hand.config.agent.credential =
            dispatch_core::config::Credential::Env("OTHER_API_KEY".to_owned());
    });
    let log = refused(&world, "login-expired");
    assert!(log.contains("`OTHER_API_KEY`"), "{log}");
    assert_eq!(world.state().lane.pause.as_ref().unwrap().cause.as_str(), "login-expired");
}
