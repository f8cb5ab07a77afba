//! The log on standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::args::{ColorWhen, GlobalArgs, LogFormat};

/// Starts logging: `DISPATCH_LOG` filters (such as `dispatch_git=debug`), `-v` raises the level.
pub fn start(global: &GlobalArgs) -> anyhow::Result<()> {
    let filter = match std::env::var("DISPATCH_LOG") {
        Ok(text) if !text.is_empty() => text.parse::<Targets>().map_err(|error| {
            anyhow::anyhow!("`DISPATCH_LOG` holds `{text}`, which is no log filter: {error}")
        })?,
        _ => Targets::new().with_default(match global.verbose {
            0 => tracing::Level::WARN,
            1 => tracing::Level::INFO,
            _ => tracing::Level::DEBUG,
        }),
    };
    let layer = match global.log_format {
        LogFormat::Json => fmt::layer().json().with_writer(io::stderr).boxed(),
        LogFormat::Text => fmt::layer()
            .with_target(false)
            .with_ansi(use_color(global.color, io::stderr().is_terminal()))
            .with_writer(io::stderr)
            .boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(filter)).try_init()?;
    Ok(())
}

/// Whether to colour what goes to a place that is or is not a terminal.
pub fn use_color(when: ColorWhen, terminal: bool) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}
