//! Configurations that `nginx -t` refuses, and in which words.

use crate::cluster::lines;
use crate::support::nginx::Nginx;

const SERVERS: [&str; 2] = ["127.0.0.1:1", "127.0.0.1:2"];

/// What `nginx -t` says of an upstream.
fn test(directives: &str, servers: &str) -> (bool, String) {
    Nginx::builder().http(&format!("upstream m {{ {directives}\n{servers} }}")).test_config()
}

#[track_caller]
fn refused(directives: &str, servers: &str, words: &[&str]) {
    let (good, said) = test(directives, servers);
    assert!(!good, "{directives} was accepted");
    for words in words {
        assert!(said.contains("[emerg]") && said.contains(words), "no `{words}` in\n{said}");
    }
}

#[test]
fn m31_parameters_that_are_none() {
    let servers = lines(&SERVERS, "");
    let directive = "\"memcached_hash\" directive: ";
    for (parameter, words) in [
        ("ketama_points=-1", "invalid value \"-1\" of \"ketama_points\""),
        ("ketama_points=abc", "invalid value \"abc\" of \"ketama_points\""),
        ("ketama_points=", "invalid value \"\" of \"ketama_points\""),
        ("ketama_points=4294967295", "invalid value \"4294967295\" of \"ketama_points\""),
        ("ketama_points=4294967296", "invalid value \"4294967296\" of \"ketama_points\""),
        ("weight_scale=0", "invalid value \"0\" of \"weight_scale\""),
        ("weight_scale=-1", "invalid value \"-1\" of \"weight_scale\""),
        ("hash_namespace=maybe", "invalid value \"maybe\" of \"hash_namespace\""),
        ("rehash=2", "invalid value \"2\" of \"rehash\""),
        ("key=", "invalid value \"\" of \"key\""),
        ("client=none", "invalid value \"none\" of \"client\""),
        ("points=150", "invalid parameter \"points=150\""),
        ("ketama_points", "invalid parameter \"ketama_points\""),
        ("on", "invalid parameter \"on\""),
        ("ketama_points=1 ketama_points=1", "duplicate parameter \"ketama_points\""),
        ("key=$nothing_sets_this", "unknown \"nothing_sets_this\" variable"),
    ] {
        refused(&format!("memcached_hash {parameter};"), &servers, &[words]);
        if !parameter.starts_with("key=$") {
            refused(&format!("memcached_hash {parameter};"), &servers, &[directive]);
        }
    }
}

#[test]
fn m31_the_line_is_named() {
    refused("\n\n  memcached_hash weight_scale=0;", "", &["conf/nginx.conf:"]);
}

#[test]
fn m31_two_directives() {
    let two = "memcached_hash; memcached_hash ketama_points=150;";
    refused(two, &lines(&SERVERS, ""), &["\"memcached_hash\" directive is duplicate"]);
}

#[test]
fn m31_servers_that_no_key_could_be_placed_on() {
    for (parameters, server, words) in [
        ("ketama_points=160", "weight=1000000", "320000000 points together, the limit is 16000000"),
        ("ketama_points=16000000", "", "32000000 points together, the limit is 16000000"),
        ("weight_scale=100", "weight=1", "the total weight 0.02 rounds to 0"),
        ("ketama_points=1 weight_scale=10", "weight=1", "the servers have 0 points together"),
        ("", "weight=4294967296", "weight 4294967296 of server \"127.0.0.1:1\" is over the limit"),
    ] {
        refused(
            &format!("memcached_hash {parameters};"),
            &lines(&SERVERS, server),
            &["\"memcached_hash\" directive: ", words, "in upstream \"m\" in ", "nginx.conf:"],
        );
    }
}

#[test]
fn m34_backup_is_refused_before_and_behind() {
    let servers = lines(&SERVERS, "") + "server 127.0.0.1:3 backup;";
    let words = "balancing method does not support parameter \"backup\"";
    refused("memcached_hash;", &servers, &[words]);
    refused(&servers, "memcached_hash;", &[words, "of server \"127.0.0.1:3\""]);
}

#[test]
fn m34_parameters_of_servers_that_are_supported() {
    let (good, said) = test(
        "memcached_hash;",
        &lines(&SERVERS, "weight=2 max_conns=1 max_fails=0 fail_timeout=3 down"),
    );
    assert!(good, "{said}");
    assert!(!said.contains("[warn]"), "{said}");
    refused(
        "memcached_hash;",
        &lines(&SERVERS, "slow_start=5"),
        &["invalid parameter \"slow_start=5\""],
    );
}

#[test]
fn a_method_before_it_gives_way_with_a_warning() {
    let (good, said) = test("least_conn; memcached_hash;", &lines(&SERVERS, ""));
    assert!(good && said.contains("load balancing method redefined"), "{said}");
    let (good, said) = test("memcached_hash; least_conn;", &lines(&SERVERS, ""));
    assert!(good && said.contains("load balancing method redefined"), "{said}");
}

#[test]
fn outside_an_upstream_it_is_not_allowed() {
    for builder in [
        Nginx::builder().http("memcached_hash;"),
        Nginx::builder().server("memcached_hash;"),
        Nginx::builder().server("location / { memcached_hash; }").root_location(false),
    ] {
        let (good, said) = builder.test_config();
        assert!(
            !good && said.contains("\"memcached_hash\" directive is not allowed here"),
            "{said}"
        );
    }
}

#[test]
fn an_upstream_without_servers() {
    refused("memcached_hash;", "", &["no servers are inside upstream"]);
}

#[test]
fn a_variable_of_the_module_cannot_be_set() {
    let (good, said) = Nginx::builder().server("set $memcached_hash_server x;").test_config();
    assert!(!good && said.contains("the duplicate \"memcached_hash_server\" variable"), "{said}");
}
