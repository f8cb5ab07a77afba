//! The loop: takes what happened, does what is due, shows it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use dispatch_board::{BoardWatch, Notice};
use dispatch_core::id::TaskId;
use dispatch_core::watch::{Act, Happened, Rhythm, Seen, Watch};
use dispatch_engine::status::StatusReport;
use time::OffsetDateTime;
use time::macros::format_description;

use super::args::WatchArgs;
use super::events::{self, Event};
use super::frame::{Mode, Paint, Size, View, frame};
use super::keys::{self, Key};
use super::look::{self, Looked};
use super::pass::{Dispatch, PassEnd};
use super::terminal::{self, Terminal};
use super::{said, send};
use crate::exit::Exit;
use crate::output::{self, Reader};
use crate::render::{duration, plain};

/// How often the state is looked at while something runs.
const REFRESH: Duration = Duration::from_secs(2);
/// How often the clock of the live view goes on.
const TICK: Duration = Duration::from_secs(1);
/// How long nothing is looked at when nothing happens.
const IDLE: Duration = Duration::from_secs(10);
/// How many events are kept for showing.
const EVENTS: usize = 500;
/// How many columns are assumed where nothing says how many there are.
const COLUMNS: usize = 80;

/// Something the desk is told.
#[derive(Debug)]
pub(super) enum Message {
    /// Files of the board may have changed.
    Files,
    /// Keys were typed.
    Typed(Vec<u8>),
    /// The terminal has another size.
    Resized,
    /// The watching is to end.
    End,
    /// A pass ended.
    PassEnded(PassEnd),
    /// The question after merges was answered.
    Polled(Result<BTreeSet<TaskId>, String>),
    /// Something to tell the person.
    Said(String),
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    End,
}

/// Everything of the watching process.
pub(super) struct Desk<'a> {
    args: &'a WatchArgs,
    dispatch: Dispatch,
    board: BoardWatch,
    notice: Notice,
    sender: Sender<Message>,
    paint: Paint,
    terminal: Option<Terminal>,
    reader: Reader,
    began: Instant,
    watch: Watch,
    seen: Seen,
    checked: Instant,
    looked: Option<Instant>,
    report: Option<StatusReport>,
    trouble: Option<String>,
    /// Why the graph's document is not up to date, as it was told.
    graph_failed: Option<String>,
    titles: BTreeMap<TaskId, String>,
    activity: BTreeMap<TaskId, String>,
    log: Vec<String>,
    events: VecDeque<(String, Event)>,
    last_pass: BTreeSet<String>,
    chosen: Option<usize>,
    mode: Mode,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        args: &'a WatchArgs,
        dispatch: Dispatch,
        board: BoardWatch,
        sender: Sender<Message>,
        paint: Paint,
    ) -> Self {
        let rhythm = Rhythm { interval: args.interval, poll: args.poll_prs.0 };
        Self {
            args,
            dispatch,
            notice: board.notice().clone(),
            board,
            sender,
            paint,
            terminal: None,
            reader: Reader::There,
            began: Instant::now(),
            watch: Watch::new(rhythm),
            seen: Seen::default(),
            checked: Instant::now(),
            looked: None,
            report: None,
            trouble: None,
            graph_failed: None,
            titles: BTreeMap::new(),
            activity: BTreeMap::new(),
            log: Vec::new(),
            events: VecDeque::new(),
            last_pass: BTreeSet::new(),
            chosen: None,
            mode: Mode::Overview,
        }
    }

    pub(super) fn take_terminal(&mut self, terminal: Terminal) {
        self.terminal = Some(terminal);
    }

    /// Shows one frame.
    pub(super) fn once(&mut self) -> anyhow::Result<Exit> {
        self.read_board();
        self.look();
        let columns = terminal::size().map_or(COLUMNS, |size| size.columns);
        let lines = self.frame(Size { columns, rows: None });
        output::raw(format!("{}\n", lines.join("\n")).as_bytes())?;
        Ok(if self.trouble.is_some() { Exit::Failed } else { Exit::Done })
    }

    /// Watches until the end.
    pub(super) fn work(
        &mut self,
        inbox: &Receiver<Message>,
        pending: &AtomicBool,
    ) -> anyhow::Result<()> {
        self.say(&format!("watching by {}", said(&self.notice)))?;
        self.read_board();
        loop {
            for act in self.watch.due(self.began.elapsed()) {
                self.act(act)?;
            }
            if self.looked.is_none_or(|at| at.elapsed() >= self.refresh()) {
                self.look_and_tell()?;
            }
            self.draw()?;
            if self.reader == Reader::Gone {
                return Ok(());
            }
            match inbox.recv_timeout(self.wait()) {
                Ok(message) => {
                    if self.take(message, pending)? == Then::End {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.checked.elapsed() >= self.board.patience() {
                self.check();
            }
        }
        // The screen is put back before the last word.
        self.terminal = None;
        let passing = if self.watch.is_passing() { "the pass and " } else { "" };
        self.say(&format!("stopped watching; {passing}what runs goes on"))
    }

    /// How long nothing has to be done.
    fn wait(&self) -> Duration {
        let now = self.began.elapsed();
        let next = self.watch.next().map_or(IDLE, |at| at.saturating_sub(now));
        let check = self.board.patience().saturating_sub(self.checked.elapsed());
        let look =
            self.looked.map_or(Duration::ZERO, |at| self.refresh().saturating_sub(at.elapsed()));
        let tick = if self.terminal.is_some() { TICK } else { IDLE };
        next.min(check).min(look).min(tick)
    }

    fn refresh(&self) -> Duration {
        let runs = self.report.as_ref().is_some_and(|report| !report.running.is_empty());
        if runs || self.mode != Mode::Overview { REFRESH } else { IDLE }
    }

    fn take(&mut self, message: Message, pending: &AtomicBool) -> anyhow::Result<Then> {
        let now = self.began.elapsed();
        match message {
            Message::Files => {
                pending.store(false, Ordering::SeqCst);
                self.watch.take(now, Happened::Changed);
            }
            Message::Typed(bytes) => {
                for key in keys::parse(&bytes) {
                    if self.press(key)? == Then::End {
                        return Ok(Then::End);
                    }
                }
            }
            Message::Resized => {}
            Message::End => return Ok(Then::End),
            Message::PassEnded(end) => {
                self.tell_pass(&end)?;
                self.watch.take(now, Happened::PassEnded { served: end.served });
                self.looked = None;
            }
            Message::Polled(answer) => {
                let merged = match answer {
                    Ok(merged) => merged,
                    Err(error) => {
                        self.tell(&Event::fault(format!("could not ask for merges: {error}")))?;
                        BTreeSet::new()
                    }
                };
                self.watch.take(now, Happened::Polled { merged });
            }
            Message::Said(text) => self.say(&text)?,
        }
        Ok(Then::GoOn)
    }

    fn act(&mut self, act: Act) -> anyhow::Result<()> {
        let sender = self.sender.clone();
        match act {
            Act::Read => {
                // A folder that was replaced is watched anew before it is read.
                self.board.check();
                self.tell_notice()?;
                self.look_and_tell()?;
                self.read_board_and_tell()?;
            }
            Act::Pass(cause) => {
                self.say(&format!("pass: {cause}"))?;
                let dispatch = self.dispatch.clone();
                thread::spawn(move || send(&sender, Message::PassEnded(dispatch.pass())));
            }
            Act::Poll => {
                let global = self.args.global.clone();
                thread::spawn(move || {
                    let answer = look::merged(&global).map_err(|error| format!("{error:#}"));
                    send(&sender, Message::Polled(answer));
                });
            }
        }
        Ok(())
    }

    /// Looks by hand whether the board changed.
    fn check(&mut self) {
        self.checked = Instant::now();
        if self.board.check() {
            self.watch.take(self.began.elapsed(), Happened::Changed);
        }
    }

    fn tell_notice(&mut self) -> anyhow::Result<()> {
        if *self.board.notice() != self.notice {
            self.notice = self.board.notice().clone();
            self.say(&format!("watching by {}", said(&self.notice)))?;
        }
        Ok(())
    }

    fn read_board(&mut self) -> Vec<Event> {
        let board = match look::board(&self.args.global) {
            Ok(board) => board,
            Err(error) => {
                return vec![Event::fault(format!("the board cannot be read: {error:#}"))];
            }
        };
        self.titles.extend(board.tasks.iter().map(|(id, task)| (id.clone(), task.title.clone())));
        let look = self.seen.look(&board, look::ours(self.report.as_ref()));
        if !look.queued.is_empty() {
            self.watch.take(self.began.elapsed(), Happened::Queued(look.queued));
        }
        look.changes.iter().map(|change| Event::news(change.to_string())).collect()
    }

    fn read_board_and_tell(&mut self) -> anyhow::Result<()> {
        for change in self.read_board() {
            self.tell(&change)?;
        }
        if let Some(path) = &self.args.graph {
            let failed = match look::graph(&self.args.global, path.as_ref()) {
                Ok(true) => {
                    self.say("the graph's document was brought up to date")?;
                    None
                }
                Ok(false) => None,
                Err(error) => Some(format!("the graph failed: {error:#}")),
            };
            if self.graph_failed != failed {
                self.graph_failed.clone_from(&failed);
                failed.iter().try_for_each(|failed| self.tell(&Event::fault(failed)))?;
            }
        }
        Ok(())
    }

    /// Looks at the state; gives what happened since the last look.
    fn look(&mut self) -> Vec<Event> {
        self.looked = Some(Instant::now());
        let open = match &self.mode {
            Mode::Log(id) => Some(id.clone()),
            Mode::Overview | Mode::ConfirmCancel(_) => None,
        };
        match look::state(&self.args.global, open.as_ref()) {
            Ok(Looked { report, activity, log }) => {
                let told = self
                    .report
                    .as_ref()
                    .map(|old| events::between(old, &report))
                    .unwrap_or_default();
                let slots = report.slots.len();
                self.chosen = self.chosen.filter(|chosen| *chosen < slots);
                self.report = Some(report);
                self.activity = activity;
                self.log = log;
                self.trouble = None;
                told
            }
            Err(error) => {
                let trouble = format!("{error:#}");
                let news = self.trouble.as_ref() != Some(&trouble);
                self.trouble = Some(trouble.clone());
                if news { vec![Event::fault(format!("problem: {trouble}"))] } else { Vec::new() }
            }
        }
    }

    fn look_and_tell(&mut self) -> anyhow::Result<()> {
        for event in self.look() {
            self.tell(&event)?;
        }
        Ok(())
    }

    /// Tells what a pass came to; what it only says again is not told again.
    fn tell_pass(&mut self, end: &PassEnd) -> anyhow::Result<()> {
        let news: Vec<&String> =
            end.lines.iter().filter(|line| !self.last_pass.contains(*line)).collect();
        let quiet = news.is_empty() && end.failures.is_empty();
        let mut told: Vec<Event> =
            news.iter().map(|line| Event::news(format!("pass: {line}"))).collect();
        let failures = end.failures.iter();
        told.extend(failures.map(|failure| Event::fault(format!("pass failed: {failure}"))));
        if quiet {
            told.push(Event::news("pass: nothing new"));
        }
        self.last_pass = end.lines.iter().cloned().collect();
        told.iter().try_for_each(|event| self.tell(event))
    }

    /// Tells the person something that happened.
    fn say(&mut self, text: &str) -> anyhow::Result<()> {
        self.tell(&Event::news(text))
    }

    fn tell(&mut self, event: &Event) -> anyhow::Result<()> {
        let now = OffsetDateTime::now_utc();
        let text = plain(&event.text).into_owned();
        if self.terminal.is_none() {
            let moment = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
            let line = format!("{} {text}\n", now.format(moment).unwrap_or_default());
            self.reader = output::to_reader(line.as_bytes())?;
        }
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back((clock(now), Event { text, is_fault: event.is_fault }));
        Ok(())
    }

    fn press(&mut self, key: Key) -> anyhow::Result<Then> {
        let slots = self.report.as_ref().map_or(0, |report| report.slots.len());
        if let Mode::ConfirmCancel(id) = &self.mode {
            let id = id.clone();
            self.mode = Mode::Overview;
            if key == Key::Yes {
                self.say(&format!("{id}: cancelling"))?;
                let (dispatch, sender) = (self.dispatch.clone(), self.sender.clone());
                thread::spawn(move || send(&sender, Message::Said(dispatch.cancel(&id))));
            }
            return Ok(if key == Key::Quit { Then::End } else { Then::GoOn });
        }
        match key {
            Key::Quit => return Ok(Then::End),
            Key::Escape => self.mode = Mode::Overview,
            Key::Up => self.chosen = Some(self.chosen.map_or(0, |chosen| chosen.saturating_sub(1))),
            Key::Down => {
                let next = self.chosen.map_or(0, |chosen| chosen + 1);
                self.chosen = Some(next.min(slots.saturating_sub(1)));
            }
            Key::Slot(number) if number < slots => {
                self.chosen = Some(number);
                if let (Mode::Log(_), Some(id)) = (&self.mode, self.chosen_task()) {
                    self.mode = Mode::Log(id);
                }
            }
            Key::Log => {
                if let Some(id) = self.chosen_task() {
                    self.mode = Mode::Log(id);
                }
            }
            Key::Dispatch => self.watch.take(self.began.elapsed(), Happened::Asked),
            Key::Cancel => {
                if let Some(id) = self.chosen_task() {
                    self.mode = Mode::ConfirmCancel(id);
                }
            }
            Key::Slot(_) | Key::Yes | Key::Other => {}
        }
        self.looked = None;
        Ok(Then::GoOn)
    }

    /// The task in the chosen slot; where none is chosen, in the only slot that has one.
    fn chosen_task(&self) -> Option<TaskId> {
        let slots = &self.report.as_ref()?.slots;
        if let Some(chosen) = self.chosen {
            return slots.get(chosen)?.task.clone();
        }
        let mut bound = slots.iter().filter_map(|slot| slot.task.clone());
        bound.next().filter(|_| bound.next().is_none())
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        if self.terminal.is_none() {
            return Ok(());
        }
        let size = terminal::size().unwrap_or(Size { columns: COLUMNS, rows: Some(24) });
        let lines = self.frame(size);
        match &mut self.terminal {
            Some(terminal) => terminal.show(&lines),
            None => Ok(()),
        }
    }

    fn frame(&self, size: Size) -> Vec<String> {
        let now = self.began.elapsed();
        let pass = match (self.watch.is_passing(), self.watch.next_pass()) {
            _ if self.args.once => String::new(),
            (true, _) => "a pass is running".to_owned(),
            (false, Some(at)) => {
                format!("next pass in {}", duration(at.saturating_sub(now).as_secs()))
            }
            (false, None) => String::new(),
        };
        let view = View {
            about: format!("backlog-watch · {}", said(&self.notice)),
            clock: format!("{}Z", clock(OffsetDateTime::now_utc())),
            pass,
            trouble: self.trouble.as_deref(),
            report: self.report.as_ref(),
            titles: &self.titles,
            activity: &self.activity,
            events: &self.events,
            log: &self.log,
            chosen: self.chosen,
            mode: &self.mode,
        };
        frame(&view, size, self.paint)
    }
}

/// The time of day, UTC.
fn clock(moment: OffsetDateTime) -> String {
    moment.format(format_description!("[hour]:[minute]:[second]")).unwrap_or_default()
}
