# The directives: what they hold by default, where, and what they refuse.
use Test::Nginx::Socket 'no_plan';

no_long_string();

run_tests();

__DATA__

=== TEST 1: off by default
--- config
    default_type application/json;
    location /t { return 200 1; }
    location /off { jsonp_callback off; return 200 1; }
--- request eval
["GET /t?callback=cb", "GET /off?callback=cb&off=cb"]
--- response_body eval
["1", "1"]
--- response_headers eval
["Content-Type: application/json", "Content-Type: application/json"]



=== TEST 2: inherited from http to server to location to if, and replaced in each
--- http_config
    jsonp_callback a;
--- config
    default_type application/json;
    location /http { return 200 1; }
    location /outer {
        jsonp_callback b;
        location /outer/inner { return 200 1; }
        location /outer/own { jsonp_callback c; return 200 1; }
        location /outer/off { jsonp_callback off; return 200 1; }
        if ($arg_if) { jsonp_callback d; return 200 1; }
        return 200 1;
    }
    location /iffed {
        jsonp_callback off;
        if ($arg_b) { return 200 1; }
        if ($arg_if) { jsonp_callback d; return 200 1; }
    }
--- request eval
["GET /http?a=A&b=B", "GET /outer?a=A&b=B", "GET /outer/inner?a=A&b=B", "GET /outer/own?a=A&b=B&c=C",
 "GET /outer/off?a=A&b=B", "GET /iffed?a=A&b=B&d=D", "GET /iffed?if=1&d=D"]
--- response_body eval
["A(1);", "B(1);", "B(1);", "C(1);", "1", "1", "D(1);"]



=== TEST 3: a server's
--- http_config
    jsonp_callback a;
--- config
    default_type   application/json;
    jsonp_callback b;
    location /t { return 200 1; }
--- request eval
["GET /t?a=A&b=B", "GET /t?a=A"]
--- response_body eval
["B(1);", "1"]



=== TEST 4: in an `if` with a proxied answer
--- config
    default_type application/json;
    location /backend { return 200 1; }
    location /t {
        if ($arg_cross) { jsonp_callback callback; }
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend;
    }
--- request eval
["GET /t?callback=cb&cross=1", "GET /t?callback=cb"]
--- response_body eval
["cb(1);", "1"]



=== TEST 5: each directive is inherited on its own
--- http_config
    jsonp_callback             a;
    jsonp_callback_syntax      member;
    jsonp_callback_output_type application/javascript;
    jsonp_callback_types       text/plain;
    jsonp_callback_guard       on;
    jsonp_callback_status      404;
    jsonp_callback_invalid     400;
    jsonp_callback_escape      off;
--- config eval
qq{
    location /all { return 404 "\xe2\x80\xa8"; }
    location /name { jsonp_callback b; return 404 1; }
    location /syntax { jsonp_callback_syntax word; return 404 1; }
    location /type { jsonp_callback_output_type off; return 404 1; }
    location /types { jsonp_callback_types application/json; return 404 1; }
    location /guard { jsonp_callback_guard off; return 404 1; }
    location /status { jsonp_callback_status 200; return 404 1; }
    location /invalid { jsonp_callback_invalid pass; return 404 1; }
    location /escape { jsonp_callback_escape on; return 404 "\xe2\x80\xa8"; }
}
--- request eval
["GET /all?a=x.y", "GET /name?a=x.y&b=z.z", "GET /syntax?a=x.y", "GET /syntax?a=xy", "GET /type?a=x.y", "GET /types?a=x.y",
 "GET /guard?a=x.y", "GET /status?a=x.y", "GET /invalid?a=!", "GET /escape?a=x.y"]
--- error_code eval
[404, 404, 400, 404, 404, 404, 404, 404, 404, 404]
--- response_body_like eval
["^/\\*\\*/typeof x\\.y==='function'&&x\\.y\\(\xe2\x80\xa8\\);\$", "^/\\*\\*/typeof z\\.z==='function'&&z\\.z\\(1\\);\$",
 "400 Bad Request", "^/\\*\\*/typeof xy==='function'&&xy\\(1\\);\$", "^/\\*\\*/typeof x\\.y==='function'&&x\\.y\\(1\\);\$",
 "^1\$", "^x\\.y\\(1\\);\$", "^1\$", "^1\$", "^/\\*\\*/typeof x\\.y==='function'&&x\\.y\\(\\\\u2028\\);\$"]
--- response_headers eval
["Content-Type: application/javascript\nX-Content-Type-Options: nosniff", "Content-Type: application/javascript",
 "Content-Type: text/html", "Content-Type: application/javascript", "Content-Type: text/plain\nX-Content-Type-Options: nosniff",
 "Content-Type: text/plain\n!X-Content-Type-Options", "Content-Type: application/javascript\n!X-Content-Type-Options",
 "Content-Type: text/plain", "Content-Type: text/plain", "Content-Type: application/javascript"]



=== TEST 6: several names: the first of them that is there and not empty, whatever their order in the query
--- config
    default_type   application/json;
    jsonp_callback callback jsonp cb;
    location /t { return 200 1; }
--- request eval
["GET /t?cb=c&jsonp=b&callback=a", "GET /t?cb=c&jsonp=b", "GET /t?cb=c", "GET /t?cb=c&callback=&jsonp=b", "GET /t?callback&cb=c",
 "GET /t?callback=!&cb=c"]
--- response_body eval
["a(1);", "b(1);", "c(1);", "b(1);", "c(1);", "1"]



=== TEST 7: names as $arg_name has them: without case, undecoded, the first one
--- config
    default_type   application/json;
    jsonp_callback callBack;
    location /t { return 200 1; }
--- request eval
["GET /t?CALLBACK=a", "GET /t?callback=a&callback=b", "GET /t?c%61llback=a", "GET /t?callback=&callback=b", "GET /t?Callback=a&callback=b",
 "GET /t?callback&callback=b"]
--- response_body eval
["a(1);", "a(1);", "1", "1", "a(1);", "b(1);"]



=== TEST 8: percent-decoded once
--- config
    default_type   application/json;
    jsonp_callback callback;
    location /t { return 200 1; }
--- request eval
["GET /t?callback=%63%62", "GET /t?callback=%5f%5F", "GET /t?callback=%2563", "GET /t?callback=%zz", "GET /t?callback=%"]
--- response_body eval
["cb(1);", "__(1);", "1", "1", "1"]



=== TEST 9: a name with other characters
--- config
    jsonp_callback "a b" x-y;
    default_type   application/json;
    location /t { return 200 1; }
--- request
GET /t?x-y=cb
--- response_body chomp
cb(1);



=== TEST 10: duplicate directive
--- config
    jsonp_callback a;
    jsonp_callback b;
    location /t { return 200 1; }
--- must_die
--- error_log
"jsonp_callback" directive is duplicate



=== TEST 11: off beside a name
--- config
    jsonp_callback a off;
--- must_die
--- error_log
"jsonp_callback" directive



=== TEST 12: no name
--- config
    jsonp_callback;
--- must_die
--- error_log
invalid number of arguments in "jsonp_callback" directive



=== TEST 13: types replace the default, and add up in one place
--- config
    jsonp_callback       callback;
    jsonp_callback_types text/plain;
    jsonp_callback_types text/css;
    location /plain { default_type text/plain; return 200 1; }
    location /css { default_type text/css; return 200 1; }
    location /json { default_type application/json; return 200 1; }
    location /own { jsonp_callback_types text/html; default_type text/plain; return 200 1; }
    location /all { jsonp_callback_types *; default_type x/y; return 200 1; }
--- request eval
["GET /plain?callback=cb", "GET /css?callback=cb", "GET /json?callback=cb", "GET /own?callback=cb", "GET /all?callback=cb"]
--- response_body eval
["cb(1);", "cb(1);", "1", "1", "cb(1);"]



=== TEST 14: an unknown syntax
--- config
    jsonp_callback_syntax words;
--- must_die
--- error_log
invalid value "words"



=== TEST 15: two syntaxes
--- config
    jsonp_callback_syntax word;
    jsonp_callback_syntax member;
--- must_die
--- error_log
"jsonp_callback_syntax" directive is duplicate



=== TEST 16: a member
--- config
    default_type          application/json;
    jsonp_callback        callback;
    jsonp_callback_syntax member;
    location /t { return 200 1; }
--- request eval
['GET /t?callback=a', 'GET /t?callback=a.b.c', 'GET /t?callback=$', 'GET /t?callback=$.x_$1', 'GET /t?callback=a[0][12].b[3]',
 'GET /t?callback=_', 'GET /t?callback=%24jsonp', 'GET /t?callback=a[0].b', 'GET /t?callback=1', 'GET /t?callback=a-b',
 'GET /t?callback=a%20b', "GET /t?callback=%C3%A9"]
--- response_body eval
['a(1);', 'a.b.c(1);', '$(1);', '$.x_$1(1);', 'a[0][12].b[3](1);', '_(1);', '$jsonp(1);', 'a[0].b(1);', '1', '1', '1', '1']



=== TEST 17: a word
--- config
    default_type          application/json;
    jsonp_callback        callback;
    jsonp_callback_syntax word;
    location /t { return 200 1; }
--- request eval
['GET /t?callback=a', 'GET /t?callback=1', 'GET /t?callback=_1a', 'GET /t?callback=a.b', 'GET /t?callback=$', 'GET /t?callback=a-b']
--- response_body eval
['a(1);', '1(1);', '_1a(1);', '1', '1', '1']



=== TEST 18: invalid=: codes out of range
--- config
    jsonp_callback_invalid 399;
--- must_die
--- error_log
invalid value "399"



=== TEST 19: invalid=: codes out of range
--- config
    jsonp_callback_invalid 600;
--- must_die
--- error_log
invalid value "600"



=== TEST 20: invalid=: no code
--- config
    jsonp_callback_invalid drop;
--- must_die
--- error_log
invalid value "drop"



=== TEST 21: invalid=: a code has three digits and nothing else
--- config
    jsonp_callback_invalid +400;
--- must_die
--- error_log
invalid value "+400"



=== TEST 22: invalid=: twice
--- config
    jsonp_callback_invalid pass;
    jsonp_callback_invalid 400;
--- must_die
--- error_log
"jsonp_callback_invalid" directive is duplicate



=== TEST 23: status: no status
--- config
    jsonp_callback_status abc;
--- must_die
--- error_log
"abc"



=== TEST 24: status: out of range
--- config
    jsonp_callback_status 600;
--- must_die
--- error_log
"600"



=== TEST 25: status: a class that is none
--- config
    jsonp_callback_status 6xx;
--- must_die
--- error_log
"6xx"



=== TEST 26: status: sent as what is no status
--- config
    jsonp_callback_status any =99;
--- must_die
--- error_log
"=99"



=== TEST 27: status: sent as two
--- config
    jsonp_callback_status any =200 =201;
--- must_die
--- error_log
"jsonp_callback_status" directive



=== TEST 28: status: answers without a whole body
--- config
    jsonp_callback_status 200 206;
--- must_die
--- error_log
"206"



=== TEST 29: status: twice
--- config
    jsonp_callback_status 200;
    jsonp_callback_status 404;
--- must_die
--- error_log
"jsonp_callback_status" directive is duplicate



=== TEST 30: output type
--- config
    default_type   application/json;
    jsonp_callback callback;
    location /default { return 200 1; }
    location /own { jsonp_callback_output_type application/javascript; return 200 1; }
    location /off { jsonp_callback_output_type off; return 200 1; }
    location /charset { jsonp_callback_output_type "text/javascript; charset=utf-8"; return 200 1; }
--- request eval
["GET /default?callback=cb", "GET /own?callback=cb", "GET /off?callback=cb", "GET /charset?callback=cb", "GET /own", "GET /own?callback=!"]
--- response_headers eval
["Content-Type: text/javascript", "Content-Type: application/javascript", "Content-Type: application/json",
 "Content-Type: text/javascript; charset=utf-8", "Content-Type: application/json", "Content-Type: application/json"]
--- response_body eval
["cb(1);", "cb(1);", "cb(1);", "cb(1);", "1", "1"]



=== TEST 31: output type: not a type
--- config
    jsonp_callback_output_type javascript;
--- must_die
--- error_log
"javascript"



=== TEST 32: output type: twice
--- config
    jsonp_callback_output_type off;
    jsonp_callback_output_type text/javascript;
--- must_die
--- error_log
"jsonp_callback_output_type" directive is duplicate



=== TEST 33: escape
--- config
    default_type   application/json;
    jsonp_callback callback;
    location /default/ { alias html/; }
    location /off/ { alias html/; jsonp_callback_escape off; }
--- user_files eval
[["a.json", "\"\xe2\x80\xa8-\xe2\x80\xa9-\xe2\x80\xaa-\xe2\x80-\xe2\xe2\x80\xa8\""]]
--- request eval
["GET /default/a.json?callback=cb", "GET /off/a.json?callback=cb", "GET /default/a.json"]
--- response_body eval
["cb(\"\\u2028-\\u2029-\xe2\x80\xaa-\xe2\x80-\xe2\\u2028\");", "cb(\"\xe2\x80\xa8-\xe2\x80\xa9-\xe2\x80\xaa-\xe2\x80-\xe2\xe2\x80\xa8\");",
 "\"\xe2\x80\xa8-\xe2\x80\xa9-\xe2\x80\xaa-\xe2\x80-\xe2\xe2\x80\xa8\""]
--- response_headers eval
["Content-Length: 35", "Content-Length: 26", "Content-Length: 21"]



=== TEST 34: escape: a body that ends inside of a separator
--- config
    default_type   application/json;
    jsonp_callback callback;
    location /t/ { alias html/; }
--- user_files eval
[["1", "\xe2"], ["2", "a\xe2\x80"], ["3", "\xe2\x80\xa8"], ["4", "\xe2\x80\xa8\xe2\x80"]]
--- request eval
["GET /t/1?callback=cb", "GET /t/2?callback=cb", "GET /t/3?callback=cb", "GET /t/4?callback=cb"]
--- response_body eval
["cb(\xe2);", "cb(a\xe2\x80);", "cb(\\u2028);", "cb(\\u2028\xe2\x80);"]
--- response_headers eval
["Content-Length: 6", "Content-Length: 8", "Content-Length: 11", "Content-Length: 13"]



=== TEST 35: escape: neither on nor off
--- config
    jsonp_callback_escape yes;
--- must_die
--- error_log
invalid value "yes" in "jsonp_callback_escape" directive



=== TEST 36: escape: twice
--- config
    jsonp_callback_escape on;
    jsonp_callback_escape off;
--- must_die
--- error_log
"jsonp_callback_escape" directive is duplicate



=== TEST 37: guard
--- config
    default_type          application/json;
    jsonp_callback        callback;
    jsonp_callback_syntax member;
    jsonp_callback_guard  on;
    location /t { return 200 1; }
    location /off { jsonp_callback_guard off; return 200 1; }
    location /html { default_type text/html; return 200 1; }
    location /backend { jsonp_callback off; add_header X-Content-Type-Options nosniff; return 200 1; }
    location /once { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
--- request eval
["GET /t?callback=cb", "GET /t?callback=a.b[0]", "GET /off?callback=cb", "GET /t", "GET /t?callback=!", "GET /html?callback=cb",
 "GET /once?callback=cb", "HEAD /t?callback=cb"]
--- response_body eval
["/**/typeof cb==='function'&&cb(1);", "/**/typeof a.b[0]==='function'&&a.b[0](1);", "cb(1);", "1", "1", "1",
 "/**/typeof cb==='function'&&cb(1);", ""]
--- response_headers eval
["X-Content-Type-Options: nosniff\nContent-Length: 34", "X-Content-Type-Options: nosniff\nContent-Length: 42",
 "!X-Content-Type-Options\nContent-Length: 6", "!X-Content-Type-Options", "!X-Content-Type-Options", "!X-Content-Type-Options",
 "X-Content-Type-Options: nosniff", "X-Content-Type-Options: nosniff"]
--- raw_response_headers_unlike eval
['(?is)nosniff.*nosniff', '(?is)nosniff.*nosniff', 'nosniff', 'nosniff', 'nosniff', 'nosniff', '(?is)nosniff.*nosniff', '(?is)nosniff.*nosniff']



=== TEST 38: guard: neither on nor off
--- config
    jsonp_callback_guard 1;
--- must_die
--- error_log
invalid value "1" in "jsonp_callback_guard" directive



=== TEST 39: guard: twice
--- config
    jsonp_callback_guard on;
    jsonp_callback_guard on;
--- must_die
--- error_log
"jsonp_callback_guard" directive is duplicate



=== TEST 40: only GET and HEAD
--- config
    default_type          application/json;
    jsonp_callback        callback;
    jsonp_callback_status any;
    location /t { return 200 1; }
--- request eval
["POST /t?callback=cb\na=1", "PUT /t?callback=cb\na=1", "DELETE /t?callback=cb", "OPTIONS /t?callback=cb", "GET /t?callback=cb"]
--- response_body eval
["1", "1", "1", "1", "cb(1);"]
