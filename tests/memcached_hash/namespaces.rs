//! `$memcached_namespace`, and what is hashed.

use std::time::Duration;

use crate::cluster::{self, Client, memcacheds, missed, names, places};
use crate::support::nginx::Nginx;
use crate::support::process::wait_until;

/// Keys that are spread over all of three servers.
fn keys() -> Vec<String> {
    (0..60).map(|number| format!("/k{number}")).collect()
}

#[test]
fn m06_the_namespace_is_sent_but_not_hashed() {
    let servers = memcacheds(3);
    for parameters in ["ketama_points=150", ""] {
        let at = places(parameters, &names(&servers), &keys());
        for (key, &server) in keys().iter().zip(&at) {
            servers[server].set(format!("my:{key}"), 0, format!("{parameters} {key}"));
        }
        let nginx = cluster::builder(parameters, &names(&servers), "").start();
        let mut client = Client::of(&nginx);
        for key in keys() {
            assert_eq!(client.get_in("my:", &key).text(), format!("{parameters} {key}"));
            assert_eq!(client.get(&key).status, 404, "{key} is stored under my:{key} only");
        }
        nginx.check();
    }
}

#[test]
fn m06_hash_namespace_hashes_both() {
    let servers = memcacheds(3);
    let parameters = "ketama_points=150 hash_namespace=on";
    let whole: Vec<_> = keys().iter().map(|key| format!("my:{key}")).collect();
    let at = places("ketama_points=150", &names(&servers), &whole);
    assert_ne!(at, places("ketama_points=150", &names(&servers), &keys()));
    for (key, server) in whole.iter().zip(at) {
        servers[server].set(key, 0, key);
    }
    let nginx = cluster::builder(parameters, &names(&servers), "").start();
    let mut client = Client::of(&nginx);
    for key in keys() {
        assert_eq!(client.get_in("my:", &key).text(), format!("my:{key}"));
    }
    nginx.check();
}

#[test]
fn m08a_a_namespace_that_is_never_set() {
    let servers = memcacheds(2);
    for server in &servers {
        server.set("key", 0, "value");
    }
    let nginx = Nginx::builder()
        .http(&cluster::upstream("ketama_points=150", &names(&servers), ""))
        .server("location / { set $memcached_key key; memcached_pass m; }")
        .root_location(false)
        .start();
    assert_eq!(Client::of(&nginx).ask("/", &[]).text(), "value");
    nginx.check();
}

#[test]
fn m08_namespaces_of_all_kinds() {
    let servers = memcacheds(3);
    let long = "n".repeat(120);
    for (namespace, on_the_wire) in [
        ("", ""),
        ("zz:", "zz:"),
        (&*long, &*long),
        ("/k0", "/k0"),
        ("two words:", "two%20words:"),
        ("100%", "100%25"),
        ("%20", "%2520"),
        ("für:", "für:"),
    ] {
        let at = places("ketama_points=150", &names(&servers), &keys());
        for (key, &server) in keys().iter().zip(&at) {
            servers[server].set(format!("{on_the_wire}{key}"), 0, format!("{namespace} {key}"));
        }
        let nginx = cluster::builder("ketama_points=150", &names(&servers), "").start();
        let mut client = Client::of(&nginx);
        for key in keys() {
            let answer = client.get_in(namespace, &key);
            assert_eq!(answer.text(), format!("{namespace} {key}"), "{}", answer.status);
        }
        nginx.check();
    }
}

#[test]
fn m08e_an_empty_key_is_nginxs_error_with_a_namespace_too() {
    let servers = memcacheds(2);
    let nginx = cluster::builder("ketama_points=150", &names(&servers), "").start();
    assert_eq!(Client::of(&nginx).get_in("ns:", "").status, 500);
    nginx.wait_for_log("the \"$memcached_key\" variable is not set");
    nginx.check();
}

#[test]
fn the_namespace_leaves_no_trace() {
    let servers = memcacheds(3);
    for server in &servers {
        server.set("ns:one%20key", 0, "value");
    }
    let nginx = Nginx::builder()
        .http(&cluster::upstream("ketama_points=150", &names(&servers), ""))
        .http("log_format all '$memcached_key|$memcached_namespace';")
        .server(
            r#"
            access_log logs/keys.log all;
            set $memcached_key       $http_x_key;
            set $memcached_namespace "ns:";
            location / {
                memcached_pass m;
                add_header     X-Key "$memcached_key|$memcached_namespace";
                error_page     404 = @missed;
            }
            location @missed { return 200 "$memcached_key|$memcached_namespace"; }
            "#,
        )
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    assert_eq!(client.get("other key").text(), "other key|ns:");
    let hit = client.get("one key");
    assert_eq!((&*hit.text(), hit.header("X-Key")), ("value", Some("one key|ns:".into())));

    let log = nginx.prefix().join("logs/keys.log");
    let logged = || std::fs::read_to_string(&log).unwrap_or_default();
    let expected = "other key|ns:\none key|ns:\n";
    assert!(wait_until(Duration::from_secs(5), || logged() == expected), "{}", logged());
    nginx.check();
}

#[test]
fn a_second_pass_has_the_namespace_once() {
    let servers = memcacheds(4);
    let names = names(&servers);
    for server in &servers[2..] {
        server.set("ns:key", 0, "from the second cluster");
        server.set("ns:ns:key", 0, "prefixed twice");
        server.set("key", 0, "not prefixed");
    }
    let nginx = Nginx::builder()
        .http(&cluster::upstream("ketama_points=150", &names[..2], ""))
        .http(&format!("upstream second {{ memcached_hash; {} }}", cluster::lines(&names[2..], "")))
        .server(
            r#"
            location / {
                set $memcached_key       key;
                set $memcached_namespace "ns:";
                memcached_pass           m;
                error_page               404 = @second;
            }
            location @second { memcached_pass second; add_header X-Server $memcached_hash_server; }
            location /inner/ {
                set $memcached_key       key;
                set $memcached_namespace "ns:";
                memcached_pass           m;
                error_page               404 = /redirected;
            }
            location /redirected { memcached_pass second; }
            "#,
        )
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    let answer = client.ask("/", &[]);
    assert_eq!(answer.text(), "from the second cluster");
    assert!(names[2..].contains(&answer.header("X-Server").unwrap()));
    assert_eq!(client.ask("/inner/", &[]).text(), "from the second cluster");
    nginx.check();
}

#[test]
fn each_subrequest_has_its_own_namespace() {
    let servers = memcacheds(3);
    for server in &servers {
        server.set(
            "page:/",
            0,
            r#"<!--# include virtual="/a" --><!--# include virtual="/none" --><!--# include virtual="/b" -->"#,
        );
        server.set("a:/a", 0, "A ");
        server.set("/none", 0, "none ");
        server.set("b:/b", 0, "B");
        server.set("page:/none", 0, "the page's ");
        server.set("a:/none", 0, "another fragment's ");
    }
    let nginx = Nginx::builder()
        .http(&cluster::upstream("ketama_points=150", &names(&servers), ""))
        .server(
            r#"
            default_type      text/html;
            ssi               on;
            ssi_silent_errors on;
            set               $memcached_key $uri;
            location = /      { set $memcached_namespace "page:"; memcached_pass m; }
            location = /a     { set $memcached_namespace "a:"; memcached_pass m; }
            location = /b     { set $memcached_namespace "b:"; memcached_pass m; }
            location = /none  { memcached_pass m; }
            add_header        X-Namespace $memcached_namespace;
            "#,
        )
        .root_location(false)
        .start();
    let answer = Client::of(&nginx).ask("/", &[]);
    assert_eq!(answer.text(), "A none B");
    assert_eq!(answer.header("X-Namespace").as_deref(), Some("page:"));
    nginx.check();
}

#[test]
fn a_namespace_of_the_server_holds_for_all_its_requests() {
    let servers = memcacheds(2);
    for server in &servers {
        server.set("site:/", 0, r#"<!--# include virtual="/a" -->"#);
        server.set("site:/a", 0, "A");
    }
    let nginx = Nginx::builder()
        .http(&cluster::upstream("ketama_points=150", &names(&servers), ""))
        .server(
            r#"
            default_type text/html;
            ssi          on;
            set          $memcached_key       $uri;
            set          $memcached_namespace "site:";
            location /   { memcached_pass m; }
            "#,
        )
        .root_location(false)
        .start();
    assert_eq!(Client::of(&nginx).ask("/", &[]).text(), "A");
    nginx.check();
}

#[test]
fn a_map_may_define_the_namespace() {
    let servers = memcacheds(2);
    for server in &servers {
        server.set("de:key", 0, "Wert");
        server.set("en:key", 0, "value");
    }
    let nginx = Nginx::builder()
        .http("map $arg_lang $memcached_namespace { de 'de:'; default 'en:'; }")
        .http(&cluster::upstream("ketama_points=150", &names(&servers), ""))
        .server("location / { set $memcached_key key; memcached_pass m; }")
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    assert_eq!(client.ask("/?lang=de", &[]).text(), "Wert");
    assert_eq!(client.ask("/?lang=en", &[]).text(), "value");
    nginx.check();
}

#[test]
fn what_sets_the_namespace_last_counts() {
    let servers = memcacheds(1);
    servers[0].set("mapped:key", 0, "by map");
    servers[0].set("set:key", 0, "by set");
    servers[0].set("found:key", 0, "by a pattern");
    let location = "set $memcached_key key; memcached_pass m; add_header X $memcached_namespace;";
    let nginx = Nginx::builder()
        .http("map $uri $memcached_namespace { default 'mapped:'; }")
        .http(&cluster::upstream("", &names(&servers), ""))
        .server(&format!(
            "location /map {{ {location} }}
             location /set {{ set $memcached_namespace 'set:'; {location} }}"
        ))
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    for (target, value, namespace) in
        [("/map", "by map", "mapped:"), ("/set", "by set", "set:"), ("/map", "by map", "mapped:")]
    {
        let answer = client.ask(target, &[]);
        assert_eq!(answer.text(), value, "{target}");
        assert_eq!(answer.header("X").as_deref(), Some(namespace), "{target}");
    }
    nginx.check();

    let nginx = Nginx::builder()
        .http(&cluster::upstream("", &names(&servers), ""))
        .server("set $memcached_namespace 'set:';")
        .server(&format!(
            "location / {{ {location} }}
             location ~ '^/(?<memcached_namespace>found:)$' {{ {location} }}"
        ))
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    assert_eq!(client.ask("/", &[]).text(), "by set");
    assert_eq!(client.ask("/found:", &[]).text(), "by a pattern");
    nginx.check();
}

#[test]
fn the_namespace_is_for_upstreams_with_the_directive() {
    let servers = memcacheds(1);
    servers[0].set("key", 0, "bare");
    servers[0].set("ns:key", 0, "prefixed");
    let server = &names(&servers)[0];
    let nginx = Nginx::builder()
        .http(&format!("upstream plain {{ server {server}; }}"))
        .http(&format!("upstream hashed {{ memcached_hash; server {server}; }}"))
        .server("set $memcached_key key; set $memcached_namespace ns:;")
        .server("location /plain { memcached_pass plain; }")
        .server("location /hashed { memcached_pass hashed; }")
        .server(&format!("location /none {{ memcached_pass {server}; }}"))
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    assert_eq!(client.ask("/plain", &[]).text(), "bare");
    assert_eq!(client.ask("/none", &[]).text(), "bare");
    assert_eq!(client.ask("/hashed", &[]).text(), "prefixed");
    nginx.check();
}

#[test]
fn key_names_another_string_to_hash() {
    let servers = memcacheds(3);
    let users: Vec<_> = (0..40).map(|number| format!("user{number}")).collect();
    let at = places("ketama_points=150", &names(&servers), &users);
    for (user, server) in users.iter().zip(at) {
        servers[server].set(format!("ns:{user}:name"), 0, format!("the name of {user}"));
    }
    let parameters = "ketama_points=150 'key=$http_x_user'";
    let nginx = cluster::builder(parameters, &names(&servers), "").start();
    let mut client = Client::of(&nginx);
    for user in &users {
        let key = format!("{user}:name");
        let headers: [(&str, &[u8]); 3] =
            [("X-Key", key.as_bytes()), ("X-User", user.as_bytes()), ("X-Namespace", b"ns:")];
        assert_eq!(client.ask("/", &headers).text(), format!("the name of {user}"));
    }
    let at = missed(&client.ask("/", &[("X-Key", b"none"), ("X-User", b"user0")])).server;
    assert_eq!(at, names(&servers)[places("ketama_points=150", &names(&servers), &["user0"])[0]]);
    nginx.check();
}

#[test]
fn m30_the_key_that_is_sent_is_the_one_that_is_hashed() {
    let servers = memcacheds(3);
    let keys: Vec<_> = (0..30).flat_map(|n| [format!("/p?{n}"), format!("user:{n}")]).collect();
    for (key, server) in keys.iter().zip(places("ketama_points=150", &names(&servers), &keys)) {
        servers[server].set(key, 0, key);
    }
    let nginx = Nginx::builder()
        .http(&cluster::upstream("ketama_points=150", &names(&servers), ""))
        .server(r#"location /p { set $memcached_key "$uri?$args"; memcached_pass m; }"#)
        .server(r#"location /u { set $memcached_key "user:$arg_id"; memcached_pass m; }"#)
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    for number in 0..30 {
        assert_eq!(client.ask(&format!("/p?{number}"), &[]).text(), format!("/p?{number}"));
        assert_eq!(client.ask(&format!("/u?id={number}"), &[]).text(), format!("user:{number}"));
    }
    nginx.check();
}
