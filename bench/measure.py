"""How the figures are taken."""

import http.client
import os
import re
import resource
import socket
import subprocess
import time
from pathlib import Path

from servers import Nginx

TICKS = os.sysconf("SC_CLK_TCK")
CONNECTIONS = 32
# Lengths of a variable in the server's environment, of which nginx keeps a copy: what it allocates after that begins
# elsewhere, and with it whether glibc's free() can merge a pool's block with its neighbour. That alone makes some 230
# instructions a request, in one row and not in the next.
LAYOUTS = (0, 300, 1000, 2800)


class Client:
    """Requests one after another on one kept connection."""

    def __init__(self, port, path, headers=()):
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "User-Agent: bench", "Accept: */*"]
        lines += [f"{name}: {value}" for name, value in headers]
        self.request = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self):
        """The body of a 200."""
        self.connection.sendall(self.request)
        answer = http.client.HTTPResponse(self.connection)
        answer.begin()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}: {body[:200]!r}")
        return body

    def close(self):
        self.connection.close()


def instructions(site):
    """Instructions a request: the difference between N and 2N requests, on a kept connection.

    The least over several layouts of the heap: see LAYOUTS.
    """

    def total(count, layout):
        out = site.folder / "callgrind.out"
        out.touch()
        out.chmod(0o666)
        wrapper = ["env", f"LAYOUT={'x' * layout}", "valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"]
        with site.start(wrapper) as server:
            client = Client(server.port, site.path, site.headers)
            for _ in range(count):
                site.check_answer(client.ask())
            client.close()
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
        return int(found.group(1))

    least = min(total(2 * site.requests, layout) - total(site.requests, layout) for layout in LAYOUTS)
    return round(least / site.requests)


def cpu_seconds(pids):
    """User and system time of the processes and of the children they have waited for."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(fields[i]) for i in range(11, 15))
    return ticks / TICKS


def wrk(server, site, seconds, script):
    """One run of wrk: requests a second, and the server's CPU microseconds a request."""
    before = cpu_seconds(server.pids())
    out = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), f"http://127.0.0.1:{server.port}{site.path}"],
        check=True, capture_output=True, text=True,
    ).stdout
    spent = cpu_seconds(server.pids()) - before
    if "Non-2xx" in out or "Socket errors" in out:
        raise RuntimeError(f"{site.name}: {out}")
    requests = int(re.search(r"(\d+) requests in", out).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    return rate, spent * 1e6 / requests


def load(sites, rounds, seconds):
    """{site: (requests a second, CPU microseconds a request)}, of each of the rounds in which the sites take turns."""
    figures = {site.name: [] for site in sites}
    servers = []
    try:
        for site in sites:
            servers.append(site.start().__enter__())
            script = site.folder / "wrk.lua"
            script.write_text("".join(f'wrk.headers["{name}"] = "{value}"\n' for name, value in site.headers))
            client = Client(servers[-1].port, site.path, site.headers)
            site.check_answer(client.ask())
            client.close()
        for _ in range(rounds):
            for site, server in zip(sites, servers):
                figures[site.name].append(wrk(server, site, seconds, site.folder / "wrk.lua"))
    finally:
        for server in servers:
            server.__exit__()
    return {name: tuple(zip(*runs)) for name, runs in figures.items()}


def resident(server):
    """Bytes of the server's processes, shared pages counted once."""
    total = 0
    for pid in server.pids():
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE).group(1)) * 1024
    return total


def memory(site, connections):
    """Bytes of the server's processes with `connections` kept after a request each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 16384), hard), hard))
    with site.start(workers=connections) as server:
        clients = []
        for _ in range(connections):
            clients.append(Client(server.port, site.path, site.headers))
            site.check_answer(clients[-1].ask())
        time.sleep(0.5)
        total = resident(server)
        for client in clients:
            client.close()
    return total


def start_up(http, modules, tries=7):
    """The least CPU seconds that reading the configuration takes, and the bytes of one process that has read it."""
    with Nginx(http, modules, workers=0) as server:
        return min(server.test() for _ in range(tries)), resident(server)
