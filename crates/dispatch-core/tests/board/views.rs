//! B2.2, B2.3: the two views of the board program, held against the recorded facts and the files reader.

use dispatch_core::board_config::Priorities;
use dispatch_core::{task_file, task_json, task_view};
use serde_json::{Value, json};

use crate::fixtures::{Case, VERSIONS, cases, differences, facts_of, recorded};

fn read(case: &Case, name: &str) -> Option<String> {
    std::fs::read_to_string(case.dir.join(name)).ok().filter(|text| !text.is_empty())
}

#[test]
fn b2_2_every_recorded_json_view_gives_the_recorded_facts_and_those_of_the_file() {
    let (mut agree, mut wrong) = (0, Vec::new());
    for case in VERSIONS.iter().flat_map(|version| cases(version)) {
        let Some(text) = read(&case, "view.json") else { continue };
        let task = match task_json::parse(&text, &Priorities::default()) {
            Ok(task) => task,
            Err(error) => {
                wrong.push(format!("{}: {error}", case.name));
                continue;
            }
        };
        let mut found = facts_of(&task);
        if found["labels"] == case.facts()["labels"] {
            found["labels"] = recorded(case.facts())["labels"].clone();
        }
        let mut differs = differences(&found, &recorded(case.facts()));
        let file = task_file::parse(&case.bytes(), &Priorities::default()).unwrap().task;
        if (&file.declared_files, &file.test_command, &file.tier)
            != (&task.declared_files, &task.test_command, &task.tier)
        {
            differs.push("what is read from the texts".to_owned());
        }
        if differs.is_empty() {
            agree += 1;
        } else {
            wrong.push(format!("{}: {}", case.name, differs.join("; ")));
        }
    }
    println!("recorded JSON views: {agree} agree, {} do not", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(agree, 122);
}

/// The facts a plain view of a version can show.
fn visible(version: &str, facts: &mut Value, expected: &Value, newest: bool) {
    let mut hide = |keys: &[&str]| {
        for key in keys {
            facts[*key] = Value::Null;
        }
    };
    match version {
        "1.27.1" => hide(&["dod", "comments", "final_summary"]),
        "1.39.2" => hide(&["comments"]),
        _ => {}
    }
    if newest {
        // The graph is sorted and has its own spelling of ids.
        let mut ids: Vec<String> = expected["direct_dependencies_in_graph"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap().to_uppercase())
            .collect();
        ids.sort();
        facts["dependencies"] = json!(ids);
    }
}

#[test]
fn b2_3_a_plain_view_agrees_with_the_facts_or_is_marked_as_ambiguous() {
    let (mut agree, mut marked_agree, mut marked_differ, mut wrong) = (0, 0, 0, Vec::new());
    for case in VERSIONS.iter().flat_map(|version| cases(version)) {
        let Some(text) = read(&case, "view.txt") else { continue };
        let version = case.expected["version"].as_str().unwrap();
        let view = task_view::parse(&text, &Priorities::default()).unwrap();
        let newest = version == "1.52.0";
        let (mut found, mut facts) = (facts_of(&view.task), recorded(case.facts()));
        if found["labels"] == case.facts()["labels"] {
            found["labels"] = facts["labels"].clone();
        }
        let mut sorted: Vec<String> =
            serde_json::from_value(found["dependencies"].clone()).unwrap();
        sorted.sort();
        visible(version, &mut facts, case.facts(), newest);
        visible(version, &mut found, case.facts(), false);
        if newest {
            found["dependencies"] = json!(sorted);
        }
        let differs = differences(&found, &facts);
        match (differs.is_empty(), view.ambiguities.is_empty()) {
            (true, true) => agree += 1,
            (true, false) => marked_agree += 1,
            (false, false) => marked_differ += 1,
            (false, true) => wrong.push(format!("{}: {}", case.name, differs.join("; "))),
        }
    }
    println!(
        "recorded plain views: {agree} agree, {marked_agree} agree and are marked ambiguous, {marked_differ} differ and \
         are marked, {} differ unmarked",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(agree + marked_agree + marked_differ, 299);
}
