#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dispatch_fuzz::task_json(bytes));
