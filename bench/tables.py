"""What is measured: for each table, the configurations that stand side by side."""

from dataclasses import dataclass, field
from pathlib import Path

from servers import Apache, Nginx, scratch_folder

JSON = b'{"status":"success", "count":1000}'
KEY = "testapp::100::100"
CALLBACK = "cb_func_hoge"
COUNT = "/count?user_id=100&entry_id=100"
SEPARATOR = "\u2028".encode()
POINTS = 150


@dataclass
class Site:
    """One row: a server's configuration, what it is asked, and what it must answer."""

    name: str
    http: str
    path: str
    answer: bytes
    modules: tuple = ()
    headers: tuple = ()
    over: str = None  # the row it is compared with
    budget: int = None  # instructions that it may cost over that row
    budget_of: str = None  # ... or as much as this row costs over it
    check: bool = False  # CI compares what it costs over that row with what is committed
    requests: int = 300  # for counting instructions
    folder: Path = field(default_factory=scratch_folder)

    def start(self, wrapper=(), workers=None):
        return Nginx(self.http, self.modules, wrapper)

    def check_answer(self, body):
        if body != self.answer:
            raise RuntimeError(f"{self.name}: wrong answer {body[:200]!r}, expected {self.answer[:200]!r}")


@dataclass
class ApacheSite(Site):
    memcached: object = None

    def start(self, wrapper=(), workers=64):
        return Apache(self.memcached, wrapper, workers)


def server(location, before=""):
    return f"{before}\n    server {{\n        listen 127.0.0.1:{{port}};\n{location}\n    }}"


def memcached_location(filters="", upstream="m", key='"testapp::$arg_user_id::$arg_entry_id"'):
    return (
        f"        location /count {{\n            default_type text/javascript;\n            {filters}\n"
        f"            set $memcached_key {key};\n            memcached_pass {upstream};\n        }}"
    )


def upstream(hosts, port, balancer=""):
    servers = "".join(f"        server {host}:{port};\n" for host in hosts)
    return f"    upstream m {{\n        {balancer}\n{servers}        keepalive 300;\n    }}"


def jsonp(module, memcached):
    """JSONP over memcached: the API of the first configuration, as people build it today and as it was built before."""
    one = upstream(memcached.hosts[:1], memcached.port)
    wrapped = CALLBACK.encode() + b"(" + JSON + b");"
    path = f"{COUNT}&callback={CALLBACK}"

    lua = """
            header_filter_by_lua_block {
                local callback = ngx.var.arg_callback
                if ngx.status == 200 and callback and ngx.re.find(callback, [[^\\w{1,255}$]], "jo") then
                    ngx.ctx.callback = callback
                    ngx.header.content_length = nil
                end
            }
            body_filter_by_lua_block {
                local callback = ngx.ctx.callback
                if not callback then return end
                if not ngx.ctx.begun then
                    ngx.ctx.begun = true
                    ngx.arg[1] = callback .. "(" .. ngx.arg[1]
                end
                if ngx.arg[2] then ngx.arg[1] = ngx.arg[1] .. ");" end
            }"""
    here = Path(__file__).parent
    return [
        Site("`memcached_pass` alone", server(memcached_location(), one), path, JSON),
        Site(
            "`jsonp_callback`", server(memcached_location("jsonp_callback callback;"), one), path, wrapped, (module,),
            over="`memcached_pass` alone", budget=1500, check=True,
        ),
        Site(
            "`jsonp_callback`, `jsonp_callback_guard on`",
            server(memcached_location("jsonp_callback callback; jsonp_callback_guard on;"), one), path,
            b"/**/typeof %s==='function'&&%s" % (CALLBACK.encode(), wrapped), (module,), over="`memcached_pass` alone",
        ),
        Site(
            "`jsonp_callback` and `memcached_hash`, three servers, namespace",
            server(
                memcached_location(
                    "jsonp_callback callback;\n            set $memcached_namespace testapp::;",
                    key='"$arg_user_id::$arg_entry_id"',
                ),
                upstream(memcached.hosts[:3], memcached.port, f"memcached_hash ketama_points={POINTS};"),
            ),
            path, wrapped, (module,), over="`memcached_pass` alone",
        ),
        Site(
            "echo: `echo_before_body`, `echo_after_body`; any callback",
            server(memcached_location('echo_before_body -n "$arg_callback("; echo_after_body -n ");";'), one),
            path, wrapped, ("ngx_http_echo_module.so",), over="`memcached_pass` alone",
        ),
        Site(
            "Lua: `header_filter_by_lua`, `body_filter_by_lua`", server(memcached_location(lua), one), path, wrapped,
            ("ndk_http_module.so", "ngx_http_lua_module.so"), over="`memcached_pass` alone",
        ),
        Site(
            "njs: `js_header_filter`, `js_body_filter`",
            server(
                memcached_location("js_header_filter jsonp.header; js_body_filter jsonp.body;"),
                f"    js_path {here};\n    js_import jsonp.js;\n{one}",
            ),
            path, wrapped, ("ngx_http_js_module.so",), over="`memcached_pass` alone",
        ),
        ApacheSite(
            "Apache, mod_perl, Cache::Memcached::Fast", "", path, wrapped, over="`memcached_pass` alone",
            memcached=memcached,
        ),
        Site("no callback asked for: `memcached_pass` alone", server(memcached_location(), one), COUNT, JSON),
        Site(
            "no callback asked for: the module loaded, no directive used", server(memcached_location(), one), COUNT,
            JSON, (module,), over="no callback asked for: `memcached_pass` alone",
        ),
        Site(
            "no callback asked for: `jsonp_callback`", server(memcached_location("jsonp_callback callback;"), one),
            COUNT, JSON, (module,), over="no callback asked for: `memcached_pass` alone", budget=300, check=True,
        ),
    ]


def lookup(module, memcached):
    """Choosing the server of a key. The module is loaded in every row, so that they differ by the method alone."""

    def site(name, servers, balancer, **more):
        http = server(memcached_location(), upstream(memcached.hosts[:servers], memcached.port, balancer))
        return Site(name, http, COUNT, JSON, (module,), **more)

    def consistent(servers):
        return site(f"`hash consistent`, {servers:,}", servers, "hash $memcached_key consistent;", over="round robin, 3")

    def ketama(servers, **more):
        balancer = f"memcached_hash ketama_points={POINTS};"
        return site(f"`memcached_hash ketama_points={POINTS}`, {servers:,}", servers, balancer, **more)

    def basic(servers, **more):
        return site(f"`memcached_hash`, {servers:,}", servers, "memcached_hash;", over="round robin, 3", **more)

    three = f"`memcached_hash ketama_points={POINTS}`, 3"
    return [
        site("round robin, 3", 3, ""),
        consistent(3),
        consistent(100),
        consistent(1000),
        ketama(3, over="round robin, 3", budget_of="`hash consistent`, 3", check=True),
        ketama(100, over=three),
        ketama(1000, over=three, budget=400, check=True),
        basic(3, check=True),
        basic(1000),
    ]


def networks(count, version):
    """`count` networks, none of which holds an address of the request."""
    if version == 4:
        return [f"10.{i // 256}.{i % 256}.0/24" for i in range(count)]
    return [f"2001:db8:{i:x}::/48" for i in range(count)]


def real_address(module, _memcached):
    """The client's address: an answer of `return 200` behind a proxy that appends its own address.

    The module is loaded in every row, so that they differ by the directives alone.
    """
    client, proxy = "198.51.100.9", "203.0.113.7"
    header = (("X-Forwarded-For", f"192.0.2.66, {client}, {proxy}"),)
    realip = (
        "        set_real_ip_from 127.0.0.1; set_real_ip_from 130.211.0.0/22; set_real_ip_from 35.191.0.0/16;\n"
        "        real_ip_header X-Forwarded-For; real_ip_recursive on;\n"
    )

    def site(name, directives, address, headers, **more):
        location = f'{directives}\n        location / {{ return 200 "$remote_addr"; }}'
        return Site(name, server(location), "/", address.encode(), (module,), headers, **more)

    def trust(count, version):
        return f"real_ip_recursive_trust {' '.join([proxy, *networks(count - 1, version)])};"

    def ours(count, version, **more):
        name = f"`real_ip_recursive_trust`, {count:,} IPv{version}"
        return site(name, f"{realip}        {trust(count, version)}", client, header, **more)

    def listed(count):
        lists = "".join(f" set_real_ip_from {network};" for network in [*networks(count - 4, 4), proxy])
        return site(f"realip, {count:,} in `set_real_ip_from`", f"{realip}        {lists}", client, header, over="none")

    four = "realip, 4 in `set_real_ip_from`"
    first = "`real_ip_recursive_trust`, 4 IPv4"
    return [
        site("none", "", "127.0.0.1", header),
        *(listed(count) for count in (4, 100, 1000, 10000)),
        ours(4, 4, over=four, budget=1500, check=True),
        *(ours(count, 4, over=first, budget=300, check=count == 10000) for count in (10, 100, 1000, 10000)),
        ours(4, 6, over=four, budget=1500),
        *(ours(count, 6, over=first, budget=300, check=count == 10000) for count in (10, 100, 1000, 10000)),
        site(
            "`real_ip_recursive_trust hops=1`", f"{realip}        real_ip_recursive_trust hops=1;", client, header,
            over=four, budget=1500,
        ),
        site("no header: none", "", "127.0.0.1", ()),
        site("no header: realip", realip, "127.0.0.1", (), over="no header: none"),
        site(
            "no header: `real_ip_recursive_trust`, 10,000 IPv4", f"{realip}        {trust(10000, 4)}", "127.0.0.1", (),
            over="no header: realip", budget=200, check=True,
        ),
    ]


def text(size, separators):
    """A JSON string of `size` bytes, with a U+2028 in each 1,000 of them if so asked."""
    piece = b"abcdefghijklmnopqrstuvwxyz, ABCDEFGHIJKLMNOPQRSTUVWXYZ! 0123456789"
    body = bytearray((piece * (size // len(piece) + 1))[:size])
    body[0], body[-1] = ord('"'), ord('"')
    if separators:
        for at in range(min(500, size // 2), size - 3, 1000):
            body[at : at + 3] = SEPARATOR
    return bytes(body)


BODIES = [("34 bytes", 34, 300), ("1 KB", 1024, 300), ("64 KB", 65536, 50), ("1 MB", 1 << 20, 10)]


def bodies(module, memcached, streamers):
    """Bodies of several sizes, from memcached, which nginx passes on piece by piece, and from a backend that streams."""
    sites = []
    filters = "jsonp_callback callback; jsonp_callback_types text/javascript application/json;"

    def add(label, requests, location, kind, plain):
        path = f"/count?callback={CALLBACK}" if kind != "none" else "/count"
        name = {
            "none": f"{label}: not wrapped",
            "plain": f"{label}: wrapped",
            "off": f"{label}: wrapped, `jsonp_callback_escape off`",
            "separators": f"{label}: wrapped, with U+2028",
        }[kind]
        answer = plain
        if kind != "none":
            body = plain if kind == "off" else plain.replace(SEPARATOR, b"\\u2028")
            answer = CALLBACK.encode() + b"(" + body + b");"
        off = " jsonp_callback_escape off;" if kind == "off" else ""
        http = server(
            location.replace("FILTERS", "" if kind == "none" else filters + off),
            upstream(memcached.hosts[:1], memcached.port),
        )
        over = None if kind == "none" else f"{label}: not wrapped"
        sites.append(
            Site(
                name, http, path, answer, () if kind == "none" else (module,), over=over,
                requests=requests,
                check=kind == "plain" and label == "1 MB",
            )
        )

    for label, size, requests in BODIES:
        for kind in ("none", "plain", "off", "separators"):
            body = text(size, kind == "separators")
            key = f"body-{size}-{kind == 'separators'}"
            memcached.set(key, body)
            add(label, requests, memcached_location("FILTERS", key=f'"{key}"'), kind, body)
    for kind in ("none", "plain", "off", "separators"):
        streamer = streamers[kind == "separators"]
        location = (
            "        location /count {\n            FILTERS\n            proxy_buffering off;\n"
            "            proxy_http_version 1.1; proxy_set_header Connection \"\";\n"
            f"            proxy_pass http://127.0.0.1:{streamer.port};\n        }}"
        )
        add("1 MB, streamed", 10, location, kind, streamer.body)
    return sites


def ring_starts(module):
    """Configurations of 1,000 servers, for what the ring takes at start."""

    def row(name, balancer, modules=(module,)):
        hosts = [f"127.0.{i // 250}.{i % 250 + 1}" for i in range(1000)]
        return name, server("", upstream(hosts, 11211, balancer)), modules

    return [
        row("round robin, 1,000 servers", ""),
        row("`hash consistent` (160 points a server)", "hash $uri consistent;"),
        row("`memcached_hash`", "memcached_hash;"),
        *(row(f"`memcached_hash ketama_points={n}`", f"memcached_hash ketama_points={n};") for n in (POINTS, 1000)),
    ]


def network_starts(module):
    """Configurations with lists of networks, for what they take at start."""

    def row(count, version):
        http = server(f"        real_ip_recursive_trust {' '.join(networks(count, version))};")
        return f"{count:,} IPv{version}", http, (module,)

    return [("none", server(""), (module,)), *(row(count, version) for version in (4, 6) for count in (100, 10000))]
