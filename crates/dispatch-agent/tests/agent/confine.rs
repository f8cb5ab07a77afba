//! What the kernel refuses a confined program (W3), with the kernel's own words.

use std::ffi::OsString;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use dispatch_agent::{Confinement, Support, UnixSockets, confine_and_exec, support};
use dispatch_core::attempt::AttemptNumber;
use dispatch_engine::ports::{Agent, ExitMark};
use dispatch_testkit::json;
use dispatch_testkit::model_server::{Lane, ModelServer, Turn};
use dispatch_testkit::programs;

use crate::claude;
use crate::desk::{Desk, ended, marker};

/// What the tests below start, as the product starts its own launcher: what follows `--` is run confined.
#[test]
fn launcher_entry() {
    let Ok(confinement) = std::env::var("CONFINE_AS") else { return };
    let confinement: Confinement = serde_json::from_str(&confinement).unwrap();
    let command_line: Vec<OsString> =
        std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    panic!("{:?}", confine_and_exec(&confinement, &command_line));
}

/// The command line of that launcher.
fn launcher() -> Vec<OsString> {
    let mut launcher = vec![std::env::current_exe().unwrap().into_os_string()];
    let words = ["--exact", "confine::launcher_entry", "--nocapture", "--"];
    launcher.extend(words.map(OsString::from));
    launcher
}

fn slot_only(desk: &Desk) -> Confinement {
    Confinement {
        writable: vec![desk.slot.clone()],
        readable: Vec::new(),
        unix_sockets: UnixSockets::Refused,
        tcp_ports: None,
    }
}

/// Runs a confined program; gives whether it succeeded and all it said.
fn confined(desk: &Desk, confinement: &Confinement, command_line: &[&str]) -> (bool, String) {
    let launcher = launcher();
    let mut command = programs::command(&launcher[0], &desk.root);
    command.args(&launcher[1..]).args(command_line).current_dir(&desk.slot);
    command.env("CONFINE_AS", serde_json::to_string(confinement).unwrap());
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

fn refused(desk: &Desk, confinement: &Confinement, script: &str, words: &str) {
    let (succeeded, said) = confined(desk, confinement, &["sh", "-c", script]);
    assert!(!succeeded && said.contains(words), "`{script}` should be refused: {said}");
}

fn allowed(desk: &Desk, confinement: &Confinement, script: &str) {
    let (succeeded, said) = confined(desk, confinement, &["sh", "-c", script]);
    assert!(succeeded, "`{script}` should be allowed: {said}");
}

/// Whether these tests can say anything here: a named skip where the kernel confines only in part, never in CI.
fn can_confine() -> bool {
    let in_force = support() == Support::InForce;
    if !in_force {
        programs::missing("a kernel that confines in full");
    }
    in_force
}

#[test]
fn w3_2_a_confined_program_works_in_its_slot_and_nowhere_else() {
    if !can_confine() {
        return;
    }
    let desk = Desk::new();
    let own = slot_only(&desk);
    fs::write(desk.root.join("secret"), "s3cret").unwrap();
    fs::write(desk.slot.join("given"), "given\n").unwrap();
    allowed(
        &desk,
        &own,
        "set -e; mkdir -p a/b; cat given > a/b/c; mv a/b/c d; chmod +x d; printf '#!/bin/sh\nexit 0\n' > run; chmod +x run; ./run; echo x > /dev/null; head -c 4 /dev/urandom > r; rm -r a",
    );
    let secret = desk.root.join("secret");
    refused(&desk, &own, &format!("cat {secret}"), "Permission denied");
    refused(&desk, &own, &format!("echo x > {secret}"), "Permission denied");
    refused(&desk, &own, &format!("echo x > {}/new", desk.root), "Permission denied");
    refused(&desk, &own, &format!("ls {}", desk.root), "Permission denied");
    refused(&desk, &own, &format!("ln -s {secret} link; cat link"), "Permission denied");
    refused(&desk, &own, &format!("ln {secret} hard"), "cross-device");
    refused(&desk, &own, "echo x > /tmp/outside-the-slot", "Permission denied");
    refused(&desk, &own, "echo x > /dev/shm/outside-the-slot", "Permission denied");
    // Its children are no freer.
    refused(
        &desk,
        &own,
        &format!("setsid -w env -i /bin/sh -c '/bin/cat {secret}'"),
        "Permission denied",
    );
    let readable = Confinement { readable: vec![secret.clone()], ..own };
    allowed(&desk, &readable, &format!("cat {secret}"));
    refused(&desk, &readable, &format!("echo x >> {secret}"), "Permission denied");
    assert_eq!(fs::read_to_string(secret).unwrap(), "s3cret");
}

#[test]
fn w3_1_a_confined_program_sends_no_signal_out_and_reads_no_environment_of_others() {
    if !can_confine() {
        return;
    }
    let desk = Desk::new();
    let own = slot_only(&desk);
    let ours = std::process::id();
    refused(&desk, &own, &format!("kill -CONT {ours}"), "not permitted");
    for secret in ["environ", "maps", "mem", "fd/0", "cwd/Cargo.toml"] {
        refused(&desk, &own, &format!("cat /proc/{ours}/{secret}"), "Permission denied");
    }
    allowed(&desk, &own, "sleep 300 & kill $!; test -n \"$(cat /proc/self/environ | tr '\\0' x)\"");
}

/// What the next tests start inside: it connects where it is told.
#[test]
fn connecting_entry() {
    let Ok(to) = std::env::var("CONNECT_TO") else { return };
    let result = match to.split_once(':').unwrap() {
        ("path", path) => UnixStream::connect(path).map(drop),
        ("abstract", name) => SocketAddr::from_abstract_name(name)
            .and_then(|address| UnixStream::connect_addr(&address))
            .map(drop),
        ("pair", _) => UnixStream::pair().map(drop),
        ("tcp", address) => std::net::TcpStream::connect(address).map(drop),
        other => panic!("{other:?}"),
    };
    if let Err(error) = result {
        panic!("{to}: {error}");
    }
}

fn connects(desk: &Desk, confinement: &Confinement, to: &str) -> (bool, String) {
    let test = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let mut confinement = confinement.clone();
    confinement.readable.push(test.clone().into());
    let assignment = format!("CONNECT_TO={to}");
    let command_line = [
        "env",
        "-u",
        "CONFINE_AS",
        &assignment,
        &test,
        "--exact",
        "confine::connecting_entry",
        "--nocapture",
    ];
    confined(desk, &confinement, &command_line)
}

#[test]
fn w3_1_sockets_with_names_are_refused_and_pairs_are_not() {
    if !can_confine() {
        return;
    }
    let desk = Desk::new();
    let own = slot_only(&desk);
    let path = desk.slot.join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let (connected, said) = connects(&desk, &own, &format!("path:{path}"));
    assert!(!connected && said.contains("Permission denied"), "{said}");
    let (connected, said) = connects(&desk, &own, "pair:");
    assert!(connected, "{said}");
    let open = Confinement { unix_sockets: UnixSockets::Allowed, ..own };
    let (connected, said) = connects(&desk, &open, &format!("path:{path}"));
    assert!(connected, "{said}");
    // Abstract ones are refused by another rule, also then.
    let name = format!("dispatch-test-{}", std::process::id());
    let _abstract =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let (connected, said) = connects(&desk, &open, &format!("abstract:{name}"));
    assert!(!connected && said.contains("not permitted"), "{said}");
}

#[test]
fn w3_1_tcp_ports_can_be_restricted() {
    if !can_confine() {
        return;
    }
    let desk = Desk::new();
    let (one, other) = (
        std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
        std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
    );
    let port = one.local_addr().unwrap().port();
    let own = Confinement { tcp_ports: Some(vec![port]), ..slot_only(&desk) };
    let (connected, said) = connects(&desk, &own, &format!("tcp:127.0.0.1:{port}"));
    assert!(connected, "{said}");
    let (connected, said) = connects(&desk, &own, &format!("tcp:{}", other.local_addr().unwrap()));
    assert!(!connected && said.contains("Permission denied"), "{said}");
}

/// W3.1: a ring of requests would pass by every filter.
#[test]
fn w3_1_io_uring_is_refused() {
    if !can_confine() {
        return;
    }
    let desk = Desk::new();
    let perl = [
        "perl",
        "-e",
        "my $p = \"\\0\" x 120; exit(syscall(425, 1, $p) < 0 && $!{EACCES} ? 0 : 1)",
    ];
    let (succeeded, said) = confined(&desk, &slot_only(&desk), &perl);
    assert!(succeeded, "{said}");
}

#[test]
fn a_program_that_is_missing_is_said_by_the_launcher() {
    if !can_confine() {
        return;
    }
    let desk = Desk::new();
    let (succeeded, said) = confined(&desk, &slot_only(&desk), &["no-such-program"]);
    assert!(!succeeded && said.contains("no-such-program"), "{said}");
}

/// W3.5: the real agent works under all of it, and what it and its tools try outside is refused.
#[test]
fn w3_5_the_agent_works_confined_and_its_tools_reach_nothing_else() {
    if !can_confine() {
        return;
    }
    let desk = Desk::new();
    let Some(agent) = claude::agent(&desk, launcher()) else { return };
    let secret = desk.root.join("secret");
    fs::write(&secret, "s3cret").unwrap();
    let script = format!(
        "cat {secret}; echo x > {}/new; kill -CONT {}; echo tried",
        desk.root,
        std::process::id()
    );
    desk.tool("leave", &script);
    let model = ModelServer::start([Lane::worker("work")
        .turn(Turn::new_file("made.txt", "by the worker\n"))
        .turn(Turn::bash("./leave"))
        .turn(Turn::tool("Read", json!({"file_path": secret})))
        .turn(Turn::text("Done."))]);
    let place = agent.private_place(&"T-4".parse().unwrap(), AttemptNumber::FIRST).unwrap();
    let mut launch = claude::launch(&desk, &model, &place, &marker("confined"));
    let program = programs::find(programs::Peer::Claude).unwrap();
    let confinement = Confinement {
        writable: vec![desk.slot.clone(), place.root.clone()],
        readable: vec![program, desk.root.join("bin")],
        unix_sockets: UnixSockets::Refused,
        tcp_ports: Some(vec![model.port()]),
    };
    launch.env.push(("CONFINE_AS".into(), serde_json::to_string(&confinement).unwrap()));
    let mut worker = agent.launch(&launch).unwrap();
    assert_eq!(ended(&mut *worker), ExitMark::Code(0));
    assert_eq!(worker.end_strays().unwrap().ended, 0);
    assert_eq!(claude::last_result(&launch.stdout).unwrap()["result"], json!("Done."));
    assert_eq!(fs::read_to_string(desk.slot.join("made.txt")).unwrap(), "by the worker\n");
    let stream = fs::read_to_string(&launch.stdout).unwrap();
    assert!(stream.contains("tried"), "{stream}");
    assert!(stream.contains("Permission denied") && stream.contains("not permitted"), "{stream}");
    assert!(!stream.contains("s3cret"), "{stream}");
    assert!(!desk.root.join("new").exists());
    agent.remove_private_place(&place).unwrap();
}
