# Together with what else nginx does: caches, slices, subrequests, rewritten queries; and answers refused in all of its ways.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
no_long_string();

our $Backend = <<'_EOC_';
    location /backend/ { jsonp_callback off; alias html/; default_type application/json; }
_EOC_

run_tests();

__DATA__

=== TEST 1: a type that is configured with parameters, by the rule of gzip_types: listed as it is
--- config
    jsonp_callback callback;
    location /charset { default_type "application/json; charset=utf-8"; return 200 1; }
    location /listed {
        jsonp_callback_types "application/json; charset=utf-8" application/json;
        location /listed/charset { default_type "Application/JSON; charset=utf-8"; return 200 1; }
        location /listed/json { default_type application/json; return 200 1; }
        location /listed/other { default_type "application/json; charset=koi8-r"; return 200 1; }
    }
--- request eval
["GET /charset?callback=cb", "GET /listed/charset?callback=cb", "GET /listed/json?callback=cb", "GET /listed/other?callback=cb"]
--- response_body eval
["1", "cb(1);", "cb(1);", "1"]
--- response_headers eval
["Content-Type: application/json; charset=utf-8", "Content-Type: text/javascript; charset=utf-8", "Content-Type: text/javascript",
 "Content-Type: application/json; charset=koi8-r"]



=== TEST 2: refused: closed without an answer
--- config
    location /t {
        jsonp_callback         callback;
        jsonp_callback_invalid 444;
        default_type           application/json;
        return                 200 1;
    }
    location /p { jsonp_callback callback; jsonp_callback_invalid 444; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/json; }
    location /json { default_type application/json; return 200 1; }
--- request eval
["GET /t?callback=!", "GET /p?callback=!"]
--- ignore_response
--- no_error_log
[alert]



=== TEST 3: refused, in front of a cache: the answer is kept for the next
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback         callback;
        jsonp_callback_invalid 400;
        proxy_cache            z;
        proxy_cache_key        $uri;
        proxy_cache_valid      1h;
        proxy_cache_lock       on;
        add_header             X-Cache $upstream_cache_status;
        proxy_pass             http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- user_files
>>> a.json
1
--- request eval
["GET /j/a.json?callback=!", "GET /j/a.json?callback=cb", "GET /j/a.json?callback=!", "GET /j/a.json?callback=cb"]
--- error_code eval
[400, 200, 400, 200]
--- response_body_like eval
["400 Bad Request", '^cb\(1\n\);$', "400 Bad Request", '^cb\(1\n\);$']
--- no_error_log
[alert]



=== TEST 4: refused, with a large body on its way
--- config eval
$::Backend . q{
    jsonp_callback         callback;
    jsonp_callback_invalid 400;
    location /j/ { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
    location /unbuffered/ { proxy_buffering off; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
    location /file/ { alias html/; default_type application/json; sendfile on; }
    location /threads/ { alias html/; default_type application/json; aio threads; output_buffers 1 4k; }
}
--- user_files eval
[["a.json", "[" . "\"some text\"," x 200000 . "1]"]]
--- request eval
["GET /j/a.json?callback=!", "GET /unbuffered/a.json?callback=!", "GET /file/a.json?callback=!", "GET /threads/a.json?callback=!"]
--- error_code eval
[400, 400, 400, 400]
--- response_body_like eval
["400 Bad Request", "400 Bad Request", "400 Bad Request", "400 Bad Request"]
--- no_error_log
[alert]



=== TEST 5: refused, and answered by another upstream
--- config
    location /json { default_type application/json; return 200 '{"a":1}'; }
    location /refused { default_type application/json; return 422 '{"refused":"$args"}'; }
    location /j {
        jsonp_callback         callback;
        jsonp_callback_invalid 422;
        error_page             422 @refused;
        proxy_pass             http://127.0.0.1:$TEST_NGINX_SERVER_PORT/json;
    }
    location @refused { rewrite ^ /refused break; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT; }
    location /k {
        jsonp_callback         callback;
        jsonp_callback_invalid 422;
        error_page             422 =200 /refused;
        proxy_pass             http://127.0.0.1:$TEST_NGINX_SERVER_PORT/json;
    }
--- request eval
["GET /j?callback=!", "GET /k?callback=!", "GET /j?callback=cb"]
--- error_code eval
[422, 200, 200]
--- response_body eval
['{"refused":"callback=!"}', '{"refused":""}', 'cb({"a":1});']



=== TEST 6: refused, with a page of one's own that would be refused too
--- config
    jsonp_callback         callback;
    jsonp_callback_invalid 400;
    default_type           application/json;
    error_page             400 @refused;
    location /t { return 200 1; }
    location @refused { return 200 '{"refused":1}'; }
--- request eval
["GET /t?callback=!", "GET /t?callback=cb", "HEAD /t?callback=!"]
--- error_code eval
[400, 200, 400]
--- response_body eval
['{"refused":1}', 'cb(1);', '']



=== TEST 7: refused on a connection that is kept
--- config
    location /t { jsonp_callback callback; jsonp_callback_invalid 403; default_type application/json; return 200 1; }
    location /p { jsonp_callback callback; jsonp_callback_invalid 403; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/json; }
    location /json { default_type application/json; return 200 1; }
--- pipelined_requests eval
["GET /t?callback=!", "GET /t?callback=cb", "GET /p?callback=!", "GET /p?callback=cb"]
--- error_code eval
[403, 200, 403, 200]
--- response_body_like eval
["403 Forbidden", '^cb\(1\);$', "403 Forbidden", '^cb\(1\);$']



=== TEST 8: HEAD fills a cache
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback    callback;
        proxy_cache       z;
        proxy_cache_key   $uri;
        proxy_cache_valid 1h;
        add_header        X-Cache $upstream_cache_status;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- user_files
>>> a.json
[1]
--- request eval
["HEAD /j/a.json?callback=cb", "GET /j/a.json?callback=cb", "HEAD /j/a.json?callback=cb", "GET /j/a.json"]
--- response_body eval
["", "cb([1]\n);", "", "[1]\n"]
--- response_headers_like eval
["X-Cache: (MISS|HIT)", "X-Cache: HIT", "X-Cache: HIT", "X-Cache: HIT"]



=== TEST 9: slices
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config eval
$::Backend . q{
    jsonp_callback    callback;
    proxy_cache       z;
    proxy_cache_valid any 1h;
    proxy_set_header  Range $slice_range;
    location /j/ { slice 7; proxy_cache_key j$uri$slice_range; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
    location /raw/ {
        jsonp_callback_escape off;
        slice 7; proxy_cache_key r$uri$slice_range; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- user_files eval
[["a.json", "[\"0123456789\", \"0123456789\", \"0123456789\"]"]]
--- request eval
["GET /j/a.json?callback=cb", "GET /raw/a.json?callback=cb", "GET /j/a.json", "GET /raw/a.json?callback=b"]
--- response_body eval
['cb(["0123456789", "0123456789", "0123456789"]);', 'cb(["0123456789", "0123456789", "0123456789"]);',
 '["0123456789", "0123456789", "0123456789"]', 'b(["0123456789", "0123456789", "0123456789"]);']
--- response_headers eval
["!Content-Range", "Content-Length: 47", "Content-Length: 42", "Content-Length: 46"]



=== TEST 10: slices, of which the client asks for a part: that is not the whole document, so it is left alone
--- config eval
$::Backend . q{
    jsonp_callback   callback;
    slice            8;
    proxy_set_header Range $slice_range;
    location /j/ { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
    location /raw/ { jsonp_callback_escape off; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
}
--- user_files eval
[["a.json", "[\"0123456789\", \"0123456789\", \"0123456789\"]"]]
--- request eval
["GET /j/a.json?callback=cb", "GET /raw/a.json?callback=cb"]
--- more_headers
Range: bytes=10-17
--- error_code eval
[206, 206]
--- response_body eval
['89", "01', '89", "01']
--- response_headers eval
["Content-Type: application/json", "Content-Type: application/json"]



=== TEST 11: SSI: what is kept in a variable
--- config eval
qq{
    location /part { default_type application/json; return 200 '"\xe2\x80\xa8"'; }
    location /proxied { proxy_pass http://127.0.0.1:\$TEST_NGINX_SERVER_PORT/part; }
    location /doc {
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
        return 200 '[<!--# include virtual="/proxied" set="part" --><!--# echo var="part" encoding="none" -->,1]';
    }
}
--- request eval
["GET /doc?callback=cb", "GET /doc"]
--- response_body_like eval
['^cb\(\["\\\\u2028",1\]\);$', '^\["\xe2\x80\xa8",1\]$']



=== TEST 12: SSI: parts from memory, from files, from an upstream, one of them not there
--- config
    location /parts/ { alias html/; default_type application/json; }
    location /backend { default_type application/json; return 200 3; }
    location /p { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
    location /u { proxy_buffering off; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
    location /none { return 404 '"none"'; }
    location /doc/ {
        alias          html/;
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
    }
--- user_files
>>> part
2
>>> doc.json
[<!--# include virtual="/parts/part" -->,<!--# include virtual="/p?callback=x" -->,<!--# include virtual="/u" -->,<!--# include virtual="/none" -->]
--- request eval
["GET /doc/doc.json?callback=cb", "GET /doc/doc.json"]
--- response_body eval
["cb([2\n,3,3,\"none\"]\n);", "[2\n,3,3,\"none\"]\n"]



=== TEST 13: the query is what it is when the answer is sent
--- config
    jsonp_callback callback;
    default_type   application/json;
    location /args { set $args callback=set; return 200 1; }
    location /unset { set $args ""; return 200 1; }
    location /rewritten { rewrite ^ /inner?callback=rewritten; }
    location /dropped { rewrite ^ /inner?; }
    location /tried { try_files /none.json /inner?$args; }
    location /inner { return 200 1; }
--- request eval
["GET /args?callback=cb", "GET /unset?callback=cb", "GET /rewritten?callback=cb", "GET /dropped?callback=cb", "GET /tried?callback=cb"]
--- response_body eval
["set(1);", "1", "rewritten(1);", "1", "cb(1);"]



=== TEST 14: refused with what nginx takes for an error of the upstream: not kept for the next
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config eval
$::Backend . q{
    jsonp_callback    callback;
    proxy_cache       z;
    proxy_cache_key   $uri;
    proxy_cache_valid any 1h;
    location /502/ { jsonp_callback_invalid 502; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
    location /504/ { jsonp_callback_invalid 504; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
}
--- user_files
>>> a.json
1
--- request eval
["GET /502/a.json?callback=!", "GET /502/a.json?callback=cb", "GET /502/a.json", "GET /504/a.json?callback=!", "GET /504/a.json?callback=cb"]
--- error_code eval
[502, 200, 200, 504, 200]
--- no_error_log
[alert]
