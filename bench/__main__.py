"""Measures the module against what people use in its place.

    python3 bench MODULE all [TABLE]       every figure; without TABLE into docs/benchmarks.md too
    python3 bench MODULE instr [TABLE]     instructions a request only
    python3 bench MODULE check             a few instruction counts against bench/instructions.tsv;
                                           fails if one is more than 5 % worse
    python3 bench MODULE update            writes bench/instructions.tsv

TABLE is one of jsonp, lookup, real_address, bodies. The exit status is 0 if every budget was kept.
"""

import datetime
import os
import platform
import re
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import measure
import tables
from servers import Memcached, Streamer

HERE = Path(__file__).parent
COMMITTED = HERE / "instructions.tsv"
REPORT = HERE.parent / "docs" / "benchmarks.md"
ROUNDS = 5
SECONDS = 4
WORSE = 0.05
NOISE = 100  # instructions by which two counts of the same code may differ: nginx takes events as they come
TRIES = 3  # how often a row that looks worse is counted in all
COMPARED = {
    "nginx": "nginx",
    "Lua module": "libnginx-mod-http-lua",
    "njs": "libnginx-mod-http-js",
    "echo module": "libnginx-mod-http-echo",
    "Apache": "apache2-bin",
    "mod_perl": "libapache2-mod-perl2",
    "Cache::Memcached::Fast": "libcache-memcached-fast-perl",
    "memcached": "memcached",
    "valgrind": "valgrind",
    "wrk": "wrk",
}


INTRODUCTION = """\
Written by `make bench`: every row was measured in that one run, and everything but this module is Debian's own package.
How each figure is taken: [contributing.md](contributing.md). A number in brackets is the row that a row is compared with;
"budget" is what it may cost more than that. Behind CPU and requests a second stand the least and the most of the rounds:
where these of two rows overlap, the run does not tell the rows apart.
"""


class Report:
    """Markdown, on standard output as it is made."""

    def __init__(self):
        self.text = ""
        self.failures = []

    def say(self, line=""):
        self.text += line + "\n"
        print(line, flush=True)

    def table(self, columns, rows):
        self.say("| " + " | ".join(columns) + " |")
        self.say("|---" + "|---:" * (len(columns) - 1) + "|")
        for row in rows:
            self.say("| " + " | ".join(row) + " |")
        self.say()


def machine(report):
    cpu = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    ram = re.search(r"^MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    system = re.search(r'^PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text(), re.MULTILINE)
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split()[1]
    report.say(f"Measured on {datetime.date.today()}: {cpu.group(1) if cpu else platform.machine()},")
    report.say(f"{os.cpu_count()} cores, {int(ram.group(1)) / 2**20:.0f} GiB; {system.group(1)}, Rust {rust}.")
    versions = []
    for name, package in COMPARED.items():
        version = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${Version}", package], capture_output=True, text=True
        ).stdout
        versions.append(f"{name} {version}")
    report.say("Debian's " + ", ".join(versions) + ".")
    report.say()


def count(sites):
    """{row: instructions a request}."""
    counted = {}
    for site in sites:
        print(f"    {site.name}", file=sys.stderr, flush=True)
        counted[site.name] = measure.instructions(site)
    return counted


def instruction_cells(report, site, counted):
    """What the row costs, over which row how much, and its budget."""
    cost = counted[site.name]
    if site.over is None:
        return [f"{cost:,}", "", ""]
    base = counted[site.over]
    more = cost - base
    budget = site.budget
    if site.budget_of is not None:
        budget = counted[site.budget_of] - base
    if budget is not None and more > budget:
        report.failures.append(f"{site.name}: {more:,} instructions over {site.over}, budget {budget:,}")
    return [f"{cost:,}", f"{more:+,}", "" if budget is None else f"{budget:,}"]


def figures(report, sites, full):
    """One table: a row for each of the sites."""
    columns = ["", "instructions a request", "more than", "budget"]
    counted = count(sites)
    rows = [[site.name, *instruction_cells(report, site, counted)] for site in sites]
    bases = {}
    for site, row in zip(sites, rows):
        if site.over is not None:
            number = bases.setdefault(site.over, [other.name for other in sites].index(site.over) + 1)
            row[2] += f" ({number})"
    for number, row in enumerate(rows, 1):
        row[0] = f"{number}. {row[0]}"
    if "load" in full:
        columns += ["CPU µs a request", "requests a second"]
        loads = measure.load(sites, ROUNDS, SECONDS)
        for site, row in zip(sites, rows):
            rates, cpus = loads[site.name]
            row += [spread(cpus, "{:.1f}"), spread(rates, "{:,.0f}")]
    if "memory" in full:
        connections = (100, 1000)
        columns += [f"MiB at {n:,} connections" for n in connections]
        for site, row in zip(sites, rows):
            row += [f"{measure.memory(site, n) / 2**20:,.1f}" for n in connections]
    report.table(columns, rows)


def spread(values, form):
    """The median, and the least and the most."""
    median, least, most = (form.format(f(values)) for f in (statistics.median, min, max))
    return f"{median} ({least} to {most})"


def start_ups(report, rows):
    """What nginx takes to start more than with the first of the rows, which are (name, configuration, modules)."""
    measured = [(name, *measure.start_up(http, modules)) for name, http, modules in rows]
    _, first_seconds, first_size = measured[0]
    report.table(
        ["start", "CPU ms", "more", "MiB", "more"],
        [
            [
                name, f"{seconds * 1000:.1f}", f"{(seconds - first_seconds) * 1000:+.1f}",
                f"{size / 2**20:.1f}", f"{(size - first_size) / 2**20:+.1f}",
            ]
            for name, seconds, size in measured
        ],
    )


class Bench:
    def __init__(self, module, report, stack):
        self.module = str(Path(module).resolve())
        self.report = report
        self.memcached = stack.enter_context(Memcached(addresses=1000))
        self.memcached.set(tables.KEY, tables.JSON)
        # Without U+2028, and with it.
        self.streamers = [stack.enter_context(Streamer(tables.text(1 << 20, kind))) for kind in (False, True)]

    def sites(self, table):
        arguments = [self.module, self.memcached] + ([self.streamers] if table == "bodies" else [])
        return getattr(tables, table)(*arguments)

    def jsonp(self, full):
        self.report.say("## JSONP over memcached")
        self.report.say()
        figures(self.report, self.sites("jsonp"), {"load", "memory"} if full else ())

    def lookup(self, full):
        self.report.say("## Choosing a memcached server")
        self.report.say()
        figures(self.report, self.sites("lookup"), ())
        self.starts(tables.ring_starts)

    def real_address(self, full):
        self.report.say("## Real address")
        self.report.say()
        figures(self.report, self.sites("real_address"), ())
        self.starts(tables.network_starts)

    def starts(self, rows):
        start_ups(self.report, rows(self.module))

    def bodies(self, full):
        self.report.say("## Bodies")
        self.report.say()
        figures(self.report, self.sites("bodies"), {"load"} if full else ())

    def extras(self, wanted=None):
        """{row: instructions over the row it is compared with} of the rows that CI checks, or of those wanted."""
        extras = {}
        for table in TABLES:
            sites = self.sites(table)
            checked = [site for site in sites if site.check and (wanted is None or site.name in wanted)]
            if not checked:
                continue
            names = {site.over for site in checked} | {site.name for site in checked}
            counted = count([site for site in sites if site.name in names])
            for site in checked:
                extras[site.name] = counted[site.name] - counted[site.over]
        return extras


TABLES = ["jsonp", "lookup", "real_address", "bodies"]


def check(bench):
    """Whether no row costs more than it did when its count was committed."""
    lines = (line.split("\t") for line in COMMITTED.read_text().splitlines())
    committed = {name: int(count) for name, count in lines}
    extras = bench.extras()
    good = set(committed) == set(extras)
    if not good:
        print(f"{COMMITTED} does not hold the rows that are checked: make bench-update")
    most = {name: before + max(NOISE, abs(before) * WORSE) for name, before in committed.items()}
    for _ in range(1, TRIES):
        worse = [name for name, extra in extras.items() if extra > most.get(name, extra)]
        if not worse:
            break
        for name, extra in bench.extras(worse).items():
            extras[name] = min(extras[name], extra)
    for name, extra in extras.items():
        worse = extra > most.get(name, extra)
        print(f"{'WORSE' if worse else 'ok':5}  {extra:7,}  was {committed.get(name, extra):7,}  {name}")
        good &= not worse
    return good


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("all", "instr", "check", "update"):
        sys.exit(__doc__)
    module, mode, chosen = sys.argv[1], sys.argv[2], sys.argv[3:] or TABLES
    report = Report()
    with ExitStack() as stack:
        bench = Bench(module, report, stack)
        if mode == "check":
            sys.exit(0 if check(bench) else 1)
        if mode == "update":
            COMMITTED.write_text("".join(f"{name}\t{extra}\n" for name, extra in bench.extras().items()))
            return
        report.say("# Benchmarks")
        report.say()
        report.say(INTRODUCTION)
        machine(report)
        for table in chosen:
            getattr(bench, table)(mode == "all")
    if mode == "all" and chosen == TABLES:
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(report.text)
    for failure in report.failures:
        print(f"over budget: {failure}", file=sys.stderr)
    sys.exit(1 if report.failures else 0)


main()
