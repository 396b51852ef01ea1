//! Answers that `jsonp_callback_invalid` refuses, from one that does not mind.

use std::path::Path;

use crate::support::http::{self, Connection};
use crate::support::nginx::Nginx;

/// Lua goes on with the body after `ngx.say` could not send the header. Left out where nginx has no Lua.
#[test]
fn a_body_without_its_header_is_not_sent() {
    let folder = Path::new("/usr/lib/nginx/modules");
    let modules = ["ndk_http_module.so", "ngx_http_lua_module.so"].map(|name| folder.join(name));
    let load: String =
        modules.iter().map(|path| format!("load_module {};\n", path.display())).collect();
    let builder = || {
        Nginx::builder()
            .main(&load)
            .http("lua_load_resty_core off; jsonp_callback callback; jsonp_callback_invalid 400;")
            .server(
                r#"location /lua {
                    content_by_lua_block {
                        ngx.header.content_type = "application/json"
                        ngx.say('{"a":')
                        ngx.say('1}')
                    }
                }"#,
            )
    };
    if modules.iter().any(|path| !path.exists()) || !builder().test_config().0 {
        eprintln!("left out: this nginx has no Lua");
        return;
    }
    let nginx = builder().start();
    let answer = http::get(nginx.port(), "/lua?callback=cb");
    assert_eq!(answer.body, b"cb({\"a\":\n1}\n);");
    let mut client = Connection::open(nginx.port());
    client.send("GET /lua?callback=! HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(String::from_utf8_lossy(&client.read_to_end()), "");
    nginx.check();
}
