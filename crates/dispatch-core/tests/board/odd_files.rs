//! Files that broke the reader or the pure edit once: each is read, edited as the board program edits it, or refused.

use dispatch_core::board_config::Priorities;
use dispatch_core::task_edit::{self, Edit, EditError};
use dispatch_core::task_file::{self, FaultClass, MAX_FILE_BYTES};
use dispatch_core::worker_edit::Section;
use test_case::test_case;

const HEAD: &str = "id: T-1\ntitle: x\nstatus: To Do\nassignee: []\ncreated_date: '2026-03-01 09:15'\nlabels: []\ndependencies: []\n";

fn file(more: &str, body: &str) -> String {
    format!("---\n{HEAD}{more}---\n\n{body}")
}

fn blocked(text: &str) -> Result<String, EditError> {
    let edit = [Edit::Status("Blocked".to_owned())];
    let edited = task_edit::apply(text.as_bytes(), &edit, "2026-03-02 10:00")?;
    Ok(String::from_utf8(edited.expect("the status changes").bytes).unwrap())
}

/// What follows the front matter of an edited file.
fn body_of(text: &str) -> &str {
    text.split_once("\n---\n\n").or_else(|| text.split_once("\n---\r\n\r\n")).unwrap().1
}

/// B2.4: a zone of four bytes that are no four digits.
#[test_case("2026-08-10T10:00+a\u{e9}b"; "a letter of two bytes in the middle")]
#[test_case("2026-08-10T10:00+\u{1f680}"; "a letter of four bytes")]
#[test_case("2026-08-10T10:00+\u{e9}:00"; "a letter before the colon")]
#[test_case("2026-08-10T10:00+:0000"; "a colon first")]
fn b2_4_a_due_date_with_an_odd_zone_is_a_named_fault(date: &str) {
    let text = file(&format!("due_date: {date}\n"), "");
    let fault = task_file::parse(text.as_bytes(), &Priorities::default()).unwrap_err();
    assert_eq!((fault.class, fault.line), (FaultClass::Unreadable, Some(9)));
}

/// B2.7: the board program reads each of these, and runs the command at the next status change.
#[test_case("labels2: {a: b}\npriority: [high]\nonStatusChange: touch x\n"; "beside a list where one value belongs")]
#[test_case("references: [{a: b}]\nonStatusChange: touch x\n"; "beside a mapping in a list")]
#[test_case("updated_date: []\nonStatusChange: touch x\n"; "beside a date that is a list")]
#[test_case("parent_task_id: \"!\"\nonStatusChange: touch x\n"; "beside a parent that is no id")]
#[test_case("\"on\\x53tatusChange\": !!str touch x\n"; "an escaped name and a tag")]
#[test_case("z: &a {\"\\u006fnStatusChang\\U00000065\": touch x}\n<<: *a\n"; "an escaped name behind an alias")]
#[test_case("? \"onStatus\\\n  Change\"\n: !!str touch x\n"; "a name over two lines")]
fn b2_7_a_command_beside_another_fault_is_hostile(more: &str) {
    let fault = task_file::parse(file(more, "").as_bytes(), &Priorities::default()).unwrap_err();
    assert_eq!(fault.class, FaultClass::Hostile, "{}", fault.cause);
    assert!(fault.cause.contains("onStatusChange"), "{}", fault.cause);
}

#[test]
fn b2_7_an_escape_that_spells_no_command_is_a_plain_fault() {
    let text = file("milestone: \"C:\\x41\\\\onStat\\\"\npriority: [high]\n", "");
    let fault = task_file::parse(text.as_bytes(), &Priorities::default()).unwrap_err();
    assert_eq!(fault.class, FaultClass::Unreadable, "{}", fault.cause);
}

/// B3.1: an unmarked list, blank lines, and an empty marked list. The program drops both at any edit.
#[test_case(""; "the file ends there")]
#[test_case("\n"; "a line feed follows")]
fn b3_1_a_list_in_two_places_at_the_end_is_dropped_as_the_program_drops_it(end: &str) {
    let lists = "## Acceptance Criteria\n- [ ] a\n\n\n\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n<!-- AC:END -->";
    let edited = blocked(&file("", &format!("before\n\n{lists}{end}"))).unwrap();
    assert_eq!(body_of(&edited), "before\n");
}

/// B3.1: where the program would eat the text that follows, nothing is written.
#[test_case("## \u{d6}ther\n"; "a heading")]
#[test_case("text\n"; "text")]
fn b3_1_a_list_in_two_places_before_other_text_is_refused(behind: &str) {
    let lists = "## Acceptance Criteria\n- [ ] a\n\n\u{3000}\n\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n<!-- AC:END -->";
    let refused = blocked(&file("", &format!("{lists}\n\n{behind}"))).unwrap_err();
    assert_eq!(refused, EditError::TextBehindList { title: "Acceptance Criteria" });
}

#[test]
fn b3_1_a_list_in_two_places_close_together_leaves_the_text_behind_it() {
    let lists = "## Acceptance Criteria\n- [ ] a\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n<!-- AC:END -->";
    let edited = blocked(&file("", &format!("{lists}\n\n## \u{d6}ther\n"))).unwrap();
    assert_eq!(body_of(&edited), "## \u{d6}ther\n");
}

/// B3.10: a carriage return that ends no line is text, also where all lines end in one and a line feed.
#[test]
fn b3_10_a_carriage_return_before_a_line_end_stays() {
    let text = file("", "a\n\r\nb\n").replace('\n', "\r\n");
    let edited = blocked(&text).unwrap();
    assert_eq!(body_of(&edited), "a\r\n\r\r\nb\r\n");
}

/// B3.1: a file that nobody could read afterwards is not written.
#[test]
fn b3_1_a_file_does_not_grow_beyond_what_is_read() {
    let most = usize::try_from(MAX_FILE_BYTES).unwrap();
    let text = file("", "");
    let edit = [Edit::Replace { section: Section::Notes, text: "x".repeat(most) }];
    let refused = task_edit::apply(text.as_bytes(), &edit, "2026-03-02 10:00").unwrap_err();
    assert!(matches!(refused, EditError::TooLarge { most: MAX_FILE_BYTES, .. }), "{refused}");
}

/// B2.4: the time to read a file must not grow with the square of what it holds.
#[test_case("## Comments\n\n<!-- COMMENTS:BEGIN -->\n"; "comments that never end")]
#[test_case("## Description\n<!-- SECTION:DESCRIPTION:BEGIN -->\n"; "sections that never end")]
#[test_case("<!-- SECTION:PLAN:BEGIN -->\n<!-- AC:END -->\n"; "halves of two families")]
fn b2_4_a_file_of_thousands_of_markers_is_refused_and_one_of_hundreds_is_read(marks: &str) {
    let priorities = Priorities::default();
    let read = |count: usize| {
        task_file::parse(
            file("", &format!("{}{}", marks.repeat(count), "x\n".repeat(100_000))).as_bytes(),
            &priorities,
        )
    };
    assert!(read(500).unwrap().looks_torn());
    let fault = read(100_000).unwrap_err();
    assert!(fault.cause.contains("headings and section markers"), "{}", fault.cause);
}

/// Each begin marker has the end marker that closes it, however many stay open before it.
#[test]
fn b2_1_a_section_behind_one_that_never_ends_is_read() {
    let open = "## Implementation Plan\n<!-- SECTION:PLAN:BEGIN -->\nlost\n\n";
    let whole =
        "## Implementation Plan\n<!-- SECTION:PLAN:BEGIN -->\nfound\n<!-- SECTION:PLAN:END -->\n";
    let read =
        task_file::parse(file("", &format!("{open}{whole}")).as_bytes(), &Priorities::default());
    assert_eq!(read.unwrap().task.plan, "found");
}
