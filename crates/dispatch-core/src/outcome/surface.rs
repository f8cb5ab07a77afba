//! Whether the agent has what it was given and no more (D9.11).

use std::collections::BTreeSet;
use std::fmt;

use crate::stream::Init;

/// What a worker may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedSurface {
    /// The tools it may list; a final `*` stands for any rest (`mcp__server__*`).
    pub tools: BTreeSet<String>,
    /// The permission mode it was started in.
    pub permission_mode: String,
}

/// How what the agent has differs from what it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceMismatch {
    /// Tools it has and should not have.
    pub extra_tools: Vec<String>,
    /// The permission mode it runs in, when it is another one.
    pub permission_mode: Option<String>,
}

impl fmt::Display for SurfaceMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.extra_tools.is_empty() {
            let tools: Vec<String> =
                self.extra_tools.iter().map(|tool| format!("`{}`", tool.escape_debug())).collect();
            write!(f, "the agent has tools it was not given: {}", tools.join(", "))?;
        }
        if let Some(mode) = &self.permission_mode {
            if !self.extra_tools.is_empty() {
                f.write_str("; ")?;
            }
            write!(f, "it runs in permission mode `{}`", mode.escape_debug())?;
        }
        Ok(())
    }
}

/// Compares what the agent says it has with what it was given; none when it has nothing more.
///
/// Fewer tools are no danger: a version without one of them only does less.
pub fn surface_mismatch(init: &Init, expected: &ExpectedSurface) -> Option<SurfaceMismatch> {
    let granted = |tool: &str| {
        expected.tools.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => pattern == tool,
        })
    };
    let extra_tools: Vec<String> =
        init.tools.iter().filter(|tool| !granted(tool)).cloned().collect();
    let mode = init.permission_mode.clone().unwrap_or_else(|| "none".to_owned());
    let permission_mode = (mode != expected.permission_mode).then_some(mode);
    (!extra_tools.is_empty() || permission_mode.is_some())
        .then_some(SurfaceMismatch { extra_tools, permission_mode })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> ExpectedSurface {
        let tools = ["Bash", "Read", "mcp__docs__*"].map(str::to_owned);
        ExpectedSurface { tools: tools.into(), permission_mode: "dontAsk".to_owned() }
    }

    fn init(tools: &[&str], mode: Option<&str>) -> Init {
        Init {
            tools: tools.iter().map(ToString::to_string).collect(),
            permission_mode: mode.map(str::to_owned),
            ..Init::default()
        }
    }

    #[test]
    fn d9_11_what_was_given_is_no_mismatch() {
        for tools in [&["Bash", "Read"][..], &["Read"], &[], &["mcp__docs__find"]] {
            assert_eq!(surface_mismatch(&init(tools, Some("dontAsk")), &expected()), None);
        }
    }

    #[test]
    fn d9_11_more_tools_or_another_mode_are_named() {
        let found =
            surface_mismatch(&init(&["Bash", "mcp__db__write"], Some("acceptEdits")), &expected());
        assert_eq!(
            found.unwrap().to_string(),
            "the agent has tools it was not given: `mcp__db__write`; it runs in permission mode `acceptEdits`"
        );
        let found = surface_mismatch(&init(&["Bash"], None), &expected());
        assert_eq!(found.unwrap().to_string(), "it runs in permission mode `none`");
    }
}
