# What a fixture may hold, with nothing but nginx. tests/upstream.sh shows that Test::Nginx::Socket agrees.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
no_long_string();

$ENV{TEST_NGINX_HTML_DIR} ||= html_dir();

our $HttpConfig = <<'_EOC_';
    log_format short '$request_method $uri $status';
    map $arg_a $by_map { default none; x "mapped x"; }
_EOC_

our $Location = q{location /shared { return 200 "shared\n"; }};

run_tests();

__DATA__

=== TEST 1: a body, a header, a status
Text between the name and the first section describes the block.
--- config
    location /t {
        add_header X-Test "one two";
        return 200 "hello\nworld\n";
    }
--- request
GET /t
--- response_body
hello
world
--- response_headers
X-Test: one two
Content-Length: 12
!X-None
--- error_code: 200



=== TEST 2: values on the section's line
--- config
    location /t { return 404 "gone"; }
--- request: GET /t
--- response_body: gone
--- error_code: 404
--- response_headers: Content-Length: 4



=== TEST 3: filters
--- config
    location /t { return 200 "no newline"; }
--- request
GET /t
--- response_body chomp
no newline
--- response_headers_like
Content-Length: 1\d
Content-Type: (text|image)/plain
--- raw_response_headers_like chomp
Content-Length: 10\r
--- raw_response_headers_unlike: Transfer-Encoding



=== TEST 4: patterns mean what they mean in Perl
--- config
    location /t { return 200 "some text\n"; }
--- request
GET /t
--- response_body_like: ^some (?!texture)\w+$
--- error_code_like: ^2\d\d$



=== TEST 5: a pattern that must not match
--- config
    location /t { return 200 "some text\n"; }
--- request
GET /t
--- response_body_unlike: texture



=== TEST 6: strings in Perl
--- config
    location /t { return 200 $arg_a; }
--- request eval
"GET /t?a=" . "xy" x 3 . 'z'
--- response_body eval
"xyxyxy\x7a"



=== TEST 7: several requests
--- config
    location /a { return 200 "a\n"; }
    location /b { return 503; }
--- request eval
["GET /a", "GET /b", "GET /a"]
--- more_headers eval
["A: 1", "B: 2\nC: 3", ""]
--- error_code eval
[200, 503, 200]
--- response_body_like eval
["^a", "503 Service", "^a\n\$"]



=== TEST 8: pipelined requests
--- config
    location /t { return 200 "$request_method $http_host $http_x $connection_requests\n"; }
--- pipelined_requests eval
["GET /t", "POST /t\nabc", "GET /t"]
--- more_headers
X: y
--- response_body eval
["GET localhost y 1\n", "POST localhost y 2\n", "GET localhost y 3\n"]



=== TEST 9: a body in the request
--- config
    location /t {
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/echo;
    }
    location /echo {
        return 200 "$request_method $content_length $content_type\n";
    }
--- request
POST /t
hello, world
--- more_headers
# This line is a comment.
Content-Type: text/x-test
--- response_body
POST 12 text/x-test



=== TEST 10: a chunked body in the request
--- config
    location /t {
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/echo;
    }
    location /echo { return 200 "$content_length|$http_transfer_encoding\n"; }
--- request eval
"POST /t
5\r
hello\r
0\r
\r
"
--- more_headers
Transfer-Encoding: chunked
--- response_body
5|



=== TEST 11: raw requests, in pieces
--- config
    location /t { return 200 "$http_a $request_uri\n"; }
--- raw_request eval
["GET /t?x", "=1 HTTP/1.0\r\nA:", " b\r\n\r\n"]
--- raw_request_middle_delay: 0.05
--- response_body
b /t?x=1



=== TEST 12: a raw request with the line ends written out
--- config
    location /t { return 200 "ok\n"; }
--- raw_request eval
"GET /t HTTP/1.1\r
Host: localhost\r
Connection: close\r
\r
"
--- response_body
ok



=== TEST 13: HEAD
--- config
    location /t { return 200 "hello"; }
--- request
HEAD /t
--- response_headers
Content-Length: 5
--- response_body:



=== TEST 14: HTTP/0.9
--- config
    location /t { return 200 "bare\n"; }
--- raw_request eval
"GET /t\r\n"
--- http09
--- response_body
bare



=== TEST 15: main_config, http_config, variables of the preamble
--- main_config
    worker_shutdown_timeout 5s;
--- http_config eval: $::HttpConfig
--- config eval
"$::Location location /t { return 200 \"\$by_map\n\"; access_log logs/access.log short; }"
--- request
GET /t?a=x
--- response_body
mapped x
--- access_log
GET /t 200
--- no_access_log
POST



=== TEST 16: files
--- config
    location /files/ { root $TEST_NGINX_HTML_DIR; }
    location /port { root $TEST_NGINX_SERVER_ROOT/html; }
--- user_files
>>> files/a.txt 199801171935.33
first
second
>>> port
$TEST_NGINX_SERVER_PORT
--- request eval
["GET /files/a.txt", "GET /port"]
--- response_body eval
["first\nsecond\n", "\$TEST_NGINX_SERVER_PORT\n"]
--- response_headers eval
["Last-Modified: Sat, 17 Jan 1998 19:35:33 GMT", ""]



=== TEST 17: files as a list
--- config
    location /files { root html; }
--- user_files eval
[["files/bytes.bin", "a\0\xff"]]
--- request
GET /files/bytes.bin
--- response_body eval
"a\x00\xFF"



=== TEST 18: the files that are there without asking
--- config
--- request
GET /
--- response_body_like: It works!



=== TEST 19: the error log
--- config
    location /t {
        root html;
    }
--- request
GET /t/none
--- error_code: 404
--- error_log
open() "
failed (2: No such file or directory)
--- no_error_log
[warn]
[alert]



=== TEST 20: the error log by patterns
--- config
    location /t { root html; }
--- request
GET /t/none
--- error_code: 404
--- error_log eval
[qr/open\(\) "\S+none" failed/, "/t/none"]
--- no_error_log eval
qr/\[(warn|crit)\]/
--- grep_error_log eval
qr/No such \w+ or \w+/
--- grep_error_log_out
No such file or directory



=== TEST 21: each request is answerable for its own lines of the log
--- config
    location /t { root html; }
--- request eval
["GET /t/none", "GET /t/nil"]
--- error_code eval
[404, 404]
--- error_log
No such file



=== TEST 22: nginx refuses its configuration
--- config
    no_such_directive on;
--- must_die
--- error_log
unknown directive "no_such_directive"
--- no_error_log
[alert]
--- suppress_stderr



=== TEST 23: nginx refuses its configuration with this exit status
--- http_config
    upstream empty { }
--- config
--- must_die: 1
--- error_log
[emerg]
no servers are inside upstream
--- suppress_stderr



=== TEST 24: a scripted server
--- config
    location /t {
        memcached_pass 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
        set $memcached_key $arg_k;
    }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_reply eval
"VALUE k 0 5\r\nhello\r\nEND\r\n"
--- tcp_query_len: 7
--- request
GET /t?k=k
--- response_body chomp
hello
--- response_headers
Content-Type: text/plain



=== TEST 25: a scripted server that answers late and in pieces
--- config
    location /t {
        memcached_pass 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
        set $memcached_key key;
    }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_reply_delay: 50ms
--- tcp_reply eval
["VALUE key 0 5\r\n", "hello\r\nEND\r\n"]
--- tcp_query eval
"get key\r\n"
--- request
GET /t
--- response_body: hello



=== TEST 26: a scripted server on a Unix socket
--- config
    location /t { proxy_pass http://unix:$TEST_NGINX_HTML_DIR/s.sock; }
--- tcp_listen: $TEST_NGINX_HTML_DIR/s.sock
--- tcp_reply eval
"HTTP/1.0 200 OK\r\n\r\nlocal\n"
--- request
GET /t
--- response_body
local



=== TEST 27: a server that does not answer
--- config
    location /t {
        proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
        proxy_read_timeout 60ms;
    }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_no_close
--- tcp_reply: HT
--- request
GET /t
--- error_code: 504
--- response_body_like: Time-out
--- error_log
upstream timed out



=== TEST 28: a client that does not wait
--- config
    location /t {
        proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_no_close
--- tcp_reply: HT
--- request
GET /t
--- timeout: 100ms
--- abort
--- ignore_response
--- wait: 0.1
--- error_log
client prematurely closed connection



=== TEST 29: the end of nginx
--- config
    location /t { return 200; }
--- request
GET /t
--- shutdown_error_log
signal 3
--- no_shutdown_error_log
[crit]



=== TEST 30: the server's own port
--- config
    location /t { return 302 /u; }
--- request
GET /t
--- error_code: 302
--- response_headers
Location: http://localhost:$ServerPort/u
--- response_body_like: 302



=== TEST 31: names of the server
--- server_name: other.test
--- log_level: warn
--- config
    location /t { return 200 "$server_name\n"; }
--- request
GET /t HTTP/1.0
--- more_headers
Host: other.test
--- response_body
other.test



=== TEST 32: lines
--- config
    location /a { return 200 "a"; }
    location /b { return 200 "b"; }
--- request lines array
GET /a
GET /b
--- response_body eval
[qr/a/, qr/^B$/i]
