//! The model of the agent against its recorded decisions (P2.3).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_macros,
    reason = "a test fails by panicking, and prints the table of agreement"
)]
#![expect(clippy::disallowed_methods, reason = "tests read recorded fixtures")]

mod facts;
mod surface;

use std::collections::BTreeMap;

use dispatch_guards::permission::Decision;
use dispatch_guards::permission::recorded::decide_case;
use serde_json::Value;

const CASES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/oracles/claude-permissions.json");

/// How a group of cases came out.
#[derive(Default)]
struct Tally {
    cases: usize,
    agree: usize,
    unknown: Vec<String>,
    wrong: Vec<String>,
}

/// P2.3: every case is right but those declared unknown, which are these and below 3 %.
#[test]
fn p2_3_the_model_agrees_with_every_recorded_decision() {
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(CASES).unwrap()).unwrap();
    let mut groups: BTreeMap<&str, Tally> = BTreeMap::new();
    for case in recorded["cases"].as_array().unwrap() {
        let tally = groups.entry(case["group"].as_str().unwrap()).or_default();
        tally.cases += 1;
        let recorded = case["decision"].as_str().unwrap();
        let decision = decide_case(case).unwrap();
        match (&decision, recorded) {
            (Decision::Allowed(_), "allowed") | (Decision::Denied(_), "denied" | "error") => {
                tally.agree += 1;
            }
            (Decision::Unknown(why), _) => {
                tally.unknown.push(format!("{} was {recorded}: {why}", case["id"]));
            }
            // The tool ran into its own precondition: no decision was made.
            _ if case["why"] == "precondition" => tally.agree += 1,
            (Decision::Allowed(_) | Decision::Denied(_), _) => {
                tally
                    .wrong
                    .push(format!("{} was {recorded}: {decision:?} {}", case["id"], case["input"]));
            }
        }
    }
    println!("{:<15} {:>6} {:>6} {:>8} {:>6}", "group", "cases", "agree", "unknown", "wrong");
    let mut all = Tally::default();
    for (name, tally) in &groups {
        println!(
            "{name:<15} {:>6} {:>6} {:>8} {:>6}",
            tally.cases,
            tally.agree,
            tally.unknown.len(),
            tally.wrong.len()
        );
        all.cases += tally.cases;
        all.agree += tally.agree;
        all.unknown.extend(tally.unknown.iter().cloned());
        all.wrong.extend(tally.wrong.iter().cloned());
    }
    println!(
        "{:<15} {:>6} {:>6} {:>8} {:>6}",
        "all",
        all.cases,
        all.agree,
        all.unknown.len(),
        all.wrong.len()
    );
    assert_eq!(all.cases, 3128);
    assert!(all.wrong.is_empty(), "{}", all.wrong.join("\n"));
    let unknown = all.unknown.len();
    assert!(unknown * 100 < all.cases * 3, "{unknown} of {} are unknown", all.cases);
    insta::assert_snapshot!(all.unknown.join("\n"));
}
