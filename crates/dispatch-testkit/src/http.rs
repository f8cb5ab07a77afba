//! A small HTTP/1.1 server over loopback or a socket file.
//!
//! It exists because the tests need what a well-behaved server hides: a connection dropped in the middle of an answer,
//! an answer that never comes, and a server that ends at once although a client still waits.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

/// How long a connection may wait to be taken.
const LOOK: Duration = Duration::from_millis(2);

/// One request, read whole.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query as sent.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What to do with the connection after an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    /// Wait for another request.
    Keep,
    /// Close it, whatever was or was not sent.
    Drop,
}

/// Answers requests; shared by all connections.
pub(crate) type Handler = dyn Fn(Request, &mut Reply<'_>) -> io::Result<Next> + Send + Sync;

/// The way back to the client of one request.
pub(crate) struct Reply<'a> {
    stream: &'a mut dyn Write,
    head: bool,
    stop: &'a Stop,
}

impl Reply<'_> {
    /// Sends a whole answer.
    pub(crate) fn send(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> io::Result<()> {
        self.head(status, headers, &format!("content-length: {}\r\n", body.len()))?;
        if !self.head {
            self.stream.write_all(body)?;
        }
        self.stream.flush()
    }

    /// Begins an answer that is sent piece by piece.
    pub(crate) fn begin(&mut self, status: u16, headers: &[(String, String)]) -> io::Result<()> {
        self.head(status, headers, "transfer-encoding: chunked\r\n")?;
        self.stream.flush()
    }

    /// Sends one piece.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        write!(self.stream, "{:x}\r\n", bytes.len())?;
        self.stream.write_all(bytes)?;
        self.stream.write_all(b"\r\n")?;
        self.stream.flush()
    }

    /// Ends an answer sent piece by piece.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")?;
        self.stream.flush()
    }

    /// The server's stop signal, to wait on.
    pub(crate) fn stop(&self) -> &Stop {
        self.stop
    }

    fn head(&mut self, status: u16, headers: &[(String, String)], length: &str) -> io::Result<()> {
        write!(self.stream, "HTTP/1.1 {status} {}\r\n{length}", reason(status))?;
        for (name, value) in headers {
            write!(self.stream, "{name}: {value}\r\n")?;
        }
        self.stream.write_all(b"\r\n")
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200..=299 => "OK",
        300..=399 => "Moved",
        400..=499 => "Refused",
        _ => "Failed",
    }
}

/// Says that the server is ending.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Waits for `time`, or until the server ends.
    pub(crate) fn pause(&self, time: Duration) {
        let deadline = Instant::now() + time;
        self.wait_while(|| Instant::now() < deadline);
    }

    /// Waits while `busy`, looking again every few milliseconds, or until the server ends.
    pub(crate) fn wait_while(&self, busy: impl Fn() -> bool) {
        let mut stopped = self.stopped.lock().unwrap();
        while !*stopped && busy() {
            stopped = self.changed.wait_timeout(stopped, Duration::from_millis(10)).unwrap().0;
        }
    }

    fn is_set(&self) -> bool {
        *self.stopped.lock().unwrap()
    }

    fn set(&self) {
        *self.stopped.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    fn close(&self) {
        let closed = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
        // The other side may have closed it already.
        drop(closed);
    }

    fn halves(&self) -> io::Result<(Box<dyn Read + Send>, Box<dyn Write + Send>)> {
        Ok(match self {
            Self::Tcp(stream) => (Box::new(stream.try_clone()?), Box::new(stream.try_clone()?)),
            Self::Unix(stream) => (Box::new(stream.try_clone()?), Box::new(stream.try_clone()?)),
        })
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Accepting must not block: a socket file may be gone when the server ends, and then nothing could wake it.
    fn poll_only(&self) {
        match self {
            Self::Tcp(listener) => listener.set_nonblocking(true),
            Self::Unix(listener) => listener.set_nonblocking(true),
        }
        .expect("a fresh listener can be set up");
    }

    fn accept(&self) -> io::Result<Socket> {
        Ok(match self {
            Self::Tcp(listener) => {
                let stream = listener.accept()?.0;
                stream.set_nodelay(true)?;
                Socket::Tcp(stream)
            }
            Self::Unix(listener) => Socket::Unix(listener.accept()?.0),
        })
    }
}

/// Where a server listens.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    /// A port of loopback.
    Tcp(SocketAddr),
    /// A socket file.
    Unix(Utf8PathBuf),
}

/// A running server; it ends when dropped, and its connections with it.
pub(crate) struct Server {
    address: Address,
    stop: Arc<Stop>,
    accepting: Option<JoinHandle<()>>,
    open: Arc<Mutex<Vec<Arc<Socket>>>>,
}

impl Server {
    /// Listens on a free port of loopback.
    pub(crate) fn tcp(handler: Box<Handler>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = Address::Tcp(listener.local_addr().unwrap());
        Self::start(Listener::Tcp(listener), address, handler)
    }

    /// Listens on a new socket file.
    pub(crate) fn unix(path: Utf8PathBuf, handler: Box<Handler>) -> Self {
        let listener = UnixListener::bind(&path)
            .unwrap_or_else(|error| panic!("could not listen on `{path}`: {error}"));
        Self::start(Listener::Unix(listener), Address::Unix(path), handler)
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    fn start(listener: Listener, address: Address, handler: Box<Handler>) -> Self {
        listener.poll_only();
        let stop = Arc::new(Stop::default());
        let open = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Handler> = handler.into();
        let accepting = thread::spawn({
            let (stop, open) = (Arc::clone(&stop), Arc::clone(&open));
            move || {
                while !stop.is_set() {
                    let socket = match listener.accept() {
                        Ok(socket) => socket,
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            stop.pause(LOOK);
                            continue;
                        }
                        Err(error) => panic!("could not accept a connection: {error}"),
                    };
                    let socket = Arc::new(socket);
                    open.lock().unwrap().push(Arc::clone(&socket));
                    let (stop, handler) = (Arc::clone(&stop), Arc::clone(&handler));
                    thread::spawn(move || {
                        // A client that goes away ends its own connection, nothing else.
                        drop(converse(&socket, &*handler, &stop));
                        socket.close();
                    });
                }
            }
        });
        Self { address, stop, accepting: Some(accepting), open }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.set();
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
        for socket in self.open.lock().unwrap().drain(..) {
            socket.close();
        }
    }
}

fn converse(socket: &Socket, handler: &Handler, stop: &Stop) -> io::Result<()> {
    let (reader, mut writer) = socket.halves()?;
    let mut reader = BufReader::new(reader);
    while let Some(request) = read_request(&mut reader)? {
        let head = request.method == "HEAD";
        let last =
            request.headers.iter().any(|(name, value)| name == "connection" && value == "close");
        let mut reply = Reply { stream: &mut *writer, head, stop };
        if handler(request, &mut reply)? == Next::Drop || last || stop.is_set() {
            break;
        }
    }
    Ok(())
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(io::Error::other(format!("`{}` is no request line", first.trim_end())));
    };
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    let mut length = Some(0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = Some(value.parse().map_err(io::Error::other)?);
        } else if name == "transfer-encoding" && value == "chunked" {
            length = None;
        }
        request.headers.push((name, value));
    }
    match length {
        Some(length) => {
            request.body = vec![0; length];
            reader.read_exact(&mut request.body)?;
        }
        None => request.body = read_chunks(reader)?,
    }
    Ok(Some(request))
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk)?;
        if size == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}
