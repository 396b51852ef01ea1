# What nginx says when a client is given a parameter that it does not have: those that it has.
use Test::Nginx::Socket 'no_plan';

run_tests();

__DATA__

=== TEST 1: cache_memcached_fast
--- http_config
    upstream m {
        memcached_hash ketama_points=150 distribution=modula;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "distribution=modula": client=cache_memcached_fast has ketama_points=, weight_scale=, hash_namespace=, rehash=, client=, key=



=== TEST 2: cache_memcached
--- http_config
    upstream m {
        memcached_hash client=cache_memcached ketama_points=150;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "ketama_points=150": client=cache_memcached has rehash=, client=, key=



=== TEST 3: dalli
--- http_config
    upstream m {
        memcached_hash client=dalli ketama_points=5;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "ketama_points=5": client=dalli has failover=, client=, key=



=== TEST 4: gomemcache
--- http_config
    upstream m {
        memcached_hash client=gomemcache hash=crc32;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "hash=crc32": client=gomemcache has client=, key=



=== TEST 5: libmemcached
--- http_config
    upstream m {
        memcached_hash client=libmemcached ketama_weighted=on;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "ketama_weighted=on": client=libmemcached has distribution=, hash=, hash_with_prefix=, unix_port=, client=, key=



=== TEST 6: libmemcached, a hash it refuses itself
--- http_config
    upstream m {
        memcached_hash client=libmemcached hash=hsieh;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "hsieh" of "hash": one of default, md5, crc, fnv1_64, fnv1a_64, fnv1_32, fnv1a_32, murmur is expected



=== TEST 7: memjs
--- http_config
    upstream m {
        memcached_hash client=memjs failover=on;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "failover=on": client=memjs has client=, key=



=== TEST 8: node_memcached
--- http_config
    upstream m {
        memcached_hash client=node_memcached hash=md5;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "hash=md5": client=node_memcached has algorithm=, compatibility=, client=, key=



=== TEST 9: php_memcache
--- http_config
    upstream m {
        memcached_hash client=php_memcache distribution=consistent;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "distribution=consistent": client=php_memcache has hash_strategy=, hash_function=, client=, key=



=== TEST 10: pymemcache
--- http_config
    upstream m {
        memcached_hash client=pymemcache rehash=on;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "rehash=on": client=pymemcache has keys=, client=, key=



=== TEST 11: python_memcached
--- http_config
    upstream m {
        memcached_hash client=python_memcached keys=bytes;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "keys=bytes": client=python_memcached has version=, rehash=, client=, key=



=== TEST 12: spymemcached
--- http_config
    upstream m {
        memcached_hash client=spymemcached distribution=ketama;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "distribution=ketama": client=spymemcached has locator=, hash=, client=, key=



=== TEST 13: twemproxy
--- http_config
    upstream m {
        memcached_hash client=twemproxy hash_with_prefix=on;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "hash_with_prefix=on": client=twemproxy has distribution=, hash=, hash_tag=, names=, client=, key=



=== TEST 14: twemproxy, half a tag
--- http_config
    upstream m {
        memcached_hash client=twemproxy "hash_tag={";
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "{" of "hash_tag": two characters are expected



=== TEST 15: twemproxy, a name too few
--- http_config
    upstream m {
        memcached_hash client=twemproxy names=alpha;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: 1 names are given to 2 servers



=== TEST 16: a client that there is not
--- http_config
    upstream m {
        memcached_hash client=redis;
        server 127.0.0.1:11211;
        server 127.0.0.2:11211;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "redis" of "client": one of cache_memcached_fast, cache_memcached, dalli, gomemcache, libmemcached, memjs, node_memcached, php_memcache, pymemcache, python_memcached, spymemcached, twemproxy is expected
