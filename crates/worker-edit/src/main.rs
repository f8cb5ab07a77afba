//! The `worker-edit` program.

fn main() -> std::process::ExitCode {
    worker_edit::main()
}
