//! How a worker ended, decided over its stream of events (D10).

/// What matters of an agent's stream of events, fed line by line; its memory does not grow with the stream.
#[derive(Debug, Clone, Default)]
pub struct StreamSummary {}
