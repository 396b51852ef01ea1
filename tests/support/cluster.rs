//! nginx in front of memcached servers.

use super::http::{Connection, Response};
use super::memcached::Memcached;
use super::nginx::{Builder, Nginx};

/// `number` memcached servers.
pub fn memcacheds(number: usize) -> Vec<Memcached> {
    (0..number).map(|_| Memcached::start()).collect()
}

/// The names of the servers.
pub fn names(servers: &[Memcached]) -> Vec<String> {
    servers.iter().map(|server| format!("127.0.0.1:{}", server.port())).collect()
}

/// `server` lines, each with the same parameters behind its name.
pub fn lines(names: &[impl AsRef<str>], parameters: &str) -> String {
    let line = |name: &_| format!("server {} {parameters};\n", AsRef::<str>::as_ref(name));
    names.iter().map(line).collect()
}

/// An upstream `m` of servers at these names.
pub fn upstream(parameters: &str, names: &[impl AsRef<str>], more: &str) -> String {
    let servers = lines(names, "");
    format!("upstream m {{ memcached_hash {parameters};\n{servers} {more} }}")
}

/// Key and namespace are the request's headers `X-Key` and `X-Namespace`. A hit is answered as it is, all
/// else with 404 and a line of the server, its address and its status.
pub const LOCATION: &str = r#"
    location / {
        set $memcached_key       $http_x_key;
        set $memcached_namespace $http_x_namespace;
        memcached_pass           m;
        error_page               404 502 504 =404 @missed;
        add_header               X-Server $memcached_hash_server;
    }
    location @missed {
        return 404 "$memcached_hash_server|$upstream_addr|$upstream_status";
    }
"#;

/// nginx with such an upstream and [`LOCATION`].
pub fn builder(parameters: &str, names: &[impl AsRef<str>], more: &str) -> Builder {
    Nginx::builder()
        .http(&upstream(parameters, names, more))
        .server(
            "memcached_connect_timeout 2s; memcached_read_timeout 2s; keepalive_requests 100000;",
        )
        .server(LOCATION)
        .root_location(false)
}

/// An HTTP connection that asks for keys.
pub struct Client(Connection);

impl Client {
    pub fn of(nginx: &Nginx) -> Client {
        Client(Connection::open(nginx.port()))
    }

    /// Asks for a key without a namespace.
    pub fn get(&mut self, key: impl AsRef<[u8]>) -> Response {
        self.ask("/", &[("X-Key", key.as_ref())])
    }

    /// Asks for a key with a namespace.
    pub fn get_in(&mut self, namespace: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Response {
        self.ask("/", &[("X-Key", key.as_ref()), ("X-Namespace", namespace.as_ref())])
    }

    /// Asks for a target with headers that need not be text.
    pub fn ask(&mut self, target: &str, headers: &[(&str, &[u8])]) -> Response {
        let mut request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n").into_bytes();
        for (name, value) in headers {
            request.extend_from_slice(name.as_bytes());
            request.extend_from_slice(b": ");
            request.extend_from_slice(value);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        self.0.send(request).read()
    }

    /// The body of a hit.
    pub fn hit(&mut self, key: impl AsRef<[u8]>) -> String {
        let answer = self.get(key.as_ref());
        assert_eq!(
            answer.status,
            200,
            "{}: {}",
            String::from_utf8_lossy(key.as_ref()),
            answer.text()
        );
        answer.text()
    }
}

/// What became of a request that was no hit.
#[derive(Debug, PartialEq)]
pub struct Missed {
    pub server: String,
    /// Each address that was asked.
    pub addresses: Vec<String>,
    /// nginx's status for each.
    pub statuses: Vec<String>,
}

/// Reads what [`LOCATION`] answers to a request that is no hit.
pub fn missed(answer: &Response) -> Missed {
    assert_eq!(answer.status, 404, "{}", answer.text());
    let text = answer.text();
    let [server, addresses, statuses] = text.split('|').collect::<Vec<_>>()[..] else {
        panic!("not from @missed: {text}");
    };
    let list = |text: &str| text.split(", ").map(str::to_owned).collect();
    Missed { server: server.into(), addresses: list(addresses), statuses: list(statuses) }
}

/// The server that nginx would ask for each key, for names that nobody has to listen at: it is told that
/// they are down.
pub fn owners(
    parameters: &str,
    servers: &[impl AsRef<str>],
    keys: &[impl AsRef<[u8]>],
) -> Vec<String> {
    let servers = lines(servers, "down");
    let nginx = Nginx::builder()
        .log_level("crit")
        .http(&format!("upstream m {{ memcached_hash {parameters};\n{servers} }}"))
        .server(LOCATION)
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    let owner = |key: &_| {
        let answer = client.get(AsRef::<[u8]>::as_ref(key));
        let missed = missed(&answer);
        assert_eq!(
            (&*missed.addresses, &*missed.statuses),
            (&["m".to_owned()][..], &["502".to_owned()][..])
        );
        missed.server
    };
    let owners = keys.iter().map(owner).collect();
    nginx.check();
    owners
}

/// As [`owners`], as places in the list of servers.
pub fn places(
    parameters: &str,
    servers: &[impl AsRef<str>],
    keys: &[impl AsRef<[u8]>],
) -> Vec<usize> {
    // A server's name is the first word of its line.
    let name = |server: &_| AsRef::<str>::as_ref(server).split(' ').next().unwrap().to_owned();
    let names: Vec<String> = servers.iter().map(name).collect();
    let place = |owner| names.iter().position(|name| *name == owner).unwrap();
    owners(parameters, servers, keys).into_iter().map(place).collect()
}
