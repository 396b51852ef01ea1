# Answers of scripted servers, piece by piece.
use Test::Nginx::Socket 'no_plan';

our $Json = <<'_EOC_';
    location /j {
        jsonp_callback     callback;
        proxy_http_version 1.1;
        proxy_set_header   Connection "";
        proxy_pass         http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1;
    }
    location /unbuffered {
        jsonp_callback     callback;
        proxy_http_version 1.1;
        proxy_set_header   Connection "";
        proxy_buffering    off;
        proxy_pass         http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1;
    }
    location /raw {
        jsonp_callback        callback;
        jsonp_callback_escape off;
        proxy_http_version    1.1;
        proxy_set_header      Connection "";
        proxy_pass            http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1;
    }
_EOC_

run_tests();

__DATA__

=== TEST 1: J15: a coding that is no coding
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: identity\r\nContent-Length: 7\r\n\r\n{"a":1}
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: \r\nContent-Length: 7\r\n\r\n{"a":1}
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\n\x8b\x00\x80\x03
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip, br\r\nContent-Length: 4\r\n\r\n\x8b\x00\x80\x03
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb"]
--- response_body eval
['cb({"a":1});', 'cb({"a":1});', "\x8b\x00\x80\x03", "\x8b\x00\x80\x03"]
--- response_headers eval
["Content-Length: 12", "Content-Length: 12", "Content-Encoding: br\nContent-Length: 4", "Content-Encoding: gzip, br\nContent-Length: 4"]



=== TEST 2: J17: no Content-Type
--- backend
send HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}
--- config eval: $::Json . "jsonp_callback_types *;"
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb"]
--- response_body eval
['{"a":1}', '{"a":1}', '{"a":1}']
--- response_headers eval
["!Content-Type\nContent-Length: 7", "!Content-Type\nContent-Length: 7", "!Content-Type\nContent-Length: 7"]



=== TEST 3: J19: a body that turns out to be empty
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb"]
--- response_body eval
['cb();', 'cb();', 'cb();']
--- no_error_log
zero size buf
[alert]



=== TEST 4: J19: a body that turns out to be empty, later, or by the end of the connection
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n
delay 50ms
send 0\r\n\r\n
reply
send HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n
close
reply
send HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n
delay 50ms
close
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb"]
--- response_body eval
['cb();', 'cb();', 'cb();']
--- no_error_log
zero size buf
[alert]



=== TEST 5: F03: one byte at a time
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{
delay 20ms
send "
delay 20ms
send a
delay 20ms
send "
delay 20ms
send :
delay 20ms
send 1
delay 20ms
send }
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb"]
--- response_body eval
['cb({"a":1});', 'cb({"a":1});', 'cb({"a":1});']



=== TEST 6: F03, F06: three chunks, flushed
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n
delay 50ms
send 2\r\na"\r\n
delay 50ms
send 3\r\n:1}\r\n
delay 50ms
send 0\r\n\r\n
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb", "GET /unbuffered?callback=cb HTTP/1.0"]
--- response_body eval
['cb({"a":1});', 'cb({"a":1});', 'cb({"a":1});', 'cb({"a":1});']
--- raw_response_headers_unlike eval
["Content-Length", "Content-Length", "Content-Length", "Content-Length|Transfer-Encoding"]



=== TEST 7: F04: the last buffer is empty
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n
delay 50ms
send 0\r\n\r\n
reply
send HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"a":1}
delay 50ms
close
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb"]
--- response_body eval
['cb({"a":1});', 'cb({"a":1});', 'cb({"a":1});']
--- no_error_log
zero size buf
[alert]



=== TEST 8: F08: a stub, a subrequest that is waited for and ends twice, in a document that is wrapped
--- memcached: 1
--- http_config
    upstream m { server 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_1; }
--- config
    location /part {
        set            $memcached_key $uri;
        memcached_pass m;
        error_page     404 = @fb;
    }
    location @fb { return 200 '"fallback"'; }
    location /doc {
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
        return 200 '[<!--# block name="none" -->"stub"<!--# endblock --><!--# include virtual="/part" stub="none" wait="yes" -->,<!--# include virtual="/part" stub="none" -->,<!--# include virtual="/part?2" wait="yes" -->]';
    }
--- request eval
["GET /doc?callback=cb", "GET /doc"]
--- response_body_like eval
['^cb\(\["(stub|fallback)","(stub|fallback)","fallback"\]\);$', '^\["(stub|fallback)","(stub|fallback)","fallback"\]$']



=== TEST 9: U+2028 in two pieces, in three, and with nothing behind
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"a\xe2
delay 50ms
send \x80\xa8b"
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"a\xe2\x80
delay 50ms
send \xa9b"
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"a\xe2
delay 50ms
send \x80
delay 50ms
send \xa8b"
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n"a\xe2
delay 50ms
send \x80
delay 50ms
send "
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\xe2\r\n
delay 50ms
send 1\r\n\x80\r\n
delay 50ms
send 0\r\n\r\n
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb"]
--- response_body eval
['cb("a\u2028b");', 'cb("a\u2029b");', 'cb("a\u2028b");', "cb(\"a\xe2\x80\");", "cb(\xe2\x80);"]



=== TEST 10: and without buffering
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"a\xe2
delay 50ms
send \x80\xa8b"
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"a\xe2\x80
delay 50ms
send \xa9b"
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"a\xe2
delay 50ms
send \x80
delay 50ms
send \xa8b"
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n"a\xe2
delay 50ms
send \x80
delay 50ms
send "
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\xe2\r\n
delay 50ms
send 1\r\n\x80\r\n
delay 50ms
send 0\r\n\r\n
--- config eval: $::Json
--- request eval
["GET /unbuffered?callback=cb", "GET /unbuffered?callback=cb", "GET /unbuffered?callback=cb", "GET /unbuffered?callback=cb",
 "GET /unbuffered?callback=cb"]
--- response_body eval
['cb("a\u2028b");', 'cb("a\u2029b");', 'cb("a\u2028b");', "cb(\"a\xe2\x80\");", "cb(\xe2\x80);"]



=== TEST 11: the backend breaks off: no end, and no script
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"a":1
delay 50ms
close
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb"]
--- abort
--- response_body_unlike eval
["\\);", "\\);", "\\);"]



=== TEST 12: and in the middle of a chunk, or between two
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1
delay 50ms
close
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{"a":1\r\n
delay 50ms
close
reply
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{"a":1\r\n
delay 50ms
reset
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /unbuffered?callback=cb", "GET /raw?callback=cb"]
--- abort
--- response_body_unlike eval
["\\);", "\\);", "\\);"]



=== TEST 13: J28: the backend is asked once for all callbacks
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}
--- backend_requests: 1
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config
    location /j {
        jsonp_callback    callback;
        proxy_cache       z;
        proxy_cache_key   $uri$arg_id;
        proxy_cache_valid 1h;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1;
    }
--- request eval
["GET /j?id=1&callback=a", "GET /j?id=1&callback=b", "GET /j?id=1", "GET /j?id=1&callback=a&_=123"]
--- response_body eval
['a({"a":1});', 'b({"a":1});', '{"a":1}', 'a({"a":1});']



=== TEST 14: the guard's header replaces the upstream's
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Content-Type-Options: other\r\nContent-Length: 7\r\n\r\n{"a":1}
--- config eval: $::Json . "jsonp_callback_guard on;"
--- request eval
["GET /j?callback=cb", "GET /j"]
--- response_body eval
["/**/typeof cb==='function'&&cb({\"a\":1});", '{"a":1}']
--- response_headers eval
["X-Content-Type-Options: nosniff", "X-Content-Type-Options: other"]



=== TEST 15: Last-Modified, Accept-Ranges and ETag of an upstream
--- backend
send HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nLast-Modified: Tue, 01 Jan 2008 00:00:00 GMT\r\nAccept-Ranges: bytes\r\nETag: "x"\r\nContent-Length: 7\r\n\r\n{"a":1}
--- config eval: $::Json
--- request eval
["GET /j?callback=cb", "GET /j"]
--- response_body eval
['cb({"a":1});', '{"a":1}']
--- response_headers eval
["!Last-Modified\n!Accept-Ranges\nETag: W/\"x\"", "Last-Modified: Tue, 01 Jan 2008 00:00:00 GMT\nAccept-Ranges: bytes\nETag: \"x\""]
