//! Pages that nginx puts together from fragments in memcached, with an application behind it.

use crate::cluster::{Client, lines, memcacheds, names, places};
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
        let body =
            format!("[{} {} by the application]", value("REQUEST_METHOD"), value("REQUEST_URI"));
        let length = body.len();
        vec![send(format!(
            "Status: 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}"
        ))]
    })
}

fn include(target: &str) -> String {
    format!(r#"<!--# include virtual="{target}" -->"#)
}

fn start(parameters: &str, names: &[String], application: &TcpServer) -> Nginx {
    Nginx::builder()
        .http(&format!(
            "upstream m {{ memcached_hash {parameters}; {} keepalive 16; }}
             upstream application {{ server 127.0.0.1:{}; keepalive 8; }}",
            lines(names, ""),
            application.port()
        ))
        .server(
            r#"
            default_type text/html;

            location / {
                ssi               on;
                ssi_silent_errors on;
                set               $memcached_key $uri;
                memcached_pass    m;
                error_page        404 =200 @app;
                error_page        502 504 =200 @app;
                error_page        302 =302 @app;
                if ($request_method = POST) { return 302; }
            }

            location @app {
                ssi        on;
                scgi_pass  application;
                scgi_param REQUEST_METHOD $request_method;
                scgi_param REQUEST_URI    $request_uri;
                scgi_param DOCUMENT_URI   $uri;
                scgi_param CONTENT_LENGTH $content_length;
            }
            "#,
        )
        .root_location(false)
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
            // A fragment has the URI of the page it is in.
            0 => "[GET /page by the application]".to_owned(),
            _ => fragment.clone(),
        })
        .collect();
    let mut client = Client::of(&nginx);
    let text = client.ask("/page", &[]).text();
    let own = crate::cluster::places("", &names, &["/page"])[0];
    match own {
        0 => assert_eq!(text, "[GET /page by the application]"),
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
    assert_eq!(answer.text(), "<p>A|[GET /page by the application]</p>");

    let answer = client.ask("/missing?x=1", &[]);
    assert_eq!((answer.status, &*answer.text()), (200, "[GET /missing?x=1 by the application]"));

    let before: u64 = servers.iter().map(|server| server.stat("cmd_get")).sum();
    let answer =
        crate::support::http::request(nginx.port(), "POST", "/page", &[("Content-Length", "0")]);
    // The configuration gives the application's answer this status, for the redirect that follows a POST.
    assert_eq!((answer.status, &*answer.text()), (302, "[POST /page by the application]"));
    let after: u64 = servers.iter().map(|server| server.stat("cmd_get")).sum();
    assert_eq!(before, after, "a POST asked memcached");
    nginx.check();
}
