//! Passes on to the compiler what `nginx-sys` found out about the nginx that is built for.

use std::env;
use std::process::exit;

/// The oldest nginx that is supported: 1.22.0, as `nginx_version` spells it.
const OLDEST_NGINX: u64 = 1_022_000;

/// From this version on, headers of one name are linked (`ngx_table_elt_t.next`), and
/// `headers_in.x_forwarded_for` is the first of such a list rather than an array: 1.23.0.
const LINKED_HEADERS: u64 = 1_023_000;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(ngx_linked_headers)");

    if env::var_os("CARGO_FEATURE_MODULE").is_none() {
        return;
    }
    detect_features();
    detect_version();
}

/// `#[cfg(ngx_feature = "...")]`, as in the `ngx` crate and nginx-acme.
fn detect_features() {
    println!("cargo::rerun-if-env-changed=DEP_NGINX_FEATURES_CHECK");
    println!("cargo::rerun-if-env-changed=DEP_NGINX_FEATURES");
    println!(
        "cargo::rustc-check-cfg=cfg(ngx_feature, values({}))",
        env::var("DEP_NGINX_FEATURES_CHECK").unwrap_or_else(|_| "any()".to_owned())
    );
    for feature in env::var("DEP_NGINX_FEATURES").unwrap_or_default().split(',').map(str::trim) {
        println!("cargo::rustc-cfg=ngx_feature=\"{feature}\"");
    }
}

/// What differs between versions of nginx is decided here and nowhere else.
fn detect_version() {
    println!("cargo::rerun-if-env-changed=DEP_NGINX_VERSION_NUMBER");
    let version = env::var("DEP_NGINX_VERSION_NUMBER").ok().and_then(|v| v.parse::<u64>().ok());
    match version {
        Some(version) if version >= LINKED_HEADERS => {
            println!("cargo::rustc-cfg=ngx_linked_headers");
        }
        Some(version) if version >= OLDEST_NGINX => {}
        _ => {
            let found =
                env::var("DEP_NGINX_VERSION").unwrap_or_else(|_| "an unknown version".into());
            println!(
                "cargo::error=ngx-cachefront needs nginx 1.22.0 or newer, but NGINX_SOURCE_DIR holds {found}"
            );
            exit(1);
        }
    }
}
