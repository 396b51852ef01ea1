# HEAD, ranges, validators.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
no_long_string();

our $Files = <<'_EOC_';
    location /j/ { alias html/; jsonp_callback callback; default_type application/json; }
    location /raw/ { alias html/; jsonp_callback callback; default_type application/json; jsonp_callback_escape off; }
    location /p/ { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/plain/; }
    location /plain/ { alias html/; default_type application/json; }
_EOC_

run_tests();

__DATA__

=== TEST 1: a wrapped answer has no Last-Modified and no Accept-Ranges, and its ETag is weak
--- config eval: $::Files
--- user_files
>>> a.json 200801010000.00
{"a":1}
--- request eval
["GET /j/a.json?callback=cb", "GET /raw/a.json?callback=cb", "GET /p/a.json?callback=cb", "GET /j/a.json", "GET /j/a.json?callback=!"]
--- response_body eval
["cb({\"a\":1}\n);", "cb({\"a\":1}\n);", "cb({\"a\":1}\n);", "{\"a\":1}\n", "{\"a\":1}\n"]
--- response_headers_like eval
['ETag: W/"[0-9a-f]+-8"', 'ETag: W/"[0-9a-f]+-8"', 'ETag: W/"[0-9a-f]+-8"',
 "ETag: \"[0-9a-f]+-8\"\nLast-Modified: .*2008.*\nAccept-Ranges: bytes\nContent-Length: 8",
 "ETag: \"[0-9a-f]+-8\"\nLast-Modified: .*2008.*\nAccept-Ranges: bytes\nContent-Length: 8"]
--- raw_response_headers_unlike eval
['(?i)Last-Modified|Accept-Ranges|Transfer-Encoding', '(?i)Last-Modified|Accept-Ranges|Transfer-Encoding',
 '(?i)Last-Modified|Accept-Ranges|Transfer-Encoding', '(?i)Transfer-Encoding', '(?i)Transfer-Encoding']



=== TEST 2: HEAD: the headers of GET, but for a length that only the body can tell
--- config eval: $::Files
--- user_files
>>> a.json 200801010000.00
{"a":1}
--- request eval
["HEAD /j/a.json?callback=cb", "HEAD /raw/a.json?callback=cb", "HEAD /p/a.json?callback=cb", "HEAD /j/a.json"]
--- response_body eval
["", "", "", ""]
--- response_headers_like eval
["Content-Type: text/javascript\nETag: W/\".*\"", "Content-Type: text/javascript\nContent-Length: 13\nETag: W/\".*\"",
 "Content-Type: text/javascript\nETag: W/\".*\"", "Content-Type: application/json\nContent-Length: 8\nETag: \".*\"\nAccept-Ranges: bytes"]
--- raw_response_headers_unlike eval
["(?i)Last-Modified|Accept-Ranges", "(?i)Last-Modified|Accept-Ranges", "(?i)Last-Modified|Accept-Ranges", "chunked"]



=== TEST 3: HEAD: no answer says the length of the body before it is wrapped
--- config eval: $::Files
--- user_files
>>> a.json
{"a":1}
--- request eval
["HEAD /j/a.json?callback=cb", "HEAD /p/a.json?callback=cb"]
--- response_body eval
["", ""]
--- raw_response_headers_unlike eval
["Content-Length: 8", "Content-Length: 8"]



=== TEST 4: no part of a wrapped answer
--- config eval: $::Files
--- user_files
>>> a.json
{"a":1}
--- request eval
["GET /j/a.json?callback=cb", "GET /raw/a.json?callback=cb", "GET /p/a.json?callback=cb", "GET /j/a.json", "GET /j/a.json?callback=!"]
--- more_headers
Range: bytes=0-2
--- error_code eval
[200, 200, 206, 206, 206]
--- response_body eval
["cb({\"a\":1}\n);", "cb({\"a\":1}\n);", "{\"a", "{\"a", "{\"a"]



=== TEST 5: no part of a wrapped answer, with the cache that asks for all of it
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config
    location /plain { default_type application/json; return 200 '{"a":1}'; }
    location /j {
        jsonp_callback    callback;
        proxy_cache       z;
        proxy_cache_key   $uri;
        proxy_cache_valid 1h;
        proxy_force_ranges on;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/plain;
    }
--- request eval
["GET /j?callback=cb", "GET /j?callback=cb", "GET /j"]
--- more_headers
Range: bytes=0-2
--- error_code eval
[200, 200, 206]
--- response_body eval
['cb({"a":1});', 'cb({"a":1});', '{"a']



=== TEST 6: 304, for a weak tag and for the date
--- config eval: $::Files
--- user_files
>>> a.json 200801010000.00
{"a":1}
--- request eval
["GET /j/a.json?callback=cb", "GET /raw/a.json?callback=cb", "GET /p/a.json?callback=cb", "GET /j/a.json?callback=cb"]
--- more_headers eval
["If-None-Match: *", "If-None-Match: *", "If-None-Match: *", "If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT\nIf-None-Match: \"x\", *"]
--- error_code eval
[304, 304, 304, 200]
--- response_body eval
["", "", "", "cb({\"a\":1}\n);"]
--- response_headers eval
["!Content-Length", "!Content-Length", "!Content-Length", "!Last-Modified"]



=== TEST 7: a tag that fits, and one that does not
--- config
    location /backend { default_type application/json; add_header ETag '"one"'; return 200 1; }
    location /backend/weak { default_type application/json; add_header ETag 'W/"one"'; return 200 1; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
--- request eval
["GET /j?callback=cb", "GET /j/weak?callback=cb"]
--- response_body eval
["cb(1);", "cb(1);"]
--- response_headers eval
['ETag: W/"one"', 'ETag: W/"one"']



=== TEST 8: a content coding that add_header tells of, or one of two lines
--- config
    location /coded { jsonp_callback callback; default_type application/json; add_header content-encoding gzip; return 200 1; }
    location /plain { jsonp_callback callback; default_type application/json; add_header Content-Encoding identity; return 200 1; }
    location /backend {
        default_type application/json;
        add_header   Content-Encoding gzip;
        add_header   Content-Encoding identity;
        return       200 1;
    }
    location /two { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
--- request eval
["GET /coded?callback=cb", "GET /plain?callback=cb", "GET /two?callback=cb"]
--- response_body eval
["1", "cb(1);", "1"]
--- response_headers eval
["Content-Type: application/json", "Content-Type: text/javascript", "Content-Type: application/json"]
