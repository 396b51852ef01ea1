"""pylibmc: `python-pylibmc.py version`, or
`python-pylibmc.py fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.
"""

import sys

try:
    import pylibmc
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)

BEHAVIORS = {
    "default": {},
    "md5": {"hash": "md5"},
    "fnv1a_32": {"hash": "fnv1a_32"},
    "consistent": {"distribution": "consistent"},
    "ketama": {"ketama": True},
    "ketama_weighted": {"ketama_weighted": True},
    "ketama_weighted fnv1a_32": {"ketama_weighted": True, "hash": "fnv1a_32"},
    "consistent fnv1a_32": {"distribution": "consistent", "hash": "fnv1a_32"},
    # As text it is refused.
    "namespace": {"namespace": b"app:"},
    "hashed namespace": {"namespace": b"app:", "_hash_with_prefix_key": True},
    "binary": {},
}


def server(text):
    host, port, weight = text.split()
    if host.startswith("/"):
        return host
    name = f"[{host}]" if ":" in host else host
    return f"{name}:{port}" if weight == "1" else f"{name}:{port}:{weight}"


def main():
    if sys.argv[1] == "version":
        print(f"{pylibmc.__version__} with libmemcached {pylibmc.libmemcached_version}")
        return
    _, _, mode, tag, *servers = sys.argv

    client = pylibmc.Client(
        [server(text) for text in servers],
        behaviors=BEHAVIORS[mode],
        binary=mode == "binary",
    )
    for key in sys.stdin.buffer.read().decode().splitlines():
        if not client.set(key, f"{tag} {key}"):
            sys.exit(f"not stored: {key}")


main()
