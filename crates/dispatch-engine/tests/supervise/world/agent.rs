//! The scripted worker and the reviewer.

use std::ops::ControlFlow;
use std::time::Duration;

use camino::Utf8Path;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::outcome::StreamSummary;
use dispatch_core::record::ProcessMark;
use dispatch_engine::ports::{
    Agent, AgentLaunch, AttemptFile, Clock, ExitMark, Leftovers, Mail, Mailbox, PortError,
    PrivatePlace, Review, ReviewRequest, Running,
};

use super::{Act, State, World, branch};

impl State {
    /// Lets the worker act for a second.
    pub(super) fn act(&mut self) {
        if !self.worker_alive || self.acts.is_empty() {
            return;
        }
        match self.acts.remove(0) {
            Act::Write(path, text) => {
                self.slot.insert(path.to_owned(), text.to_owned());
            }
            Act::WriteMany(folder, count) => {
                let files =
                    (0..count).map(|number| (format!("{folder}/{number}.md"), String::new()));
                self.slot.extend(files);
            }
            Act::Remove(path) => {
                self.slot.remove(path);
            }
            Act::Say(line) => {
                let stream = self.files.entry(AttemptFile::Stream).or_default();
                stream.extend_from_slice(line.as_bytes());
                stream.push(b'\n');
            }
            Act::Mail(argv) => self.mail.push(argv.into_iter().map(str::to_owned).collect()),
            Act::Idle(seconds) if seconds > 1 => self.acts.insert(0, Act::Idle(seconds - 1)),
            Act::Idle(_) => {}
            Act::Exit(code) => self.end_worker(ExitMark::Code(code)),
            Act::Vanish => self.end_worker(ExitMark::Unknown),
            Act::Plant(cause) => self.hostile = Some(cause),
            Act::Person(edit) => {
                if let Some(task) = &mut self.task {
                    edit(task);
                }
            }
            Act::Leave => self.task = None,
            Act::Switch(name) => self.board_branch = branch(name),
            Act::Ask(request) => self.request = Some(request),
        }
    }

    fn end_worker(&mut self, exit: ExitMark) {
        self.exited = Some(exit);
        self.worker_alive = false;
    }
}

struct Worker(World);

impl Running for Worker {
    fn mark(&self) -> ProcessMark {
        ProcessMark { pid: 77, start: 1, boot_id: "boot".to_owned() }
    }

    fn poll(&mut self) -> Result<Option<ExitMark>, PortError> {
        Ok(self.0.call().exited)
    }

    fn stop(&mut self) -> Result<ExitMark, PortError> {
        let mut state = self.0.effect();
        state.log.push("stop the worker".to_owned());
        state.worker_alive = false;
        Ok(ExitMark::Signal(2))
    }

    fn end_strays(&mut self) -> Result<Leftovers, PortError> {
        let mut state = self.0.call();
        state.log.push("end strays".to_owned());
        state.at("strays");
        Ok(Leftovers::default())
    }
}

struct Letters(World);

impl Mailbox for Letters {
    fn wait(&self, limit: Duration) {
        self.0.sleep(limit);
    }

    fn take(&self) -> Result<Option<Mail>, PortError> {
        if self.0.call().mail.is_empty() {
            return Ok(None);
        }
        let mut state = self.0.effect();
        let argv = state.mail.remove(0);
        Ok(Some(Mail { name: "req-1".to_owned(), argv, stdin: String::new() }))
    }

    fn answer(&self, _mail: &Mail, exit: i32, stdout: &str, stderr: &str) -> Result<(), PortError> {
        self.0.effect().answers.push((exit, stdout.to_owned(), stderr.to_owned()));
        Ok(())
    }
}

impl Agent for World {
    fn private_place(
        &self,
        _id: &TaskId,
        _attempt: AttemptNumber,
    ) -> Result<PrivatePlace, PortError> {
        self.effect().log.push("private folders".to_owned());
        Ok(PrivatePlace {
            root: "/tmp/d".into(),
            home: "/tmp/d/h".into(),
            temporary: "/tmp/d/t".into(),
            configuration: "/tmp/d/c".into(),
            mailbox: "/tmp/d/t/mail".into(),
        })
    }

    fn give_settings(&self, place: &PrivatePlace, text: &str) -> Result<(), PortError> {
        self.effect().given_settings = Some((place.configuration.clone(), text.to_owned()));
        Ok(())
    }

    fn mailbox(&self, _place: &PrivatePlace) -> Result<Box<dyn Mailbox>, PortError> {
        self.call();
        Ok(Box::new(Letters(self.clone())))
    }

    fn remove_private_place(&self, _place: &PrivatePlace) -> Result<(), PortError> {
        self.effect();
        Ok(())
    }

    fn launch(&self, launch: &AgentLaunch) -> Result<Box<dyn Running>, PortError> {
        let mut state = self.effect();
        if state.failing.contains(&"agent") {
            return Err(PortError::new("start the agent", "no such program"));
        }
        assert_eq!(launch.dir, "/code/slots/dispatch-1");
        state.worker_alive = true;
        state.log.push("launch".to_owned());
        Ok(Box::new(Worker(self.clone())))
    }

    fn read_stream(
        &self,
        _file: &Utf8Path,
        from: u64,
        summary: &mut StreamSummary,
    ) -> Result<u64, PortError> {
        let state = self.call();
        let stream = state.files.get(&AttemptFile::Stream).cloned().unwrap_or_default();
        let from = usize::try_from(from).unwrap();
        summary.push(&stream[from..]);
        Ok(stream.len() as u64)
    }

    fn end_leftovers(
        &self,
        _worker: Option<&ProcessMark>,
        _marker: &str,
    ) -> Result<Leftovers, PortError> {
        let mut state = self.effect();
        let ended = usize::from(state.worker_alive);
        state.worker_alive = false;
        Ok(Leftovers { ended })
    }

    fn missing(&self, _account: Option<&str>) -> Vec<String> {
        unimplemented!("a pass asks that")
    }

    fn readiness(&self, _health_check_url: &str, _model: &str) -> Result<(), String> {
        unimplemented!("a pass asks that")
    }

    fn review(
        &self,
        request: &ReviewRequest,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Review {
        self.state().awake_ms += 60_000;
        self.call().at("review");
        if alive().is_break() {
            return Review::Stopped;
        }
        let mut state = self.effect();
        state.review_prompts.push(request.prompt.clone());
        match state.reviews.len() {
            0 | 1 => state.reviews[0].clone(),
            _ => state.reviews.remove(0),
        }
    }
}
