"""python-memcached: `python-memcached.py version`, or
`python-memcached.py fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.
"""

import sys

try:
    import memcache
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)


def server(text):
    host, port, weight = text.split()
    if host.startswith("/"):
        name = f"unix:{host}"
    elif ":" in host:
        name = f"inet6:[{host}]:{port}"
    else:
        name = f"{host}:{port}"
    return name if weight == "1" else (name, int(weight))


def main():
    if sys.argv[1] == "version":
        print(memcache.__version__)
        return
    _, _, mode, tag, *servers = sys.argv
    keys = sys.stdin.buffer.read().decode().splitlines()

    client = memcache.Client([server(text) for text in servers])
    if mode == "prefix":
        lost = client.set_multi({key: f"{tag} {key}" for key in keys}, key_prefix="app:")
    else:
        lost = [key for key in keys if not client.set(key, f"{tag} {key}")]
    if lost:
        sys.exit(f"not stored: {lost}")


main()
