//! The terminal of the live view: raw while it is shown, as it was before at whatever end.

use std::fs::File;
use std::io::{self, Read, Write};

use anyhow::Context;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

use super::frame::Size;

/// Enters the other screen and hides the cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// Undoes that.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// A terminal that was taken over.
pub(super) struct Terminal {
    before: Termios,
    shown: String,
}

impl Terminal {
    /// Takes the terminal over: keys come at once and are not echoed, and Ctrl-C is a key.
    pub(super) fn enter() -> anyhow::Result<Self> {
        let before = tcgetattr(io::stdin()).context("could not read the terminal's settings")?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &raw).context("could not set the terminal")?;
        let terminal = Self { before, shown: String::new() };
        write(ENTER)?;
        Ok(terminal)
    }

    /// Shows a frame, if it is another one than the last.
    pub(super) fn show(&mut self, lines: &[String]) -> anyhow::Result<()> {
        let mut frame = String::from("\x1b[H");
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                frame.push_str("\r\n");
            }
            frame.push_str(line);
            frame.push_str("\x1b[K");
        }
        frame.push_str("\x1b[J");
        if frame != self.shown {
            write(&frame)?;
            self.shown = frame;
        }
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing put back.
        drop(write(LEAVE));
        let _restored = tcsetattr(io::stdin(), OptionalActions::Flush, &self.before);
    }
}

fn write(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .context("could not write to the terminal")
}

/// The size of the terminal on standard output.
pub(super) fn size() -> Option<Size> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0)
        .then(|| Size { columns: size.ws_col.into(), rows: Some(size.ws_row.into()) })
}

/// Reads what is typed and hands it on, until the terminal is gone.
pub(super) fn read_keys(mut typed: impl FnMut(&[u8])) {
    let Ok(stdin) = rustix::io::dup(io::stdin()) else { return };
    let mut stdin = File::from(stdin);
    let mut buffer = [0; 256];
    loop {
        match stdin.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => typed(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
