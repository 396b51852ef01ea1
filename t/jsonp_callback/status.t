# jsonp_callback_status, jsonp_callback_invalid, and nginx's own ways of changing an answer.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
no_long_string();

our $Backend = <<'_EOC_';
    location /backend/200 { default_type application/json; return 200 '{"s":200}'; }
    location /backend/201 { default_type application/json; return 201 '{"s":201}'; }
    location /backend/204 { default_type application/json; return 204; }
    location /backend/404 { default_type application/json; return 404 '{"s":404}'; }
    location /backend/422 { default_type application/json; return 422 '{"s":422}'; }
    location /backend/500 { default_type application/json; return 500 '{"s":500}'; }
    location /backend/302 { return 302 http://example.com/; }
_EOC_

run_tests();

__DATA__

=== TEST 1: codes
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback        callback;
        jsonp_callback_status 201 404;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- request eval
["GET /j/200?callback=cb", "GET /j/201?callback=cb", "GET /j/404?callback=cb", "GET /j/500?callback=cb"]
--- error_code eval
[200, 201, 404, 500]
--- response_body eval
['{"s":200}', 'cb({"s":201});', 'cb({"s":404});', '{"s":500}']



=== TEST 2: classes
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback        callback;
        jsonp_callback_status 4xx 200;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- request eval
["GET /j/200?callback=cb", "GET /j/201?callback=cb", "GET /j/404?callback=cb", "GET /j/422?callback=cb", "GET /j/500?callback=cb"]
--- error_code eval
[200, 201, 404, 422, 500]
--- response_body eval
['cb({"s":200});', '{"s":201}', 'cb({"s":404});', 'cb({"s":422});', '{"s":500}']



=== TEST 3: any
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback        callback;
        jsonp_callback_status any;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- request eval
["GET /j/200?callback=cb", "GET /j/201?callback=cb", "GET /j/204?callback=cb", "GET /j/404?callback=cb", "GET /j/500?callback=cb",
 "GET /j/302?callback=cb"]
--- error_code eval
[200, 201, 204, 404, 500, 302]
--- response_body_like eval
['^cb\(\{"s":200\}\);$', '^cb\(\{"s":201\}\);$', '^$', '^cb\(\{"s":404\}\);$', '^cb\(\{"s":500\}\);$', '^<html>']



=== TEST 4: all sent as 200, for browsers do not run the script of an error
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback        callback;
        jsonp_callback_status any =200;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- request eval
["GET /j/200?callback=cb", "GET /j/201?callback=cb", "GET /j/204?callback=cb", "GET /j/404?callback=cb", "GET /j/500?callback=cb",
 "GET /j/404", "GET /j/404?callback=!"]
--- error_code eval
[200, 200, 204, 200, 200, 404, 404]
--- response_body eval
['cb({"s":200});', 'cb({"s":201});', '', 'cb({"s":404});', 'cb({"s":500});', '{"s":404}', '{"s":404}']
--- raw_response_headers_like eval
['^HTTP/1.1 200 OK\r\n', '^HTTP/1.1 200 OK\r\n', '^HTTP/1.1 204 No Content\r\n', '^HTTP/1.1 200 OK\r\n', '^HTTP/1.1 200 OK\r\n',
 '^HTTP/1.1 404 Not Found\r\n', '^HTTP/1.1 404 Not Found\r\n']



=== TEST 5: sent as another status
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback        callback;
        jsonp_callback_status 200 =203;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- request
GET /j/200?callback=cb
--- error_code: 203
--- response_body chomp
cb({"s":200});



=== TEST 6: error_page to a location
--- config eval
$::Backend . q{
    error_page 404 /backend/404?$args;
    location /gone {
        jsonp_callback callback;
        return 404;
    }
    location = /backend/404 {
        jsonp_callback        callback;
        jsonp_callback_status 404 =200;
        default_type          application/json;
        return 200 '{"s":"page"}';
    }
}
--- request eval
["GET /gone?callback=cb", "GET /gone"]
--- error_code eval
[200, 404]
--- response_body eval
['cb({"s":"page"});', '{"s":"page"}']



=== TEST 7: error_page to a named location
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback         callback;
        proxy_intercept_errors on;
        error_page             404 @gone;
        error_page             500 =200 @failed;
        proxy_pass             http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
    location @gone {
        jsonp_callback        callback;
        jsonp_callback_status 404;
        default_type          application/json;
        return                404 '{"s":"gone"}';
    }
    location @failed {
        jsonp_callback callback;
        default_type   application/json;
        return         500 '{"s":"failed"}';
    }
}
--- request eval
["GET /j/404?callback=cb", "GET /j/500?callback=cb", "GET /j/200?callback=cb", "GET /j/404"]
--- error_code eval
[404, 200, 200, 404]
--- response_body eval
['cb({"s":"gone"});', 'cb({"s":"failed"});', 'cb({"s":200});', '{"s":"gone"}']



=== TEST 8: an error of nginx's own page is HTML, and left alone
--- config
    jsonp_callback        callback;
    jsonp_callback_status any =200;
    location /t { return 404; }
    location /down { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- request eval
["GET /t?callback=cb", "GET /down?callback=cb"]
--- error_code eval
[404, 502]
--- response_body_like eval
["404 Not Found", "502 Bad Gateway"]
--- response_headers eval
["Content-Type: text/html", "Content-Type: text/html"]



=== TEST 9: an upstream that is not there, answered by a named location
--- config
    location /down {
        jsonp_callback        callback;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
        error_page            502 504 = @fallback;
    }
    location @fallback {
        jsonp_callback        callback;
        default_type          application/json;
        return                200 '{"s":"fallback"}';
    }
--- request eval
["GET /down?callback=cb", "GET /down"]
--- response_body eval
['cb({"s":"fallback"});', '{"s":"fallback"}']



=== TEST 10: a file that is not there
--- config
    location /files/ {
        jsonp_callback callback;
        root           html;
        default_type   application/json;
        error_page     404 = @fallback;
    }
    location @fallback {
        jsonp_callback callback;
        default_type   application/json;
        return         200 '{"s":"fallback"}';
    }
--- user_files
>>> files/a.json
{"s":"file"}
--- request eval
["GET /files/a.json?callback=cb", "GET /files/b.json?callback=cb"]
--- response_body eval
["cb({\"s\":\"file\"}\n);", 'cb({"s":"fallback"});']



=== TEST 11: invalid callbacks are refused, for what would be wrapped
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback         callback;
        jsonp_callback_invalid 400;
        proxy_pass             http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
    location /r { jsonp_callback callback; jsonp_callback_invalid 422; default_type application/json; return 200 1; }
    location /html { jsonp_callback callback; jsonp_callback_invalid 400; default_type text/html; return 200 "<p>"; }
    location /empty { jsonp_callback callback; jsonp_callback_invalid 400; default_type application/json; return 200 ""; }
    location /files/ { alias html/; jsonp_callback callback; jsonp_callback_invalid 403; default_type application/json; }
}
--- user_files
>>> a.json
1
--- request eval
["GET /j/200?callback=!", "GET /j/200?callback=cb", "GET /j/200", "GET /j/404?callback=!", "GET /r?callback=a.b", "GET /html?callback=!",
 "GET /empty?callback=!", "GET /j/204?callback=!", "GET /files/a.json?callback=!", "HEAD /j/200?callback=!",
 "POST /j/200?callback=!", "GET /j/200?callback="]
--- error_code eval
[400, 200, 200, 404, 422, 200, 200, 204, 403, 400, 200, 200]
--- response_body_like eval
["400 Bad Request", '^cb\(\{"s":200\}\);$', '^\{"s":200\}$', '^\{"s":404\}$', "^", "^<p>\$", "^\$", "^\$", "403 Forbidden", "^\$",
 '^\{"s":200\}$', '^\{"s":200\}$']
--- response_headers eval
["Content-Type: text/html\n!ETag\n!Last-Modified", "Content-Type: text/javascript", "Content-Type: application/json", "Content-Type: application/json",
 "!ETag", "Content-Type: text/html", "Content-Length: 0", "!Content-Type", "!ETag\n!Last-Modified\n!Accept-Ranges", "Content-Type: text/html",
 "Content-Type: application/json", "Content-Type: application/json"]
--- no_error_log
[alert]



=== TEST 12: the answer to an invalid callback may be a page of one's own, wrapped or not
--- config
    location /t {
        jsonp_callback         callback;
        jsonp_callback_invalid 400;
        default_type           application/json;
        error_page             400 @refused;
        return                 200 1;
    }
    location @refused {
        default_type application/json;
        return       400 '{"error":"callback"}';
    }
--- request eval
["GET /t?callback=!", "GET /t?callback=cb"]
--- error_code eval
[400, 200]
--- response_body eval
['{"error":"callback"}', "cb(1);"]



=== TEST 13: refused while other filters are at work
--- config
    location /gz {
        default_type    application/json;
        gzip            on;
        gzip_types      application/json;
        gzip_min_length 1;
        gzip_proxied    any;
        return          200 '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}';
    }
    location /t {
        jsonp_callback         callback;
        jsonp_callback_invalid 400;
        gunzip                 on;
        gzip                   on;
        gzip_types             *;
        gzip_min_length        1;
        gzip_http_version      1.0;
        sub_filter             a b;
        sub_filter_types       *;
        proxy_set_header       Accept-Encoding gzip;
        proxy_http_version     1.1;
        proxy_pass             http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
--- request eval
["GET /t?callback=!", "GET /t?callback=!"]
--- more_headers eval
["", "Accept-Encoding: gzip"]
--- error_code eval
[400, 400]
--- response_body_like eval
["4", "^."]
--- no_error_log
[alert]



=== TEST 14: the log has the status that was sent
--- config eval
$::Backend . q{
    location /j/ {
        jsonp_callback        callback;
        jsonp_callback_status any =200;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/;
    }
}
--- request
GET /j/404?callback=cb
--- response_body chomp
cb({"s":404});
--- access_log eval
qr{"GET /j/404\?callback=cb HTTP/1[.]1" 200 }
