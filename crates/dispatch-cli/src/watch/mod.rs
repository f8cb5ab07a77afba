//! `backlog-watch`: one foreground process for people who do not want to set up triggers (R2).
//!
//! What is to be done when is decided by [`dispatch_core::watch`]; this carries it out. Passes are the `dispatch` program
//! itself, so that a configuration that changes, a pass that fails or this process's end touch nothing else.

mod args;
mod desk;
mod events;
mod frame;
mod keys;
mod look;
mod pass;
mod terminal;

use std::io::{IsTerminal, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use anyhow::Context;
use dispatch_board::{BoardWatch, Notice, Noticing};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

pub use self::args::{Every, WatchArgs};
use self::desk::{Desk, Message};
use self::frame::Paint;
use self::pass::Dispatch;
use self::terminal::Terminal;
use crate::exit::Exit;
use crate::log::{self, use_color};
use crate::wire::Ground;

/// Watches the board of the current directory until a person or a signal ends that.
pub fn run(args: &WatchArgs) -> anyhow::Result<Exit> {
    let live = !args.plain && !args.once && stdin().is_terminal() && stdout().is_terminal();
    if !live {
        // The live view has the whole screen: a log would be written across it.
        log::start(&args.global)?;
    }
    let ground = Ground::find(&args.global)?;
    let paint = if use_color(args.global.color, stdout().is_terminal()) {
        Paint::Colours
    } else {
        Paint::Plain
    };
    let dispatch = Dispatch::find(&ground, args.global.config.as_ref())?;
    let (sender, inbox) = mpsc::channel();
    let pending = Arc::new(AtomicBool::new(false));
    let noticing = if args.poll { Noticing::ByLooking } else { Noticing::ByNotifications };
    let (tell, told) = (sender.clone(), Arc::clone(&pending));
    let place = &ground.board;
    let board = BoardWatch::start(&place.dir, &place.config_file, noticing, move || {
        // One word is enough until it is heard, however many files change.
        if !told.swap(true, Ordering::SeqCst) {
            send(&tell, Message::Files);
        }
    });
    let mut desk = Desk::new(args, dispatch, board, sender.clone(), paint);
    if args.once {
        return desk.once();
    }
    listen_to_signals(&sender)?;
    if live {
        desk.take_terminal(Terminal::enter()?);
        let keys = sender.clone();
        thread::spawn(move || {
            terminal::read_keys(|bytes| send(&keys, Message::Typed(bytes.to_vec())));
            send(&keys, Message::End);
        });
    }
    desk.work(&inbox, &pending)?;
    Ok(Exit::Done)
}

/// How changes are noticed, for a person.
fn said(notice: &Notice) -> String {
    match notice {
        Notice::Notifications => "notifications".to_owned(),
        Notice::Looking { why: None } => "looking every second".to_owned(),
        Notice::Looking { why: Some(why) } => {
            format!("looking every second, since notifications failed: {why}")
        }
    }
}

fn listen_to_signals(sender: &Sender<Message>) -> anyhow::Result<()> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP, SIGWINCH]).context("could not listen to signals")?;
    let sender = sender.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            send(&sender, if signal == SIGWINCH { Message::Resized } else { Message::End });
        }
    });
    Ok(())
}

/// Hands a message to the desk, which may have closed.
fn send(sender: &Sender<Message>, message: Message) {
    drop(sender.send(message));
}
