"""The servers that are measured, and those behind them: each in a folder of its own, on a loopback port."""

import atexit
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

NGINX = os.environ.get("TEST_NGINX_BINARY") or shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
NGINX_MODULES = "/usr/lib/nginx/modules"
HERE = Path(__file__).parent
START_SECONDS = 60
# The same for every run, whoever makes it: nginx keeps a copy, so that its size moves what is allocated next.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, process):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args[0]} ended with status {process.returncode}") from None
            time.sleep(0.02)
    raise RuntimeError(f"{process.args[0]} does not listen on port {port}")


def scratch_folder():
    """A new folder that every user may read. It is gone when the program ends, if not before."""
    folder = Path(tempfile.mkdtemp(prefix="cachefront-bench-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Server:
    """A process in a folder of its own. Used as a context manager: it ends with the block."""

    def __init__(self):
        self.port = free_port()
        self.dir = scratch_folder()
        self.process = None

    def command(self):
        raise NotImplementedError

    def options(self):
        """How the process is started, as subprocess.Popen takes it."""
        return {"env": ENVIRONMENT}

    def __enter__(self):
        try:
            # A folder for what the server writes to its terminal: it is shown only if the start fails.
            with open(self.dir / "output", "wb") as output:
                self.process = subprocess.Popen(
                    self.command(), stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True,
                    **self.options(),
                )
            wait_for(self.port, self.process)
        except BaseException:
            for log in [self.dir / "output", *self.dir.glob("logs/*")]:
                print(log.read_text(errors="replace")[-2000:])
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process is not None:
            self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def stop(self):
        """Ends the process. One that was just about to wait for events as SIGTERM came is woken by a connection."""
        self.process.terminate()
        for _ in range(300):
            try:
                self.process.wait(0.2)
                return
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", self.port)).close()
        self.process.kill()
        self.process.wait()

    def pids(self):
        """The process and all its descendants."""
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    stat = Path(f"/proc/{entry}/stat").read_text()
                except OSError:
                    continue
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
        family = {self.process.pid}
        while True:
            more = {pid for pid, parent in parents.items() if parent in family} - family
            if not more:
                return family
            family |= more


class Memcached(Server):
    """One memcached that answers on `addresses` loopback addresses, so that it can play a whole cluster."""

    def __init__(self, addresses=1):
        super().__init__()
        self.hosts = [f"127.0.{i // 250}.{i % 250 + 1}" for i in range(addresses)]

    def command(self):
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        listen = ",".join(self.hosts)
        return ["memcached", "-l", listen, "-p", str(self.port), "-U", "0", "-I", "4m", "-m", "64", "-c", "8192", *user]

    def set(self, key, value):
        with socket.create_connection(("127.0.0.1", self.port)) as s:
            s.sendall(b"set %s 0 0 %d\r\n%s\r\n" % (key.encode(), len(value), value))
            answer = s.recv(100)
        if answer != b"STORED\r\n":
            raise RuntimeError(f"memcached: {answer!r}")


class Nginx(Server):
    """nginx with `http` as the inside of its http block, in which `{port}` is its port.

    Without workers, or under a `wrapper` such as valgrind, it is one process.
    """

    def __init__(self, http, modules=(), wrapper=(), workers=2):
        super().__init__()
        self.wrapper = list(wrapper)
        for folder in ("logs", "temp"):
            (self.dir / folder).mkdir()
        load = "".join(f"load_module {NGINX_MODULES if '/' not in m else ''}{'/' if '/' not in m else ''}{m};\n" for m in modules)
        if wrapper or not workers:
            processes = "master_process off;"
        else:
            processes = f"worker_processes {workers};"
            if os.geteuid() == 0:
                processes += " user nobody nogroup;"
        temp = "".join(
            f"    {name}_temp_path temp/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.dir / "nginx.conf").write_text(
            f"{load}daemon off; {processes}\n"
            f"pid nginx.pid; error_log logs/error.log;\n"
            f"events {{ worker_connections 8192; }}\n"
            f"http {{\n    access_log off;\n    keepalive_requests 100000000;\n{temp}"
            f"{http.replace('{port}', str(self.port))}\n}}\n"
        )

    def command(self):
        return [*self.wrapper, NGINX, "-p", str(self.dir), "-c", "nginx.conf", "-e", "logs/error.log"]

    def test(self):
        """The CPU seconds that `nginx -t` takes."""
        pid = os.posix_spawn(NGINX, [*self.command(), "-t", "-q"], ENVIRONMENT)
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            raise RuntimeError(f"nginx -t failed: {(self.dir / 'logs/error.log').read_text()}")
        return usage.ru_utime + usage.ru_stime


class Apache(Server):
    """Apache's prefork with mod_perl, and the handler of bench/Count.pm."""

    def __init__(self, memcached, wrapper=(), workers=64):
        super().__init__()
        self.wrapper = list(wrapper)
        self.memcached = memcached
        (self.dir / "logs").mkdir()
        shutil.copy(HERE / "Count.pm", self.dir)
        modules = "/usr/lib/apache2/modules"
        (self.dir / "apache.conf").write_text(
            f"LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so\n"
            f"LoadModule authz_core_module {modules}/mod_authz_core.so\n"
            f"LoadModule perl_module {modules}/mod_perl.so\n"
            f"ServerRoot {self.dir}\nServerName localhost\nDefaultRuntimeDir {self.dir}\nPidFile {self.dir}/apache.pid\n"
            f"ErrorLog {self.dir}/logs/error.log\nListen 127.0.0.1:{self.port}\nListenBacklog 4096\n"
            f"KeepAlive On\nKeepAliveTimeout 60\nMaxKeepAliveRequests 0\n"
            f"StartServers 32\nMinSpareServers 32\nMaxSpareServers {workers}\n"
            f"ServerLimit {workers}\nMaxRequestWorkers {workers}\nMaxConnectionsPerChild 0\n"
            f"PerlSwitches -I{self.dir}\nPerlPassEnv BENCH_MEMCACHED\nPerlModule Count\n"
            f"<Location /count>\n    SetHandler modperl\n    PerlResponseHandler Count\n</Location>\n"
        )

    def command(self):
        single = ["-X"] if self.wrapper else ["-DFOREGROUND"]
        return [*self.wrapper, "/usr/sbin/apache2", "-d", str(self.dir), "-f", str(self.dir / "apache.conf"), *single]

    def options(self):
        servers = " ".join(f"{host}:{self.memcached.port}" for host in self.memcached.hosts[:3])
        options = {"env": {**ENVIRONMENT, "BENCH_MEMCACHED": servers}}
        if os.geteuid() == 0:
            # Not by Apache itself: callgrind could not write its counts as another user than it began as.
            for path in (self.dir, *self.dir.iterdir()):
                shutil.chown(path, "nobody", "nogroup")
            options |= {"user": "nobody", "group": "nogroup", "extra_groups": []}
        return options


class Streamer:
    """A backend that answers every request with `body`, chunked, in pieces of 16 KB."""

    def __init__(self, body):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        pieces = (body[i : i + 16384] for i in range(0, len(body), 16384))
        self.body = body
        self.answer = (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
            + b"0\r\n\r\n"
        )

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        """Answers until the other side ends the connection, which may be in the middle of an answer."""
        with connection, contextlib.suppress(OSError):
            request = b""
            while data := connection.recv(65536):
                request += data
                while b"\r\n\r\n" in request:
                    request = request.partition(b"\r\n\r\n")[2]
                    connection.sendall(self.answer)
