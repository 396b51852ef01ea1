# The sections of this project's runner: real memcached servers, scripted backends, the client's address.
use Test::Nginx::Socket 'no_plan';

run_tests();

__DATA__

=== TEST 1: memcached servers with values in them
--- memcached: 2
--- memcached_set
1 /a 0 one value
2 /b 5 \x00\r\n\\
--- config
    location /a { set $memcached_key $uri; memcached_pass 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_1; }
    location /b { set $memcached_key $uri; memcached_pass 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_2; }
    location /c { set $memcached_key $uri; memcached_pass 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_2; }
--- request eval
["GET /a", "GET /b", "GET /c"]
--- error_code eval
[200, 200, 404]
--- response_body_like eval
['^one value$', "^\\x00\r\n\\\\\$", "404"]
--- memcached_gets: 1 2



=== TEST 2: memcached filled by the real client
--- memcached: 2
--- memcached_perl
use Cache::Memcached::Fast;
my @servers = map { "127.0.0.1:$ENV{\"TEST_NGINX_MEMCACHED_PORT_$_\"}" } 1 .. 2;
for my $server (@servers) {
    my $client = Cache::Memcached::Fast->new({ servers => [$server] });
    $client->set("key", "on $server") or die "not stored on $server";
}
--- config
    location /t { set $memcached_key key; memcached_pass 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_2; }
--- request
GET /t
--- response_body chomp
on 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_2



=== TEST 3: a memcached server that is down
--- memcached: 2
--- memcached_down: 2
--- config
    location /t { set $memcached_key key; memcached_pass 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_2; }
--- request
GET /t
--- error_code: 502
--- error_log
connect() failed (111: Connection refused) while connecting to upstream
upstream: "memcached://127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_2"
--- memcached_gets: 0 -



=== TEST 4: a memcached server that does not answer
--- memcached: 1
--- memcached_stopped: 1
--- config
    location /t {
        set $memcached_key key;
        memcached_pass 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_1;
        memcached_read_timeout 50ms;
    }
--- request
GET /t
--- error_code: 504



=== TEST 5: a backend that sends in pieces
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nab
delay 30ms
send cd
--- config
    location /t { proxy_pass http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1/x?$args; }
--- request eval
["GET /t?1", "POST /t?2\nbody"]
--- response_body eval
["abcd", "abcd"]
--- backend_requests: 2
--- backend_request_like: ^GET /x\?1 HTTP/1\.\d\r\n.*POST /x\?2 HTTP/1\.\d\r\n.*\r\n\r\nbody$
--- backend_request_unlike: GET /t



=== TEST 6: two backends with several answers, and one that breaks off
--- backend
send HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst
close
reply
send HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbroken
delay 50ms
reset
backend
send HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1/\r\nContent-Length: 0\r\n\r\n
--- config
    location /one { proxy_pass http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1; proxy_buffering off; }
    location /two { proxy_pass http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_2; proxy_redirect off; }
--- request eval
["GET /one", "GET /one", "GET /two"]
--- abort
--- error_code eval
[200, 200, 302]
--- response_body_like eval
["^first\$", "^broken\$", '^$']
--- response_headers eval
["", "", "Location: http://127.0.0.1:\$TEST_NGINX_BACKEND_PORT_1/"]
--- backend_requests: 2 1



=== TEST 7: SCGI
--- backend
send Status: 201\r\n\r\nmade
close
--- config
    location /t { scgi_pass 127.0.0.1:$TEST_NGINX_BACKEND_PORT_1; scgi_param REQUEST_URI $request_uri; }
--- request
GET /t
--- error_code: 201
--- response_body chomp
made
--- backend_request_like: REQUEST_URI\x00/t\x00



=== TEST 8: another client's address
--- client_addr: 127.0.0.9
--- config
    location /t { return 200 "$remote_addr\n"; }
--- request
GET /t
--- response_body
127.0.0.9
