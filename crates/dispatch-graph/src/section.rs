//! The part of a document that holds the graph (R1.4).

use thiserror::Error;

/// What begins the part.
pub const BEGIN: &str = "<!-- BEGIN backlog-graph -->";

/// What ends it.
pub const END: &str = "<!-- END backlog-graph -->";

/// What has to happen to a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// It becomes this.
    To(Vec<u8>),
}

/// Why the part cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SectionError {
    /// No marker at all: the document was not written for the graph.
    #[error(
        "it has no place for the graph; put the lines `{BEGIN}` and `{END}` where it is to stand"
    )]
    NoMarkers,
    /// One marker without the other.
    #[error(
        "it holds `{found}` without `{missing}`; put the other marker back, or remove this one"
    )]
    OneMarker {
        /// The marker that is there.
        found: &'static str,
        /// The marker that is not.
        missing: &'static str,
    },
    /// More than one pair.
    #[error("it holds `{BEGIN}` {begins} times and `{END}` {ends} times; keep one pair")]
    Several {
        /// How often the first marker is there.
        begins: usize,
        /// How often the second one is.
        ends: usize,
    },
    /// The markers in the wrong order.
    #[error("it holds `{END}` before `{BEGIN}`")]
    WrongOrder,
}

/// The part with a Mermaid chart, markers included, without a line end behind it.
pub fn mermaid_part(chart: &str) -> String {
    format!("{BEGIN}\n```mermaid\n{}\n```\n{END}", chart.trim_end())
}

/// Puts the part into a document in place of the one there. Every byte outside the markers stays; between them the
/// document's own line ends are used.
///
/// # Errors
///
/// When the markers do not form exactly one pair. A document without them is not one to write to.
pub fn put(document: &[u8], part: &str) -> Result<Change, SectionError> {
    let (begins, ends) = (places(document, BEGIN), places(document, END));
    let (before, after) = match (begins.as_slice(), ends.as_slice()) {
        ([], []) => return Err(SectionError::NoMarkers),
        ([_], []) => return Err(SectionError::OneMarker { found: BEGIN, missing: END }),
        ([], [_]) => return Err(SectionError::OneMarker { found: END, missing: BEGIN }),
        ([begin], [end]) if begin < end => (*begin, end + END.len()),
        ([_], [_]) => return Err(SectionError::WrongOrder),
        (begins, ends) => {
            return Err(SectionError::Several { begins: begins.len(), ends: ends.len() });
        }
    };
    let line_end = match document.iter().position(|byte| *byte == b'\n') {
        Some(at) if at > 0 && document[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    };
    let part = part.replace('\n', line_end);
    let mut changed = document[..before].to_vec();
    changed.extend(part.as_bytes());
    changed.extend(&document[after..]);
    Ok(if changed == document { Change::None } else { Change::To(changed) })
}

/// A new document the board program accepts and shows.
pub fn new_document(id: &str, created: &str, part: &str) -> String {
    format!(
        "---\nid: {id}\ntitle: Dependency graph\ntype: other\ncreated_date: '{created}'\n---\n\n\
         What depends on what. Arrows lead from what is done first to what waits for it; a dashed arrow leads from a \
         subtask to its parent.\nThe part between the markers is written by `backlog-graph --write`.\n\n{part}\n"
    )
}

fn places(document: &[u8], marker: &str) -> Vec<usize> {
    let windows = document.windows(marker.len()).enumerate();
    windows.filter(|(_, window)| *window == marker.as_bytes()).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test]
    fn r1_4_every_byte_outside_the_markers_stays() {
        let before = b"\xff\xfe no text \r\n".to_vec();
        let mut document = before.clone();
        document.extend(format!("x{BEGIN}old{END}y\r\n\x00").as_bytes());
        let part = mermaid_part("flowchart LR\n");
        let Change::To(changed) = put(&document, &part).unwrap() else { panic!("nothing changed") };
        let mut expected = before;
        expected.push(b'x');
        expected.extend(part.replace('\n', "\r\n").as_bytes());
        expected.extend(b"y\r\n\x00");
        assert_eq!(changed, expected);
        assert_eq!(put(&changed, &part).unwrap(), Change::None);
    }

    #[test_case(""; "an empty one")]
    #[test_case("# Notes\n"; "notes of a person")]
    #[test_case("[core]\n\tbare = false\n"; "no document at all")]
    fn r1_4_a_document_that_was_not_made_for_the_graph_is_left_alone(document: &str) {
        let part = mermaid_part("flowchart LR");
        assert_eq!(put(document.as_bytes(), &part), Err(SectionError::NoMarkers));
    }

    #[test]
    fn r1_4_a_new_document_holds_the_part_already() {
        let part = mermaid_part("flowchart LR");
        let document = new_document("doc-1", "2026-11-30 10:00", &part);
        assert_eq!(put(document.as_bytes(), &part).unwrap(), Change::None);
    }

    #[test_case(&[BEGIN]; "a begin alone")]
    #[test_case(&[END]; "an end alone")]
    #[test_case(&[END, BEGIN]; "the wrong order")]
    #[test_case(&[BEGIN, END, BEGIN, END]; "two pairs")]
    #[test_case(&[BEGIN, BEGIN, END]; "two begins")]
    #[test_case(&[BEGIN, END, END]; "two ends")]
    fn r1_4_anything_but_one_pair_is_an_error(markers: &[&str]) {
        let document = markers.join("\ntext\n");
        assert!(put(document.as_bytes(), "x").is_err());
    }
}
