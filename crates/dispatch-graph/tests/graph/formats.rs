//! Each format of a small board, word for word, and the pictures of larger ones.

use dispatch_core::status::Status;
use dispatch_graph::{Filter, View, dot, json, mermaid, svg, text};

use crate::boards::{Card, all, card, graph, id, ids, made, open};

fn small() -> Vec<Card> {
    vec![
        card("1", "Read the board", "Done", &[]),
        card("2", "Find \"cycles\" & <loops>", "In Progress", &["1"]).labels(&["lane:local"]),
        card("3", "Draw", "Queued", &["2"])
            .labels(&["lane:frontier", "area:ui"])
            .claims(&["src/draw.rs"]),
        card("3.1", "Draw boxes", "To Do", &[]).part_of("3").claims(&["src/"]),
        card("4", "Measure", "Blocked", &["2"]).claims(&["src/draw.rs"]),
    ]
}

#[test]
fn r1_3_mermaid_by_the_word() {
    insta::assert_snapshot!(mermaid::render(&open(&graph(&small()))), @r##"
    flowchart LR
        %% 4 of 5 tasks, 1 finished, critical path of 2
        n1["T-2<br>Find #34;cycles#34; #38; #60;loops#62;"]
        n2["T-3<br>Draw"]
        n3["T-3.1<br>Draw boxes"]
        n4["T-4<br>Measure"]
        n1 --> n2
        n3 -.-> n2
        n1 --> n4
        classDef todo fill:#eef1f5,stroke:#8492a6,color:#1c2733
        class n3 todo
        classDef queued fill:#e3efff,stroke:#2f74d0,color:#1c2733
        class n2 queued
        classDef progress fill:#fff3d6,stroke:#c98a00,color:#1c2733
        class n1 progress
        classDef blocked fill:#ffe4e1,stroke:#d1372c,color:#1c2733
        class n4 blocked
        classDef critical stroke-width:4px
        class n1,n2 critical
        linkStyle 0 stroke-width:4px
    "##);
}

#[test]
fn r1_3_dot_by_the_word() {
    insta::assert_snapshot!(dot::render(&open(&graph(&small()))), @r##"
    digraph "backlog-graph" {
        rankdir=LR;
        node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11, fontcolor="#1c2733"];
        edge [color="#6b7a8c"];
        label="4 of 5 tasks, 1 finished, critical path of 2"; labelloc=t; fontname="Helvetica";
        "T-2" [label="T-2\nFind \"cycles\" &amp; &lt;loops&gt;", tooltip="In Progress", fillcolor="#fff3d6", color="#c98a00", penwidth=3];
        "T-3" [label="T-3\nDraw", tooltip="Queued", fillcolor="#e3efff", color="#2f74d0", penwidth=3];
        "T-3.1" [label="T-3.1\nDraw boxes", tooltip="To Do", fillcolor="#eef1f5", color="#8492a6"];
        "T-4" [label="T-4\nMeasure", tooltip="Blocked", fillcolor="#ffe4e1", color="#d1372c"];
        "T-2" -> "T-3" [penwidth=3];
        "T-3.1" -> "T-3" [style=dashed];
        "T-2" -> "T-4";
    }
    "##);
}

#[test]
fn r1_3_text_by_the_word() {
    insta::assert_snapshot!(text::render(&all(&graph(&small()))), @r##"
    ◔ T-3 * Draw [Queued, frontier, overlaps T-4]
    ├─ ◒ T-2 * Find "cycles" & <loops> [In Progress, local]
    │  └─ ✔ T-1 Read the board [Done]
    └─ subtask ○ T-3.1 Draw boxes [To Do, ready, overlaps T-4]
    ● T-4 Measure [Blocked, overlaps T-3 and others]
    └─ ◒ T-2 * Find "cycles" & <loops> [In Progress, local] (see its place)

    5 of 5 tasks, 1 finished, critical path of 2
    below a task stands what it waits for; ○ to do, ◔ queued, ◒ in progress, ● blocked, ✔ done
    critical path (*): T-2 → T-3
    "##);
}

#[test]
fn r1_3_json_by_the_word() {
    insta::assert_snapshot!(json::render(&all(&graph(&small()[1..3])), None), @r##"
    {
      "schemaVersion": 1,
      "kind": "backlog-graph",
      "complete": true,
      "tasks": [
        {
          "id": "T-2",
          "title": "Find \"cycles\" & <loops>",
          "status": "In Progress",
          "lane": "local",
          "labels": [
            "lane:local"
          ],
          "priority": 0,
          "finished": false,
          "ready": false,
          "blockedBy": [
            "T-1"
          ],
          "layer": 0,
          "onCriticalPath": true,
          "onCycle": false,
          "overlaps": [],
          "moreOverlaps": false
        },
        {
          "id": "T-3",
          "title": "Draw",
          "status": "Queued",
          "lane": "frontier",
          "labels": [
            "lane:frontier",
            "area:ui"
          ],
          "priority": 0,
          "finished": false,
          "ready": false,
          "blockedBy": [
            "T-2"
          ],
          "layer": 1,
          "onCriticalPath": true,
          "onCycle": false,
          "overlaps": [],
          "moreOverlaps": false
        }
      ],
      "edges": [
        {
          "from": "T-3",
          "to": "T-2",
          "kind": "needs"
        }
      ],
      "problems": [
        {
          "kind": "dangling-dependency",
          "tasks": [
            "T-2"
          ],
          "message": "T-2 depends on `T-1`, which is not on the board"
        }
      ],
      "criticalPath": [
        "T-2",
        "T-3"
      ]
    }
    "##);
}

#[test]
fn r1_3_pictures_of_5_50_and_500_tasks() {
    insta::assert_binary_snapshot!("five.svg", svg::render(&all(&graph(&small()))).into_bytes());
    insta::assert_binary_snapshot!("fifty.svg", svg::render(&all(&graph(&made(50)))).into_bytes());
    let large = svg::render(&all(&graph(&made(500))));
    insta::assert_binary_snapshot!("five-hundred.svg", large.into_bytes());
}

/// The rectangles of the tasks of a picture, and the size of the page.
fn boxes(picture: &str) -> (Vec<(f64, f64)>, f64, f64) {
    let attribute = |text: &str, name: &str| -> f64 {
        let at = text.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        text[at..].split('"').next().unwrap().parse().unwrap()
    };
    let head = picture.lines().next().unwrap();
    let corner = |line: &str| {
        let inside = line.split("translate(").nth(1)?.split(')').next()?;
        let (x, y) = inside.split_once(' ')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    let tasks = picture.lines().filter(|line| line.contains("<title>"));
    (tasks.filter_map(corner).collect(), attribute(head, "width"), attribute(head, "height"))
}

#[test]
fn r1_3_in_a_picture_of_500_tasks_nothing_overlaps_and_nothing_leaves_the_page() {
    let graph = graph(&made(500));
    let (boxes, width, height) = boxes(&svg::render(&all(&graph)));
    assert_eq!(boxes.len(), 500);
    for (number, (x, y)) in boxes.iter().enumerate() {
        assert!(*x >= 0.0 && *y >= 0.0 && x + 236.0 < width && y + 58.0 < height);
        for (other_x, other_y) in &boxes[..number] {
            assert!((x - other_x).abs() >= 236.0 || (y - other_y).abs() >= 58.0);
        }
    }
    assert!(width < 3.0 * height && height < 3.0 * width, "{width} x {height}");
}

#[test]
fn r1_5_filters_choose_and_unknown_roots_are_told() {
    let graph = graph(&small());
    let shown = |filter: Filter| View::of(&graph, &filter).map(|view| ids(&graph, &view.shown));
    let statuses = vec![Status::Queued, Status::parse("blocked")];
    assert_eq!(shown(Filter { statuses, ..Filter::default() }).unwrap(), ["T-3", "T-4"]);
    assert_eq!(
        shown(Filter { labels: vec!["AREA:ui".into()], ..Filter::default() }).unwrap(),
        ["T-3"]
    );
    assert_eq!(
        shown(Filter { roots: vec![id("3.1")], ..Filter::default() }).unwrap(),
        ["T-3", "T-3.1"]
    );
    let error = shown(Filter { roots: vec![id("77")], ..Filter::default() }).unwrap_err();
    assert_eq!(error.to_string(), "there is no task T-77 on the board");
}
