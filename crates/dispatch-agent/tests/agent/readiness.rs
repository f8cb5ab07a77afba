//! Asking a model server that is not what it should be (D4.2).

use std::io::{Read, Write};
use std::net::TcpListener;

use dispatch_engine::ports::Agent;

use crate::desk::{Desk, QUICK};

/// Serves one answer; gives the address and, in the end, the request's first line.
fn serve(answer: &'static [u8]) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 4096];
        let count = stream.read(&mut request).unwrap();
        stream.write_all(answer).unwrap();
        String::from_utf8_lossy(&request[..count]).lines().next().unwrap_or_default().to_owned()
    });
    (url, served)
}

const LOADED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 42\r\nConnection: close\r\n\r\n{\"data\":[{\"id\":\"coder\",\"state\":\"loaded\"}]}";

#[test]
fn d4_2_a_loaded_model_is_ready() {
    let desk = Desk::new();
    let agent = desk.agent("", QUICK);
    let (url, served) = serve(LOADED);
    assert_eq!(agent.readiness(&format!("{url}/"), "coder"), Ok(()));
    assert_eq!(served.join().unwrap(), "GET /api/v0/models HTTP/1.1");
    let (url, _served) = serve(LOADED);
    let wrong = agent.readiness(&url, "other").unwrap_err();
    assert!(wrong.contains("`other`") && wrong.contains(&url), "{wrong}");
}

#[test]
fn d4_2_any_failure_is_not_ready_and_names_model_and_address() {
    let agent = Desk::new().agent("", QUICK);
    let failures: [&[u8]; 3] = [
        b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\nConnection: close\r\n\r\n{\"data\":[",
        b"nonsense\r\n\r\n",
    ];
    for failure in failures {
        let (url, _served) = serve(failure);
        let wrong = agent.readiness(&url, "coder").unwrap_err();
        assert!(wrong.contains("model `coder`") && wrong.contains(&url), "{wrong}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(agent.readiness(&format!("http://{closed}"), "coder").is_err());
    assert!(agent.readiness("not an address", "coder").is_err());
}

/// D4.2: 5 s, however slowly the server drips.
#[test]
fn d4_2_a_server_that_does_not_answer_is_given_up() {
    let agent = Desk::new().agent("", QUICK);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let dripping = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut drip = || stream.write_all(b"H");
        while drip().is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    });
    let began = std::time::Instant::now();
    assert!(agent.readiness(&url, "coder").is_err());
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
    dripping.join().unwrap();
}
