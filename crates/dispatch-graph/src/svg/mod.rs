//! A picture, drawn without any program.
//!
//! Tasks that are connected form a drawing of their own, in columns from what is done first to what waits for it; the
//! drawings are packed into rows. Every box has room for its text: what is longer is cut and marked, with the whole
//! title as the box's tooltip.

mod arrange;
mod columns;
mod measure;
mod paint;

use crate::view::View;

/// The size of a task's box.
pub(crate) const BOX_WIDTH: f64 = 236.0;
/// The height of a task's box.
pub(crate) const BOX_HEIGHT: f64 = 58.0;

/// Renders a view as an SVG document that follows the reader's light or dark setting.
pub fn render(view: &View<'_>) -> String {
    let picture = arrange::arrange(view);
    paint::paint(view, &picture)
}

/// How every picture of ours begins, and no other file.
const BEGINNING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"backlog-graph\" ";

/// Whether a file holds a picture of ours, of whatever board.
pub fn is_ours(file: &[u8]) -> bool {
    file.starts_with(BEGINNING.as_bytes())
}

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Picture {
    /// The upper left corner of each task's box, by position in the graph.
    pub boxes: Vec<(usize, Point)>,
    /// The way of each edge, in the view's order: from the end of one box to the beginning of the other.
    pub ways: Vec<Vec<Point>>,
    /// The size of it all.
    pub width: f64,
    /// The size of it all.
    pub height: f64,
}

/// A point, in pixels from the upper left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}
