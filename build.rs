//! Passes on to the compiler what `nginx-sys` found out about the nginx that is built for, and compiles
//! the shim in C.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(ngx_linked_headers)");

    #[cfg(feature = "module")]
    nginx::main();
}

#[cfg(feature = "module")]
mod nginx {
    use std::env;
    use std::path::PathBuf;
    use std::process::exit;

    /// The oldest nginx that is supported: 1.22.0, as `nginx_version` spells it.
    const OLDEST_NGINX: u64 = 1_022_000;

    /// From this version on, headers of one name are linked (`ngx_table_elt_t.next`), and
    /// `headers_in.x_forwarded_for` is the first of such a list rather than an array: 1.23.0.
    const LINKED_HEADERS: u64 = 1_023_000;

    const SHIM_SOURCE: &str = "src/nginx/shim.c";
    const SHIM_HEADER: &str = "src/nginx/shim.h";

    pub fn main() {
        detect_features();
        detect_version();
        compile_shim();
    }

    /// `#[cfg(ngx_feature = "...")]`, as in the `ngx` crate and nginx-acme.
    fn detect_features() {
        println!("cargo::rerun-if-env-changed=DEP_NGINX_FEATURES_CHECK");
        println!("cargo::rerun-if-env-changed=DEP_NGINX_FEATURES");
        println!(
            "cargo::rustc-check-cfg=cfg(ngx_feature, values({}))",
            env::var("DEP_NGINX_FEATURES_CHECK").unwrap_or_else(|_| "any()".to_owned())
        );
        for feature in env::var("DEP_NGINX_FEATURES").unwrap_or_default().split(',').map(str::trim)
        {
            println!("cargo::rustc-cfg=ngx_feature=\"{feature}\"");
        }
    }

    /// What differs between versions of nginx is decided here and in the shim, and nowhere else.
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
                fail(&format!(
                    "ngx-cachefront needs nginx 1.22.0 or newer, but NGINX_SOURCE_DIR holds {found}"
                ));
            }
        }
    }

    /// Compiles the shim against nginx's headers, and makes `shim.rs` of its own.
    fn compile_shim() {
        for file in [SHIM_SOURCE, SHIM_HEADER] {
            println!("cargo::rerun-if-changed={file}");
        }
        for name in ["DEP_NGINX_INCLUDE", "DEP_NGINX_CFLAGS"] {
            println!("cargo::rerun-if-env-changed={name}");
        }
        let include = env::var_os("DEP_NGINX_INCLUDE").unwrap_or_default();
        let include: Vec<_> = env::split_paths(&include).collect();
        let defines = env::var("DEP_NGINX_CFLAGS").unwrap_or_default();

        cc::Build::new()
            .file(SHIM_SOURCE)
            .includes(&include)
            .flags(defines.split_whitespace())
            .warnings(false)
            .compile("cachefront_shim");

        let bindings = bindgen::builder()
            .header(SHIM_HEADER)
            .clang_args(include.iter().map(|folder| format!("-I{}", folder.display())))
            .clang_args(defines.split_whitespace())
            .allowlist_function("cachefront_.*")
            .allowlist_recursively(false)
            .raw_line("use ngx::ffi::*;")
            .use_core()
            .layout_tests(false)
            .generate();
        let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("shim.rs");
        let written = bindings
            .map_err(|error| error.to_string())
            .and_then(|bindings| bindings.write_to_file(out).map_err(|error| error.to_string()));
        if let Err(error) = written {
            fail(&format!("{SHIM_HEADER}: {error}"));
        }
    }

    fn fail(message: &str) -> ! {
        println!("cargo::error={message}");
        exit(1);
    }
}
