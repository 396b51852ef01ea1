//! Answers that Lua makes, which does not always mind what a filter says. Left out where nginx has no Lua.

use std::path::Path;

use crate::support::http::{self, Connection};
use crate::support::nginx::Nginx;

/// nginx with these directives, and one location that each runs some Lua.
fn start(directives: &str, locations: &[(&str, &str)]) -> Option<Nginx> {
    let folder = Path::new("/usr/lib/nginx/modules");
    let modules = ["ndk_http_module.so", "ngx_http_lua_module.so"].map(|name| folder.join(name));
    let load: String =
        modules.iter().map(|path| format!("load_module {};\n", path.display())).collect();
    let server: String = locations
        .iter()
        .map(|(path, code)| format!("location {path} {{ content_by_lua_block {{ {code} }} }}\n"))
        .collect();
    let builder = || {
        Nginx::builder()
            .main(&load)
            .http(&format!("lua_load_resty_core off; jsonp_callback callback; {directives}"))
            .server(&server)
    };
    if modules.iter().any(|path| !path.exists()) || !builder().test_config().0 {
        eprintln!("left out: this nginx has no Lua");
        return None;
    }
    Some(builder().start())
}

/// Lua goes on with the body after `ngx.say` could not send the header.
#[test]
fn a_body_without_its_header_is_not_sent() {
    let code = r#"
        ngx.header.content_type = "application/json"
        ngx.say('{"a":')
        ngx.say('1}')"#;
    let Some(nginx) = start("jsonp_callback_invalid 400;", &[("/lua", code)]) else { return };
    let answer = http::get(nginx.port(), "/lua?callback=cb");
    assert_eq!(answer.body, b"cb({\"a\":\n1}\n);");
    let mut client = Connection::open(nginx.port());
    client.send("GET /lua?callback=! HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(String::from_utf8_lossy(&client.read_to_end()), "");
    nginx.check();
}

/// Lua leaves the charset in the type, of which it compares the part before.
#[test]
fn the_charset_stays() {
    let code = r#"
        ngx.header.content_type = "application/json; charset=utf-8"
        ngx.print('{"a":1}')"#;
    let Some(nginx) = start("", &[("/lua", code)]) else { return };
    let answer = http::get(nginx.port(), "/lua?callback=cb");
    assert_eq!(answer.body, b"cb({\"a\":1});");
    assert_eq!(answer.header("Content-Type"), Some("text/javascript; charset=utf-8".into()));
    nginx.check();
}

#[test]
fn an_answer_that_is_not_as_long_as_it_says_is_no_script() {
    let code = |length: usize| {
        format!(
            r#"
            ngx.header.content_type = "application/json"
            ngx.header.content_length = {length}
            ngx.print('{{"a":1}}')"#
        )
    };
    let (short, right) = (code(100), code(7));
    let locations = [("/short", short.as_str()), ("/right", right.as_str())];
    for escape in ["on", "off"] {
        let directives = format!("jsonp_callback_escape {escape};");
        let Some(nginx) = start(&directives, &locations) else { return };
        assert_eq!(http::get(nginx.port(), "/right?callback=cb").body, b"cb({\"a\":1});");
        let mut client = Connection::open(nginx.port());
        client.send("GET /short?callback=cb HTTP/1.1\r\nHost: a\r\n\r\n");
        let bytes = client.read_to_end();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(");") && !text.ends_with("0\r\n\r\n"), "{escape}: {text}");
        nginx.check();
    }
}
