//! Scripted workers and the reviewer.

use std::ops::ControlFlow;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::id::TaskId;
use dispatch_core::outcome::StreamSummary;
use dispatch_core::record::ProcessMark;
use dispatch_core::task::Task;
use dispatch_engine::ports::{
    Agent, AgentLaunch, Clock, ExitMark, Leftovers, Mail, Mailbox, PortError, PrivatePlace, Review,
    ReviewRequest, Running,
};

use super::{State, Worker, World, slot};

/// What a worker does, in order; each takes a second.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Writes a file in its slot.
    Write(String, String),
    /// Says something on its stream, one line.
    Say(String),
    /// Ticks its first criterion.
    Tick,
    /// Takes this many seconds.
    Idle(u64),
    /// Ends with this status.
    Exit(i32),
}

/// The event with which the agent ends.
pub(crate) fn result(text: &str) -> Act {
    let event = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 3, "result": text,
    });
    Act::Say(event.to_string())
}

/// A worker that does what the task asks.
pub(crate) fn diligent(task: &Task) -> Vec<Act> {
    let file = task.declared_files.first().map_or("src/x.rs", |file| file.text.as_str());
    vec![
        Act::Write(file.to_owned(), format!("// {}", task.id)),
        Act::Tick,
        result("Done."),
        Act::Exit(0),
    ]
}

impl State {
    /// Lets every live worker act for a second.
    pub(super) fn act(&mut self) {
        for at in 0..self.workers.len() {
            self.act_one(at);
        }
    }

    fn act_one(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        if !worker.alive || worker.acts.is_empty() {
            return;
        }
        match worker.acts.remove(0) {
            Act::Write(path, text) => {
                self.slots.entry(worker.slot.clone()).or_default().insert(path, text);
            }
            Act::Say(line) => {
                let stream = self.files.entry(worker.stream.clone()).or_default();
                stream.extend_from_slice(line.as_bytes());
                stream.push(b'\n');
            }
            Act::Tick => {
                let mail = worker.mailbox.join("request");
                self.files.insert(mail, worker.id.to_string().into_bytes());
            }
            Act::Idle(seconds) if seconds > 1 => worker.acts.insert(0, Act::Idle(seconds - 1)),
            Act::Idle(_) => {}
            Act::Exit(code) => {
                worker.exit = Some(ExitMark::Code(code));
                worker.alive = false;
            }
        }
    }
}

struct Started {
    world: World,
    at: usize,
}

impl Running for Started {
    fn mark(&self) -> ProcessMark {
        let pid = 1000 + u32::try_from(self.at).unwrap();
        ProcessMark { pid, start: 1, boot_id: "boot".to_owned() }
    }

    fn poll(&mut self) -> Result<Option<ExitMark>, PortError> {
        Ok(self.world.call().workers[self.at].exit)
    }

    fn stop(&mut self) -> Result<ExitMark, PortError> {
        self.world.try_effect()?.workers[self.at].alive = false;
        Ok(ExitMark::Signal(2))
    }

    fn end_strays(&mut self) -> Result<Leftovers, PortError> {
        self.world.call();
        Ok(Leftovers::default())
    }
}

struct Letters {
    world: World,
    mailbox: Utf8PathBuf,
}

impl Mailbox for Letters {
    fn wait(&self, limit: Duration) {
        self.world.sleep(limit);
    }

    fn take(&self) -> Result<Option<Mail>, PortError> {
        let request = self.mailbox.join("request");
        if !self.world.call().files.contains_key(&request) {
            return Ok(None);
        }
        let id = self.world.try_effect()?.files.remove(&request).unwrap();
        let argv = vec![String::from_utf8(id).unwrap(), "--check-ac".into(), "1".into()];
        Ok(Some(Mail { name: "req-1".to_owned(), argv, stdin: String::new() }))
    }

    fn answer(&self, _mail: &Mail, exit: i32, _out: &str, stderr: &str) -> Result<(), PortError> {
        let shared = &self.world.shared;
        let faulty = shared.fails_at.get().or(shared.full_from.get()).is_some();
        assert!(exit == 0 || faulty, "{stderr}");
        self.world.call();
        Ok(())
    }
}

impl Agent for World {
    fn private_place(
        &self,
        id: &TaskId,
        attempt: AttemptNumber,
    ) -> Result<PrivatePlace, PortError> {
        self.try_effect()?;
        let root = Utf8PathBuf::from(format!("/private/{id}-{attempt}"));
        Ok(PrivatePlace {
            home: root.join("h"),
            temporary: root.join("t"),
            configuration: root.join("c"),
            mailbox: root.join("m"),
            root,
        })
    }

    fn give_settings(&self, _place: &PrivatePlace, _text: &str) -> Result<(), PortError> {
        self.call();
        Ok(())
    }

    fn mailbox(&self, place: &PrivatePlace) -> Result<Box<dyn Mailbox>, PortError> {
        self.call();
        Ok(Box::new(Letters { world: self.clone(), mailbox: place.mailbox.clone() }))
    }

    fn remove_private_place(&self, _place: &PrivatePlace) -> Result<(), PortError> {
        self.try_effect()?;
        Ok(())
    }

    fn launch(&self, launch: &AgentLaunch) -> Result<Box<dyn Running>, PortError> {
        let mut state = self.try_effect()?;
        let value = |name: &str| {
            let found = launch.env.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let id = super::id(&value("DISPATCH_TASK_ID"));
        let slot = slot(launch.dir.file_name().unwrap());
        // I1, at the only moment it can be broken.
        for worker in state.workers.iter().filter(|worker| worker.alive) {
            assert_ne!(worker.id, id, "two workers for one task");
            assert_ne!(worker.slot, slot, "two workers in one slot");
        }
        let acts = state.scripts.get(&id).cloned().unwrap_or_default();
        state.workers.push(Worker {
            id,
            slot,
            marker: value("DISPATCH_ATTEMPT"),
            stream: launch.stdout.clone(),
            mailbox: value("DISPATCH_MAILBOX").into(),
            acts,
            exit: None,
            alive: true,
        });
        Ok(Box::new(Started { world: self.clone(), at: state.workers.len() - 1 }))
    }

    fn read_stream(
        &self,
        file: &Utf8Path,
        from: u64,
        summary: &mut StreamSummary,
    ) -> Result<u64, PortError> {
        let state = self.call();
        let stream = state.files.get(file).cloned().unwrap_or_default();
        summary.push(&stream[usize::try_from(from).unwrap()..]);
        Ok(stream.len() as u64)
    }

    fn end_leftovers(
        &self,
        _worker: Option<&ProcessMark>,
        marker: &str,
    ) -> Result<Leftovers, PortError> {
        let mut state = self.try_effect()?;
        let mut ended = 0;
        for worker in state.workers.iter_mut().filter(|worker| worker.marker == marker) {
            ended += usize::from(worker.alive);
            worker.alive = false;
        }
        Ok(Leftovers { ended })
    }

    fn missing(&self, account: Option<&str>) -> Vec<String> {
        let state = self.call();
        account
            .filter(|_| state.account_unset)
            .map(|name| format!("`{name}` is not set"))
            .into_iter()
            .collect()
    }

    fn readiness(&self, _health_check_url: &str, _model: &str) -> Result<(), String> {
        self.call().ready.clone()
    }

    fn review(
        &self,
        _request: &ReviewRequest,
        alive: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Review {
        self.state().awake_ms += 60_000;
        if alive().is_break() {
            return Review::Stopped;
        }
        let mut state = self.effect();
        match state.reviews.len() {
            0 | 1 => state.reviews[0].clone(),
            _ => state.reviews.remove(0),
        }
    }
}
