//! Pages that nginx puts together from fragments in memcached, with an application behind it.

use crate::cluster::{Client, memcacheds, names, places};
use crate::support::nginx::Nginx;
use crate::support::tcp_server::{TcpServer, send};

/// An SCGI application that says what it was asked for.
fn application() -> TcpServer {
    TcpServer::builder().start_with(|_, request| {
        let request = String::from_utf8_lossy(request).into_owned();
        let value = |name: &str| {
            let (_, rest) = request.split_once(&format!("{name}\0")).unwrap_or_default();
            rest.split('\0').next().unwrap_or_default().to_owned()
        };
        let words = ["REQUEST_METHOD", "DOCUMENT_URI", "REQUEST_URI"].map(value);
        let body = format!("[{} by the application]", words.join(" "));
        let length = body.len();
        vec![send(format!(
            "Status: 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}"
        ))]
    })
}

fn include(target: &str) -> String {
    format!(r#"<!--# include virtual="{target}" -->"#)
}

/// nginx with `nginx-conf/ssi-page.conf`, these servers and this application.
fn start(parameters: &str, names: &[String], application: &TcpServer) -> Nginx {
    let builder = Nginx::builder();
    let listen = format!("127.0.0.1:{}", builder.port());
    let application = format!("127.0.0.1:{}", application.port());
    let [first, second, third] = names else { panic!("the configuration has three servers") };
    builder
        .example(
            "ssi-page.conf",
            &[
                ("127.0.0.1:10080", &listen),
                ("127.0.0.1:10083", &application),
                ("ketama_points=150", parameters),
                ("localhost:20000", first),
                ("localhost:20001", second),
                ("localhost:20002", third),
            ],
        )
        .start()
}

#[test]
fn fragments_come_from_their_own_servers() {
    let mut servers = memcacheds(3);
    let names = names(&servers);
    let fragments: Vec<_> = (0..40).map(|number| format!("/fragment/{number}")).collect();
    let page: String = fragments.iter().map(|fragment| include(fragment)).collect();
    let application = application();

    for parameters in ["ketama_points=150", ""] {
        let places = places(parameters, &names, &fragments);
        assert!((0..3).all(|server| places.contains(&server)));
        for (fragment, &server) in fragments.iter().zip(&places) {
            for (at, memcached) in servers.iter().enumerate() {
                memcached.set(
                    fragment,
                    0,
                    if at == server { fragment } else { "of another server" },
                );
            }
        }
        for server in &servers {
            server.set("/page", 0, &page);
        }
        let nginx = start(parameters, &names, &application);
        let mut client = Client::of(&nginx);
        for _ in 0..3 {
            let answer = client.ask("/page", &[]);
            assert_eq!((answer.status, answer.text()), (200, fragments.concat()));
        }
        nginx.check();
    }
    assert_eq!(application.requests().len(), 0);

    // A server that is gone is the application's work, the fragments of the others are not.
    servers[0].kill();
    let nginx = start("", &names, &application);
    let places = places("", &names, &fragments);
    let expected: String = fragments
        .iter()
        .zip(places)
        .map(|(fragment, place)| match place {
            0 => format!("[GET {fragment} /page by the application]"),
            _ => fragment.clone(),
        })
        .collect();
    let mut client = Client::of(&nginx);
    let text = client.ask("/page", &[]).text();
    let own = crate::cluster::places("", &names, &["/page"])[0];
    match own {
        0 => assert_eq!(text, "[GET /page /page by the application]"),
        _ => assert_eq!(text, expected),
    }
    nginx.check();
}

#[test]
fn misses_and_posts_go_to_the_application() {
    let servers = memcacheds(3);
    let names = names(&servers);
    for server in &servers {
        server.set("/page", 0, format!("<p>{}|{}</p>", include("/a"), include("/none")));
        server.set("/a", 0, "A");
    }
    let application = application();
    let nginx = start("ketama_points=150", &names, &application);
    let mut client = Client::of(&nginx);

    let answer = client.ask("/page", &[]);
    assert_eq!(answer.text(), "<p>A|[GET /none /page by the application]</p>");

    let answer = client.ask("/missing?x=1", &[]);
    assert_eq!(
        (answer.status, &*answer.text()),
        (200, "[GET /missing /missing?x=1 by the application]")
    );

    let before: u64 = servers.iter().map(|server| server.stat("cmd_get")).sum();
    let answer =
        crate::support::http::request(nginx.port(), "POST", "/page", &[("Content-Length", "0")]);
    // The configuration gives the application's answer this status, for the redirect that follows a POST.
    assert_eq!((answer.status, &*answer.text()), (302, "[POST /page /page by the application]"));
    let after: u64 = servers.iter().map(|server| server.stat("cmd_get")).sum();
    assert_eq!(before, after, "a POST asked memcached");
    nginx.check();
}
