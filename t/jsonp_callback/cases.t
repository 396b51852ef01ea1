# What broke other JSONP filters, in public reports: J.. and F.. are their numbers.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
no_long_string();

$ENV{TEST_NGINX_HTML_DIR} ||= html_dir();

our $Backend = <<'_EOC_';
    location /backend {
        default_type application/json;
        return 200 '{"a":1}';
    }
_EOC_

our $Json = <<'_EOC_';
    location /backend {
        default_type application/json;
        return 200 '{"a":1}';
    }
    location /j {
        jsonp_callback       callback;
        jsonp_callback_types application/json;
        proxy_pass           http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend;
    }
_EOC_

our $Member = <<'_EOC_';
    location /backend {
        default_type application/json;
        return 200 '{"a":1}';
    }
    location /j {
        jsonp_callback        callback;
        jsonp_callback_syntax member;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend;
    }
_EOC_

run_tests();

__DATA__

=== TEST 1: the base: wrapped, with its length and one JavaScript type
--- config eval: $::Json
--- request
GET /j?callback=cb
--- response_body chomp
cb({"a":1});
--- response_headers
Content-Length: 12
Content-Type: text/javascript
!Transfer-Encoding



=== TEST 2: J01: a name whose second part begins with an underscore: not a word
--- config eval: $::Json
--- request
GET /j?callback=foo._bar
--- response_body chomp
{"a":1}
--- response_headers
Content-Length: 7
Content-Type: application/json



=== TEST 3: J01: and a member
--- config eval: $::Member
--- request eval
["GET /j?callback=foo._bar", "GET /j?callback=angular.callbacks._0"]
--- response_body eval
['foo._bar({"a":1});', 'angular.callbacks._0({"a":1});']
--- response_headers eval
["Content-Length: 18", "Content-Length: 30"]



=== TEST 4: J02: an index, spelled both ways
--- config eval: $::Member
--- request eval
['GET /j?callback=CK._.cbs[197]', 'GET /j?callback=CK._.cbs%5B197%5D']
--- response_body eval
['CK._.cbs[197]({"a":1});', 'CK._.cbs[197]({"a":1});']



=== TEST 5: J02: an index in a word
--- config eval: $::Json
--- request eval
['GET /j?callback=CK._.cbs[197]', 'GET /j?callback=CK._.cbs%5B197%5D']
--- response_body eval
['{"a":1}', '{"a":1}']
--- response_headers eval
["Content-Type: application/json\nContent-Length: 7", "Content-Type: application/json\nContent-Length: 7"]



=== TEST 6: J03: nothing but forbidden characters
--- config eval: $::Json
--- request eval
["GET /j?callback=!!!", "GET /j?callback=%3C%3E%40"]
--- response_body eval
['{"a":1}', '{"a":1}']
--- response_headers eval
["Content-Type: application/json\nContent-Length: 7", "Content-Type: application/json\nContent-Length: 7"]



=== TEST 7: J04: a script in place of a name
--- config eval: $::Json
--- request eval
["GET /j?callback=alert(1)//", "GET /j?callback=alert%28document.domain%29", "GET /j?callback=a;b",
 "GET /j?callback=%3Cscript%3E", "GET /j?callback=a%0Ab", "GET /j?callback=a%00", "GET /j?callback=a%",
 "GET /j?callback=a%6", "GET /j?callback=a%25%36%31", "GET /j?callback=a+b", "GET /j?callback=a%2Eb"]
--- response_body eval
['{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}']
--- raw_response_headers_unlike eval
["alert", "alert", "a;b", "script>", "a\nb", "a\x00", "a%", "a%6", "a%", "a b", "a[.]b"]



=== TEST 8: J04: and in place of a member
--- config eval: $::Member
--- request eval
["GET /j?callback=alert(1)//", "GET /j?callback=alert%28document.domain%29", "GET /j?callback=a;b",
 "GET /j?callback=%3Cscript%3E", "GET /j?callback=a%0Ab", "GET /j?callback=a[b]", "GET /j?callback=a[]",
 "GET /j?callback=a..b", "GET /j?callback=.a", "GET /j?callback=a.", "GET /j?callback=a['b']",
 "GET /j?callback=1a", "GET /j?callback=a.1", "GET /j?callback=[0]", "GET /j?callback=a[0", "GET /j?callback=a[0]b"]
--- response_body eval
['{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}',
 '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}']



=== TEST 9: J05: no argument, none with a value
--- config eval: $::Json
--- request eval
["GET /j", "GET /j?callback", "GET /j?callback=", "GET /j?x=1&callback=&y=2"]
--- response_body eval
['{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}']
--- response_headers eval
["Content-Type: application/json\nContent-Length: 7", "Content-Type: application/json\nContent-Length: 7",
 "Content-Type: application/json\nContent-Length: 7", "Content-Type: application/json\nContent-Length: 7"]



=== TEST 10: J07: a query shorter than the name
--- config eval: $::Json
--- request eval
["GET /j?c", "GET /j?callbac", "GET /j?a", "GET /j?"]
--- response_body eval
['{"a":1}', '{"a":1}', '{"a":1}', '{"a":1}']



=== TEST 11: J07: a name of one byte
--- config eval
$::Backend . q{
    location /j { jsonp_callback c; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
}
--- request eval
["GET /j?c=f", "GET /j?c", "GET /j?=f", "GET /j?cc=f"]
--- response_body eval
['f({"a":1});', '{"a":1}', '{"a":1}', '{"a":1}']



=== TEST 12: J09: wherever it stands among the others
--- config eval: $::Json
--- request eval
["GET /j?id=9&callback=jQuery19_1&_=1418510461219", "GET /j?callback=jQuery19_1&_=14", "GET /j?_=14&callback=jQuery19_1",
 "GET /j?&&callback=jQuery19_1&", "GET /j?xcallback=a&callback=jQuery19_1", "GET /j?x=callback=a&callback=jQuery19_1"]
--- response_body eval
['jQuery19_1({"a":1});', 'jQuery19_1({"a":1});', 'jQuery19_1({"a":1});', 'jQuery19_1({"a":1});', 'jQuery19_1({"a":1});',
 'jQuery19_1({"a":1});']



=== TEST 13: J10: long names, up to 255 bytes
--- config eval: $::Json
--- request eval
["GET /j?callback=jQuery1910984648983925581_1418510461219", "GET /j?callback=" . "a" x 255, "GET /j?callback=" . "a" x 256,
 "GET /j?callback=" . "%61" x 255, "GET /j?callback=" . "%61" x 256]
--- response_body eval
['jQuery1910984648983925581_1418510461219({"a":1});', "a" x 255 . '({"a":1});', '{"a":1}', "a" x 255 . '({"a":1});', '{"a":1}']
--- response_headers eval
["Content-Length: 49", "Content-Length: 265", "Content-Length: 7", "Content-Length: 265", "Content-Length: 7"]



=== TEST 14: J10: members of up to 255 bytes
--- config eval: $::Member
--- request eval
["GET /j?callback=" . "a." x 127 . "a", "GET /j?callback=" . "a." x 127 . "aa"]
--- response_body eval
["a." x 127 . 'a({"a":1});', '{"a":1}']



=== TEST 15: J14: the length is that of bytes, and the next request on the connection is answered
--- config eval
qq{
    location /backend { default_type application/json; return 200 '{"n":"\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd"}'; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:\$TEST_NGINX_SERVER_PORT/backend; }
}
--- pipelined_requests eval
["GET /j?callback=cb", "GET /j?callback=cb2", "GET /j"]
--- response_body eval
["cb({\"n\":\"\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd\"});", "cb2({\"n\":\"\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd\"});",
 "{\"n\":\"\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd\"}"]
--- response_headers eval
["Content-Length: 26", "Content-Length: 27", "Content-Length: 21"]



=== TEST 16: J14: HTTP/1.0
--- config eval: $::Json
--- request
GET /j?callback=cb HTTP/1.0
--- response_body chomp
cb({"a":1});
--- response_headers
Content-Length: 12
Connection: close
!Transfer-Encoding



=== TEST 17: J15: codings that nobody undoes
--- config
    location /gzip { default_type application/json; add_header Content-Encoding gzip; return 200 "not really gzip"; }
    location /br { default_type application/json; add_header Content-Encoding br; return 200 "not really br"; }
    location /identity { default_type application/json; add_header Content-Encoding identity; return 200 "{}"; }
    location /j/ { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/; }
--- request eval
["GET /j/gzip?callback=cb", "GET /j/br?callback=cb", "GET /j/identity?callback=cb"]
--- response_body eval
["not really gzip", "not really br", "cb({});"]
--- response_headers eval
["Content-Encoding: gzip\nContent-Length: 15\nContent-Type: application/json",
 "Content-Encoding: br\nContent-Length: 13\nContent-Type: application/json",
 "Content-Length: 7\nContent-Type: text/javascript"]



=== TEST 18: J17: 204 and 304 have no body, and an answer without a type is left alone
--- config
    jsonp_callback_types  *;
    jsonp_callback_status any;
    location /backend/204 { default_type application/json; return 204; }
    location /backend/304 { default_type application/json; return 304; }
    location /backend/200 { default_type ""; return 200 '{"a":1}'; }
    location /j/ { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend/; }
    location /r/204 { jsonp_callback callback; default_type application/json; return 204; }
    location /r/200 { jsonp_callback callback; default_type ""; return 200 '{"a":1}'; }
--- request eval
["GET /j/204?callback=cb", "GET /j/304?callback=cb", "GET /j/200?callback=cb", "GET /r/204?callback=cb", "GET /r/200?callback=cb"]
--- more_headers
If-None-Match: "x"
--- error_code eval
[204, 304, 200, 204, 200]
--- response_body eval
["", "", '{"a":1}', "", '{"a":1}']
--- response_headers eval
["!Transfer-Encoding", "!Transfer-Encoding", "!Content-Type", "!Transfer-Encoding", "!Content-Type"]



=== TEST 19: J19, F04: a body that is known to be empty
--- config
    location /backend { default_type application/json; return 200 ""; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
    location /r { jsonp_callback callback; default_type application/json; return 200 ""; }
--- request eval
["GET /j?callback=cb", "GET /r?callback=cb", "HEAD /j?callback=cb"]
--- response_body eval
["", "", ""]
--- response_headers eval
["Content-Length: 0\nContent-Type: application/json", "Content-Length: 0\nContent-Type: application/json",
 "Content-Length: 0\nContent-Type: application/json"]
--- no_error_log
zero size buf
[alert]



=== TEST 20: F04: other small answers of nginx's own
--- config
    jsonp_callback callback;
    location /gif { jsonp_callback_types *; empty_gif; }
    location /one { default_type application/json; return 200 "1"; }
--- request eval
["GET /gif?callback=cb", "GET /one?callback=cb", "HEAD /gif?callback=cb"]
--- response_body_like eval
['^cb\(GIF89a(?s:.{37})\);$', '^cb\(1\);$', '^$']
--- response_headers eval
["Content-Length: 48", "Content-Length: 6", "Content-Type: text/javascript"]
--- no_error_log
zero size buf
[alert]



=== TEST 21: J20: statuses other than 200 are left alone
--- config
    location /backend { default_type application/json; return 404 '{"e":1}'; }
    location /backend/201 { default_type application/json; return 201 '{"e":1}'; }
    location /backend/500 { default_type application/json; return 500 '{"e":1}'; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
--- request eval
["GET /j?callback=cb", "GET /j/201?callback=cb", "GET /j/500?callback=cb"]
--- error_code eval
[404, 201, 500]
--- response_body eval
['{"e":1}', '{"e":1}', '{"e":1}']
--- response_headers eval
["Content-Type: application/json\nContent-Length: 7", "Content-Type: application/json\nContent-Length: 7",
 "Content-Type: application/json\nContent-Length: 7"]



=== TEST 22: J20: unless they are listed, and then with the status that is asked for
--- config
    location /backend { default_type application/json; return 404 '{"e":1}'; }
    location /j { jsonp_callback callback; jsonp_callback_status 404; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
    location /as200 {
        jsonp_callback        callback;
        jsonp_callback_status 4xx 5xx =200;
        proxy_pass            http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend;
    }
--- request eval
["GET /j?callback=cb", "GET /as200?callback=cb", "GET /as200"]
--- error_code eval
[404, 200, 404]
--- response_body eval
['cb({"e":1});', 'cb({"e":1});', '{"e":1}']



=== TEST 23: J21: other types are left alone, whatever the callback
--- config
    location /backend { default_type text/html; return 200 "<p>a</p>"; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
    location /400 {
        jsonp_callback         callback;
        jsonp_callback_invalid 400;
        proxy_pass             http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend;
    }
--- request eval
["GET /j?callback=*", "GET /j?callback=cb", "GET /400?callback=*", "GET /400?callback=cb"]
--- response_body eval
["<p>a</p>", "<p>a</p>", "<p>a</p>", "<p>a</p>"]
--- response_headers eval
["Content-Type: text/html\nContent-Length: 8", "Content-Type: text/html\nContent-Length: 8",
 "Content-Type: text/html\nContent-Length: 8", "Content-Type: text/html\nContent-Length: 8"]



=== TEST 24: J22: the types by default, without case or parameters
--- config
    jsonp_callback callback;
    location /html { default_type text/html; return 200 1; }
    location /json { default_type application/json; return 200 1; }
    location /js { default_type application/javascript; return 200 1; }
    location /textjs { default_type text/javascript; return 200 1; }
    location /plain { default_type text/plain; return 200 1; }
    location /vnd { default_type application/vnd.api+json; return 200 1; }
    location /upper { default_type APPLICATION/JSON; return 200 1; }
--- request eval
["GET /html?callback=cb", "GET /json?callback=cb", "GET /js?callback=cb", "GET /textjs?callback=cb",
 "GET /plain?callback=cb", "GET /vnd?callback=cb", "GET /upper?callback=cb"]
--- response_body eval
["1", "cb(1);", "cb(1);", "cb(1);", "1", "1", "cb(1);"]



=== TEST 25: J22: what an upstream says of its type
--- config
    location /json { default_type "application/json; charset=utf-8"; return 200 1; }
    location /upper { default_type "APPLICATION/JSON"; return 200 1; }
    location /vnd { default_type "application/vnd.api+json"; return 200 1; }
    location /jsonx { default_type "application/jsonx"; return 200 1; }
    location /p/ { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/; }
    location /all/ { jsonp_callback callback; jsonp_callback_types *; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/; }
--- request eval
["GET /p/json?callback=cb", "GET /p/upper?callback=cb", "GET /p/vnd?callback=cb", "GET /p/jsonx?callback=cb",
 "GET /all/vnd?callback=cb", "GET /all/json?callback=cb"]
--- response_body eval
["cb(1);", "cb(1);", "1", "1", "cb(1);", "cb(1);"]



=== TEST 26: J23: the charset stays, and there is one Content-Type
--- config eval
qq{
    location /backend { default_type "application/json; charset=utf-8"; return 200 '"\xc3\xa9"'; }
    location /koi8 { default_type 'application/json;charset=koi8-r'; return 200 1; }
    location /j/ { jsonp_callback callback; proxy_pass http://127.0.0.1:\$TEST_NGINX_SERVER_PORT/; }
}
--- request eval
["GET /j/backend?callback=cb", "GET /j/backend", "GET /j/koi8?callback=cb"]
--- response_body eval
["cb(\"\xc3\xa9\");", "\"\xc3\xa9\"", "cb(1);"]
--- response_headers eval
["Content-Type: text/javascript; charset=utf-8\nContent-Length: 9", "Content-Type: application/json; charset=utf-8\nContent-Length: 4",
 "Content-Type: text/javascript; charset=koi8-r"]
--- raw_response_headers_unlike eval
['(?is)Content-Type.*Content-Type', '(?is)Content-Type.*Content-Type', '(?is)Content-Type.*Content-Type']



=== TEST 27: J23: the charset of nginx's own
--- config
    charset       utf-8;
    charset_types application/json;
    location /backend { charset off; default_type application/json; return 200 1; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
    location /r { jsonp_callback callback; default_type application/json; return 200 1; }
--- request eval
["GET /j?callback=cb", "GET /r?callback=cb", "GET /j"]
--- response_body eval
["cb(1);", "cb(1);", "1"]
--- response_headers eval
["Content-Type: text/javascript; charset=utf-8", "Content-Type: text/javascript; charset=utf-8",
 "Content-Type: application/json; charset=utf-8"]



=== TEST 28: J27: a byte-order mark goes on as it is
--- config eval
qq{
    location /backend { default_type application/json; return 200 '\xef\xbb\xbf{"a":1}'; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:\$TEST_NGINX_SERVER_PORT/backend; }
}
--- request
GET /j?callback=cb
--- response_body eval
"cb(\xef\xbb\xbf{\"a\":1});"
--- response_headers
Content-Length: 15



=== TEST 29: J28, F01: what is cached is the bare answer
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config eval
$::Backend . q{
    sendfile on;
    location /j {
        jsonp_callback    callback;
        proxy_cache       z;
        proxy_cache_key   $uri$arg_id;
        proxy_cache_valid 1h;
        add_header        X-Cache $upstream_cache_status;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend;
    }
}
--- request eval
["GET /j?id=1&callback=a", "GET /j?id=1&callback=b", "GET /j?id=1", "GET /j?id=1&callback=a&_=123"]
--- response_body eval
['a({"a":1});', 'b({"a":1});', '{"a":1}', 'a({"a":1});']
--- response_headers_like eval
["X-Cache: (MISS|HIT)\nContent-Length: 11", "X-Cache: HIT\nContent-Length: 11", "X-Cache: HIT\nContent-Length: 7",
 "X-Cache: HIT\nContent-Length: 11"]



=== TEST 30: J31: an answer that is included in a page is not wrapped
--- config eval
$::Json . q{
    location /page { ssi on; default_type text/html; return 200 '<p><!--# include virtual="/j?callback=cb" --></p>'; }
}
--- request eval
["GET /page", "GET /page?callback=cb"]
--- response_body eval
['<p>{"a":1}</p>', '<p>{"a":1}</p>']



=== TEST 31: J31: a document that is put together is wrapped as a whole
--- config eval
$::Json . q{
    location /doc {
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
        return 200 '[<!--# include virtual="/j?callback=cb" -->,<!--# include virtual="/j" -->]';
    }
}
--- request eval
["GET /doc?callback=cb", "GET /doc", "GET /doc?callback=!"]
--- response_body eval
['cb([{"a":1},{"a":1}]);', '[{"a":1},{"a":1}]', '[{"a":1},{"a":1}]']
--- response_headers eval
["Content-Type: text/javascript", "Content-Type: application/json", "Content-Type: application/json"]



=== TEST 32: J34: the value is looked at, not the name
--- config eval
$::Backend . q{
    location /j { jsonp_callback jsonp; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
}
--- request eval
["GET /j?jsonp=alert(1)", "GET /j?callback=cb", "GET /j?jsonp=ok"]
--- response_body eval
['{"a":1}', '{"a":1}', 'ok({"a":1});']



=== TEST 33: F01: static files, with sendfile and without
--- config
    jsonp_callback callback;
    default_type   application/json;
    location /on/ { alias html/; sendfile on; tcp_nopush on; }
    location /off/ { alias html/; sendfile off; }
    location /raw/ { alias html/; sendfile on; jsonp_callback_escape off; }
    location /direct/ { alias html/; directio 1; output_buffers 2 512; }
--- user_files eval
[["a.json", "[" . "\"\xe2\x80\xa8 and \xe2\x80\xa9\"," x 2000 . "1]"], ["b.json", "[" . "\"some text\"," x 10000 . "1]"]]
--- request eval
["GET /on/a.json?callback=cb", "GET /off/a.json?callback=cb", "GET /direct/a.json?callback=cb", "GET /raw/a.json?callback=cb",
 "GET /on/b.json?callback=cb", "GET /raw/b.json?callback=cb", "GET /direct/b.json?callback=cb", "GET /raw/b.json"]
--- response_body eval
["cb([" . '"\u2028 and \u2029",' x 2000 . "1]);", "cb([" . '"\u2028 and \u2029",' x 2000 . "1]);",
 "cb([" . '"\u2028 and \u2029",' x 2000 . "1]);", "cb([" . "\"\xe2\x80\xa8 and \xe2\x80\xa9\"," x 2000 . "1]);",
 "cb([" . "\"some text\"," x 10000 . "1]);", "cb([" . "\"some text\"," x 10000 . "1]);",
 "cb([" . "\"some text\"," x 10000 . "1]);", "[" . "\"some text\"," x 10000 . "1]"]
--- response_headers eval
["Content-Type: text/javascript", "Content-Type: text/javascript", "Content-Type: text/javascript", "Content-Length: 28008",
 "Content-Type: text/javascript", "Content-Length: 120008", "Content-Type: text/javascript", "Content-Length: 120003"]



=== TEST 34: F01: static files that threads read
--- config
    jsonp_callback callback;
    default_type   application/json;
    aio            threads;
    location /on/ { alias html/; sendfile on; }
    location /off/ { alias html/; sendfile off; output_buffers 2 1k; }
--- user_files eval
[["a.json", "[" . "\"\xe2\x80\xa8 and \xe2\x80\xa9\"," x 2000 . "1]"]]
--- request eval
["GET /on/a.json?callback=cb", "GET /off/a.json?callback=cb", "GET /off/a.json"]
--- response_body eval
["cb([" . '"\u2028 and \u2029",' x 2000 . "1]);", "cb([" . '"\u2028 and \u2029",' x 2000 . "1]);",
 "[" . "\"\xe2\x80\xa8 and \xe2\x80\xa9\"," x 2000 . "1]"]



=== TEST 35: F11: HTTP/0.9
--- config eval
$::Json . q{
    location /held { jsonp_callback callback; default_type application/json; return 200 '[1]'; }
    location /raw { jsonp_callback callback; jsonp_callback_escape off; default_type application/json; return 200 '[1]'; }
}
--- raw_request eval
"GET /j?callback=cb\r\n"
--- http09
--- response_body chomp
cb({"a":1});



=== TEST 36: F11: HTTP/0.9, with the empty line of a later version
--- config eval: $::Json
--- raw_request eval
"GET /j?callback=cb\r\n\r\n"
--- http09
--- response_body chomp
cb({"a":1});



=== TEST 37: F11: HTTP/0.9 without a callback
--- config eval: $::Json
--- raw_request eval
"GET /j\r\n"
--- http09
--- response_body chomp
{"a":1}



=== TEST 38: F12: what nginx itself answers
--- config
    jsonp_callback callback;
    default_type   application/json;
    location /403 { return 403 '{"e":1}'; }
    location /200 { return 200 '{"a":1}'; }
    location /301 { return 301 /x; }
    location /302 { return 302 http://example.com/; }
--- request eval
["GET /403?callback=cb", "GET /200?callback=cb", "GET /301?callback=cb", "GET /302?callback=cb"]
--- error_code eval
[403, 200, 301, 302]
--- response_body_like eval
['^\{"e":1\}$', '^cb\(\{"a":1\}\);$', '^<html>', '^<html>']
