"""pymemcache's HashClient: `python-pymemcache.py version`, or
`python-pymemcache.py fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.
"""

import sys

try:
    import pymemcache
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
from pymemcache.client.hash import HashClient


def server(text):
    host, port, _ = text.split()
    return host if host.startswith("/") else (host, int(port))


def main():
    if sys.argv[1] == "version":
        print(pymemcache.__version__)
        return
    _, _, mode, tag, *servers = sys.argv

    options = {"key_prefix": b"app:"} if mode == "prefix" else {}
    client = HashClient(
        [server(text) for text in servers],
        allow_unicode_keys=mode != "bytes",
        encoding="utf-8",
        **options,
    )
    for key in sys.stdin.buffer.read().splitlines():
        value = tag.encode() + b" " + key
        if not client.set(key if mode == "bytes" else key.decode(), value, noreply=False):
            sys.exit(f"not stored: {key}")


main()
