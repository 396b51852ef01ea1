#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ngx_cachefront_fuzz::walk::check(input));
