# The modules side by side in one request.
use Test::Nginx::Socket 'no_plan';

run_tests();

__DATA__

=== TEST 1: an answer that is refused was still from a server, and that is known in the end
--- memcached: 1
--- memcached_set
1 ns:/t 0 {"a":1}
--- http_config
    upstream cluster { memcached_hash; server localhost:$TEST_NGINX_MEMCACHED_PORT_1; keepalive 4; }
    log_format who '$status $memcached_namespace $memcached_hash_server';
--- config
    access_log logs/access.log who;
    location /t {
        default_type             application/json;
        jsonp_callback           callback;
        jsonp_callback_invalid   403;
        set $memcached_key       $uri;
        set $memcached_namespace ns:;
        memcached_pass           cluster;
        add_header               X-Server $memcached_hash_server always;
    }
--- request
GET /t?callback=!
--- error_code: 403
--- response_headers
X-Server: localhost:$TEST_NGINX_MEMCACHED_PORT_1
--- access_log
403 ns: localhost:$TEST_NGINX_MEMCACHED_PORT_1



=== TEST 2: refused and then taken to the application, which asks the same server again
--- memcached: 1
--- memcached_set
1 ns:/t 0 {"a":1}
--- http_config
    upstream cluster { memcached_hash; server localhost:$TEST_NGINX_MEMCACHED_PORT_1; keepalive 4; }
--- config
    location /t {
        default_type             application/json;
        jsonp_callback           callback;
        jsonp_callback_invalid   404;
        set $memcached_key       $uri;
        set $memcached_namespace ns:;
        memcached_pass           cluster;
        error_page               404 = @again;
    }
    location @again {
        default_type   application/json;
        memcached_pass cluster;
    }
--- request
GET /t?callback=!
--- response_body chomp
{"a":1}
--- memcached_gets: 2
