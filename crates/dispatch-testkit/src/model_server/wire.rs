//! An answer in the form of the Messages API: one JSON document, or a stream of server-sent events.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use super::ModelRequest;
use super::script::{Answer, Block, Cut};
use crate::http::{Next, Reply};

pub(super) fn json_header() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "application/json".to_owned())]
}

/// Sends `answer`, streamed if the request asks for it.
pub(super) fn stream(
    answer: &Answer,
    request: &ModelRequest,
    reply: &mut Reply<'_>,
) -> io::Result<Next> {
    let message = message(answer, request);
    if request.body["stream"] != true {
        if answer.cut.is_some() {
            return Ok(Next::Drop);
        }
        let mut headers = json_header();
        headers.extend(answer.headers.iter().cloned());
        reply.send(200, &headers, message.to_string().as_bytes())?;
        return Ok(Next::Keep);
    }
    let mut headers =
        vec![("content-type".to_owned(), "text/event-stream; charset=utf-8".to_owned())];
    headers.extend(answer.headers.iter().cloned());
    reply.begin(200, &headers)?;
    let events = events(&message);
    let half = events.len() / 2;
    for (index, event) in events.iter().enumerate() {
        if index == half && answer.stall > Duration::ZERO {
            reply.stop().pause(answer.stall);
        }
        let last = index + 1 == events.len();
        let cut_here = match answer.cut {
            Some(Cut::AtOnce) => true,
            Some(Cut::Middle) => index == half,
            Some(Cut::BeforeStop) => last,
            None => false,
        };
        if cut_here {
            return Ok(Next::Drop);
        }
        let kind = event["type"].as_str().unwrap_or_default();
        reply.chunk(format!("event: {kind}\ndata: {event}\n\n").as_bytes())?;
    }
    reply.end()?;
    Ok(Next::Keep)
}

fn message(answer: &Answer, request: &ModelRequest) -> Value {
    let number = request.number;
    let blocks = answer.blocks.iter().enumerate().map(|(index, block)| match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": "dGVzdA=="})
        }
        Block::Tool { name, input } => {
            let id = format!("toolu_test{number:04}_{index}");
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    });
    let calls = answer.blocks.iter().any(|block| matches!(block, Block::Tool { .. }));
    let natural = if calls { "tool_use" } else { "end_turn" };
    let (input_tokens, output_tokens) = answer.usage.unwrap_or((10, 5));
    json!({
        "id": format!("msg_test{number:04}"),
        "type": "message",
        "role": "assistant",
        "model": request.model(),
        "content": blocks.collect::<Vec<_>>(),
        "stop_reason": answer.stop_reason.as_deref().unwrap_or(natural),
        "stop_sequence": null,
        "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
    })
}

fn events(message: &Value) -> Vec<Value> {
    let mut opening = message.clone();
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    opening["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": opening})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let (start, deltas) = deltas(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": {"output_tokens": message["usage"]["output_tokens"]},
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

/// The empty block that opens, and the pieces that fill it: two each, since a client must join them.
fn deltas(block: &Value) -> (Value, Vec<Value>) {
    let mut start = block.clone();
    let (field, kind, text) = match block["type"].as_str() {
        Some("text") => {
            ("text", "text_delta", block["text"].as_str().unwrap_or_default().to_owned())
        }
        Some("thinking") => (
            "thinking",
            "thinking_delta",
            block["thinking"].as_str().unwrap_or_default().to_owned(),
        ),
        _ => ("partial_json", "input_json_delta", block["input"].to_string()),
    };
    match field {
        "partial_json" => start["input"] = json!({}),
        other => start[other] = json!(""),
    }
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (first, second) = text.split_at(middle);
    let mut deltas: Vec<Value> =
        [first, second].iter().map(|piece| json!({"type": kind, field: piece})).collect();
    if field == "thinking" {
        deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
    }
    (start, deltas)
}
