# The directive, with nothing but nginx: the servers are down, and nginx tells where it would ask.
use Test::Nginx::Socket 'no_plan';

no_root_location();

run_tests();

__DATA__

=== TEST 1: M01: points chain on the point before
--- http_config
    upstream m {
        memcached_hash ketama_points=150;
        server 127.0.0.1:21211 down;
        server 127.0.0.1:21212 down;
        server 127.0.0.1:21213 down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request eval
['GET /?key=/k0', 'GET /?key=/k1', 'GET /?key=/k2', 'GET /?key=/k4', 'GET /?key=/k7', 'GET /?key=/k8', 'GET /?key=/k9']
--- response_body eval
["127.0.0.1:21213\n", "127.0.0.1:21211\n", "127.0.0.1:21211\n", "127.0.0.1:21213\n", "127.0.0.1:21211\n", "127.0.0.1:21213\n", "127.0.0.1:21213\n"]



=== TEST 2: M03: ten servers in basic mode
--- http_config
    upstream m {
        memcached_hash;
        server 127.0.0.1:11211 down;
        server 127.0.0.2:11211 down;
        server 127.0.0.3:11211 down;
        server 127.0.0.4:11211 down;
        server 127.0.0.5:11211 down;
        server 127.0.0.6:11211 down;
        server 127.0.0.7:11211 down;
        server 127.0.0.8:11211 down;
        server 127.0.0.9:11211 down;
        server 127.0.0.10:11211 down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request eval
['GET /?key=/k0', 'GET /?key=/k2', 'GET /?key=/k13', 'GET /?key=/k22', 'GET /?key=/k38']
--- response_body eval
["127.0.0.7:11211\n", "127.0.0.5:11211\n", "127.0.0.7:11211\n", "127.0.0.5:11211\n", "127.0.0.5:11211\n"]



=== TEST 3: M12: the text of a server counts, not its address
--- http_config
    upstream m {
        memcached_hash ketama_points=150;
        server localhost:21211 down;
        server localhost:21212 down;
        server localhost:21213 down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request eval
['GET /?key=/', 'GET /?key=/k0', 'GET /?key=/k1']
--- response_body eval
["localhost:21212\n", "localhost:21211\n", "localhost:21213\n"]



=== TEST 4: M14: explicit port 11211 is hashed
--- http_config
    upstream m {
        memcached_hash ketama_points=160;
        server 10.0.0.1:11211 down;
        server 10.0.0.2:11211 down;
        server 10.0.0.3:11211 down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request eval
['GET /?key=/', 'GET /?key=/a', 'GET /?key=/index.html', 'GET /?key=/k4', 'GET /?key=user:1', 'GET /?key=zz']
--- response_body eval
["10.0.0.3:11211\n", "10.0.0.2:11211\n", "10.0.0.2:11211\n", "10.0.0.1:11211\n", "10.0.0.1:11211\n", "10.0.0.1:11211\n"]



=== TEST 5: M15: a socket's path is hashed without unix:
--- http_config
    upstream m {
        memcached_hash ketama_points=150 weight_scale=10;
        server localhost:11211 weight=25 down;
        server 192.168.254.2:11211 weight=10 down;
        server unix:/path/to/unix.sock weight=40 down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request eval
['GET /?key=/', 'GET /?key=/a', 'GET /?key=/k0', 'GET /?key=/k5', 'GET /?key=user:1']
--- response_body eval
["192.168.254.2:11211\n", "unix:/path/to/unix.sock\n", "localhost:11211\n", "localhost:11211\n", "unix:/path/to/unix.sock\n"]



=== TEST 6: M18: in basic mode the mapping follows the position
--- http_config
    upstream m {
        memcached_hash;
        server 127.0.0.1:21212 down;
        server 127.0.0.1:21211 down;
        server 127.0.0.1:21213 down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request eval
['GET /?key=/k0', 'GET /?key=/k1', 'GET /?key=/k5']
--- response_body eval
["127.0.0.1:21213\n", "127.0.0.1:21212\n", "127.0.0.1:21211\n"]



=== TEST 7: M18: on the ring it follows the name
--- http_config
    upstream m {
        memcached_hash ketama_points=150;
        server 127.0.0.1:21212 down;
        server 127.0.0.1:21211 down;
        server 127.0.0.1:21213 down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request eval
['GET /?key=/k0', 'GET /?key=/k1', 'GET /?key=/k2', 'GET /?key=/k4']
--- response_body eval
["127.0.0.1:21213\n", "127.0.0.1:21211\n", "127.0.0.1:21211\n", "127.0.0.1:21213\n"]



=== TEST 8: M31: ketama_points=-1
--- http_config
    upstream m {
        memcached_hash ketama_points=-1;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "-1" of "ketama_points"



=== TEST 9: M31: ketama_points=abc
--- http_config
    upstream m {
        memcached_hash ketama_points=abc;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "abc" of "ketama_points"



=== TEST 10: M31: ketama_points=4294967295
--- http_config
    upstream m {
        memcached_hash ketama_points=4294967295;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "4294967295" of "ketama_points"



=== TEST 11: M31: ketama_points=1 ketama_points=2
--- http_config
    upstream m {
        memcached_hash ketama_points=1 ketama_points=2;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: duplicate parameter "ketama_points"



=== TEST 12: M31: weight_scale=0
--- http_config
    upstream m {
        memcached_hash weight_scale=0;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "0" of "weight_scale"



=== TEST 13: M31: points=150
--- http_config
    upstream m {
        memcached_hash points=150;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid parameter "points=150"



=== TEST 14: M31: client=none
--- http_config
    upstream m {
        memcached_hash client=none;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: invalid value "none" of "client"



=== TEST 15: M31: two directives
--- http_config
    upstream m {
        memcached_hash;
        memcached_hash;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive is duplicate



=== TEST 16: M31: more points than there may be
--- http_config
    upstream m {
        memcached_hash ketama_points=160;
        server 127.0.0.1:1 weight=1000000;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: the servers have 160000000 points together, the limit is 16000000 in upstream "m"



=== TEST 17: M31: a total weight that rounds to 0
--- http_config
    upstream m {
        memcached_hash weight_scale=100;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: the total weight 0.02 rounds to 0



=== TEST 18: M31: no points at all
--- http_config
    upstream m {
        memcached_hash ketama_points=1 weight_scale=10;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
    }
--- config
--- must_die
--- error_log
"memcached_hash" directive: the servers have 0 points together



=== TEST 19: M34: backup behind the method
--- http_config
    upstream m {
        memcached_hash;
        server 127.0.0.1:1;
        server 127.0.0.1:2;
        server 127.0.0.1:3 backup;
    }
--- config
--- must_die
--- error_log
balancing method does not support parameter "backup"



=== TEST 20: M34: backup before the method
--- http_config
    upstream m {
        server 127.0.0.1:1;
        server 127.0.0.1:2;
        server 127.0.0.1:3 backup;
        memcached_hash;
    }
--- config
--- must_die
--- error_log
balancing method does not support parameter "backup"



=== TEST 21: outside an upstream
--- config
    memcached_hash;
--- must_die
--- error_log
"memcached_hash" directive is not allowed here



=== TEST 22: M34: what a server may have
--- http_config
    upstream m {
        memcached_hash;
        server 127.0.0.1:1 weight=3 max_conns=4 max_fails=0 fail_timeout=5s down;
    }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 502 = @which;
    }
    location @which { return 200 "$memcached_hash_server\n"; }
--- request
GET /?key=a
--- response_body
127.0.0.1:1



=== TEST 23: a request without a hashed upstream has no server
--- config
    location / { return 200 "[$memcached_hash_server][$memcached_namespace]\n"; }
--- request
GET /
--- response_body
[][]



=== TEST 24: a namespace is nobody's but the request's
--- config
    location / {
        set $memcached_namespace "ns:";
        rewrite ^/inner /outer last;
        return 200 "$memcached_namespace\n";
    }
    location /outer { return 200 "kept $memcached_namespace\n"; }
--- request eval
['GET /', 'GET /inner']
--- response_body eval
["ns:\n", "kept ns:\n"]
