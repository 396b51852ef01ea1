# The other filters of nginx: gunzip before, and SSI, charset, sub, addition and gzip behind.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
no_long_string();

our $Gzipped = <<'_EOC_';
    location /gz {
        default_type      application/json;
        gzip              on;
        gzip_types        application/json;
        gzip_min_length   1;
        gzip_http_version 1.0;
        gzip_proxied      any;
        return            200 '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}';
    }
    location /decode/ {
        gunzip           on;
        add_header       X-Coding $upstream_http_content_encoding;
        add_header       X-Vary $upstream_http_vary;
        proxy_set_header Accept-Encoding gzip;
        proxy_pass       http://127.0.0.1:$TEST_NGINX_SERVER_PORT/;
    }
_EOC_

our $Body = '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}';

run_tests();

__DATA__

=== TEST 1: gzip-coded by the upstream, decoded for every client and wrapped
--- config eval
$::Gzipped . q{
    location /j {
        jsonp_callback   callback;
        gunzip           on;
        proxy_set_header Accept-Encoding gzip;
        proxy_pass       http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
}
--- request eval
["GET /j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb HTTP/1.0", "GET /j"]
--- more_headers eval
["", "Accept-Encoding: gzip", "Accept-Encoding: gzip", ""]
--- response_body eval
["cb($::Body);", "cb($::Body);", "cb($::Body);", $::Body]
--- response_headers eval
["!Content-Encoding\nContent-Type: text/javascript", "!Content-Encoding\nContent-Type: text/javascript",
 "!Content-Encoding\nContent-Type: text/javascript", "!Content-Encoding\nContent-Type: application/json"]



=== TEST 2: what is not to be wrapped stays coded for a client that takes it
--- config eval
$::Gzipped . q{
    location /j {
        jsonp_callback       callback;
        jsonp_callback_types application/json;
        gunzip               on;
        proxy_set_header     Accept-Encoding gzip;
        proxy_pass           http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
    location /html {
        jsonp_callback       callback;
        jsonp_callback_types text/css;
        gunzip               on;
        proxy_set_header     Accept-Encoding gzip;
        proxy_pass           http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
}
--- request eval
["GET /j", "GET /j?callback=!", "GET /html?callback=cb"]
--- more_headers
Accept-Encoding: gzip
--- response_body_like eval
['^\x1f\x8b', '^\x1f\x8b', '^\x1f\x8b']
--- response_headers eval
["Content-Encoding: gzip", "Content-Encoding: gzip", "Content-Encoding: gzip"]



=== TEST 3: without gunzip it passes untouched
--- config eval
$::Gzipped . q{
    location /j {
        jsonp_callback   callback;
        proxy_set_header Accept-Encoding gzip;
        proxy_pass       http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
}
--- request eval
["GET /j?callback=cb", "GET /j?callback=cb", "GET /decode/j?callback=cb"]
--- more_headers eval
["", "Accept-Encoding: gzip", ""]
--- response_body_like eval
['^\x1f\x8b', '^\x1f\x8b', '^\{"a":"a+"\}$']
--- response_headers eval
["Content-Encoding: gzip\nContent-Type: application/json", "Content-Encoding: gzip\nContent-Type: application/json",
 "X-Coding: gzip\nContent-Type: application/json"]



=== TEST 4: gzip on compresses what was wrapped
--- config eval
$::Gzipped . q{
    location /plain { default_type application/json; return 200 '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}'; }
    location /j {
        jsonp_callback    callback;
        gzip              on;
        gzip_types        text/javascript;
        gzip_min_length   1;
        gzip_vary         on;
        gzip_http_version 1.0;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/plain;
    }
}
--- request eval
["GET /decode/j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb", "GET /decode/j"]
--- more_headers eval
["", "", "Accept-Encoding: gzip", ""]
--- response_body_like eval
['^cb\(\{"a":"a{56}"\}\);$', '^cb\(\{"a":"a{56}"\}\);$', '^\x1f\x8b', '^\{"a":"a{56}"\}$']
--- response_headers eval
["X-Coding: gzip\nX-Vary: Accept-Encoding", "!Content-Encoding\nVary: Accept-Encoding", "Content-Encoding: gzip\nContent-Type: text/javascript", "!X-Coding"]



=== TEST 5: gzip-coded, decoded, wrapped, and compressed again
--- config eval
$::Gzipped . q{
    location /j {
        jsonp_callback    callback;
        gunzip            on;
        gzip              on;
        gzip_types        text/javascript;
        gzip_min_length   1;
        gzip_http_version 1.0;
        gzip_proxied      any;
        proxy_set_header  Accept-Encoding gzip;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
}
--- request eval
["GET /decode/j?callback=cb", "GET /j?callback=cb", "GET /j?callback=cb", "HEAD /j?callback=cb"]
--- more_headers eval
["", "", "Accept-Encoding: gzip", "Accept-Encoding: gzip"]
--- response_body_like eval
['^cb\(\{"a":"a{56}"\}\);$', '^cb\(\{"a":"a{56}"\}\);$', '^\x1f\x8b', "^\$"]
--- response_headers eval
["X-Coding: gzip", "!Content-Encoding", "Content-Encoding: gzip", "Content-Type: text/javascript"]
--- raw_response_headers_unlike eval
["(?is)Content-Encoding.*Content-Encoding", "(?is)Content-Encoding", "(?is)Content-Encoding.*Content-Encoding",
 "(?is)Content-Encoding.*Content-Encoding"]



=== TEST 6: gzip on leaves gzip-coded answers alone that nobody decodes
--- config eval
$::Gzipped . q{
    location /j {
        jsonp_callback    callback;
        gzip              on;
        gzip_types        *;
        gzip_min_length   1;
        gzip_http_version 1.0;
        gzip_proxied      any;
        proxy_set_header  Accept-Encoding gzip;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
}
--- request
GET /decode/j?callback=cb
--- response_body eval: $::Body
--- response_headers
X-Coding: gzip



=== TEST 7: HEAD of a gzip-coded answer
--- config eval
$::Gzipped . q{
    location /j {
        jsonp_callback   callback;
        gunzip           on;
        proxy_set_header Accept-Encoding gzip;
        proxy_pass       http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
}
--- request eval
["HEAD /j?callback=cb", "HEAD /j?callback=cb"]
--- more_headers eval
["", "Accept-Encoding: gzip"]
--- response_body eval
["", ""]
--- response_headers eval
["Content-Type: text/javascript\n!Content-Length", "Content-Type: text/javascript\n!Content-Length\n!Content-Encoding"]



=== TEST 8: files that are stored gzip-coded
--- config
    location /t/ {
        alias          html/;
        default_type   application/json;
        jsonp_callback callback;
        gunzip         on;
        gzip_static    always;
    }
    location /coded/ {
        alias          html/;
        default_type   application/json;
        jsonp_callback callback;
        gzip_static    always;
    }
--- user_files eval
[["a.json.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x8b6\xd4Q0\xd2Q0\x8e\x05\x00\xc1;!\xb8\x09\x00\x00\x00"]]
--- request eval
["GET /t/a.json?callback=cb", "GET /t/a.json?callback=cb", "GET /coded/a.json?callback=cb"]
--- more_headers eval
["", "Accept-Encoding: gzip", ""]
--- response_body_like eval
['^cb\(\[1, 2, 3\]\);$', '^cb\(\[1, 2, 3\]\);$', '^\x1f\x8b']
--- response_headers eval
["!Content-Encoding\nContent-Type: text/javascript\n!Last-Modified", "!Content-Encoding\nContent-Type: text/javascript\n!Last-Modified",
 "Content-Encoding: gzip\nContent-Length: 29"]



=== TEST 9: charset converts what is wrapped
--- http_config
    charset_map koi8-r utf-8 { C1 D0B0; E1 D090; }
--- config
    location /t/ {
        alias          html/;
        jsonp_callback callback;
        default_type   application/json;
        source_charset koi8-r;
        charset        utf-8;
        charset_types  application/json;
    }
--- user_files eval
[["a.json", "\"\xc1\xe1\""]]
--- request eval
["GET /t/a.json?callback=cb", "GET /t/a.json"]
--- response_body eval
["cb(\"\xd0\xb0\xd0\x90\");", "\"\xd0\xb0\xd0\x90\""]
--- response_headers eval
["Content-Type: text/javascript; charset=utf-8", "Content-Type: application/json; charset=utf-8"]



=== TEST 10: charset converts what is wrapped, in its place
--- http_config
    charset_map koi8-r windows-1251 { C1 E0; E1 C0; 63 43; }
--- config
    source_charset koi8-r;
    charset        windows-1251;
    charset_types  application/json;
    default_type   application/json;
    location /plain/ { alias html/; charset off; source_charset off; }
    location /t/ { alias html/; jsonp_callback callback; }
    location /raw/ { alias html/; jsonp_callback callback; jsonp_callback_escape off; }
    location /p/ { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/plain/; }
    location /r { jsonp_callback callback; return 200 '"abc"'; }
--- user_files eval
[["a.json", "\"\xc1\xe1\""]]
--- request eval
["GET /t/a.json?callback=cb", "GET /raw/a.json?callback=cb", "GET /p/a.json?callback=cb", "GET /t/a.json?callback=cb", "GET /t/a.json",
 "GET /r?callback=cb", "GET /r?callback=cb"]
--- response_body eval
["Cb(\"\xe0\xc0\");", "Cb(\"\xe0\xc0\");", "Cb(\"\xe0\xc0\");", "Cb(\"\xe0\xc0\");", "\"\xe0\xc0\"", 'Cb("abC");', 'Cb("abC");']
--- response_headers eval
["Content-Type: text/javascript; charset=windows-1251", "Content-Type: text/javascript; charset=windows-1251",
 "Content-Type: text/javascript; charset=windows-1251", "Content-Type: text/javascript; charset=windows-1251",
 "Content-Type: application/json; charset=windows-1251", "Content-Type: text/javascript; charset=windows-1251",
 "Content-Type: text/javascript; charset=windows-1251"]



=== TEST 11: sub_filter works on what is wrapped, by the type that it had
--- config
    default_type     application/json;
    jsonp_callback   callback;
    sub_filter_types application/json;
    location /first { sub_filter "cb(" "CALL("; return 200 '["one",1]'; }
    location /body { sub_filter one two; return 200 '["one",1]'; }
    location /last { sub_filter "]);" "].end;"; return 200 '["one",1]'; }
--- request eval
["GET /first?callback=cb", "GET /body?callback=cb", "GET /body", "GET /last?callback=cb"]
--- response_body eval
['CALL(["one",1]);', 'cb(["two",1]);', '["two",1]', 'cb(["one",1].end;']
--- response_headers eval
["Content-Type: text/javascript\n!Content-Length", "Content-Type: text/javascript\n!Content-Length",
 "Content-Type: application/json\n!Content-Length", "Content-Type: text/javascript"]



=== TEST 12: addition puts its text around what is wrapped
--- config
    location /before { internal; return 200 "/*before*/"; }
    location /after { internal; return 200 "/*after*/"; }
    location /t {
        jsonp_callback      callback;
        default_type        application/json;
        addition_types      application/json;
        add_before_body     /before;
        add_after_body      /after;
        return              200 1;
    }
--- request eval
["GET /t?callback=cb", "GET /t"]
--- response_body eval
["/*before*/cb(1);/*after*/", "/*before*/1/*after*/"]
--- response_headers eval
["Content-Type: text/javascript\n!Content-Length", "Content-Type: application/json\n!Content-Length"]



=== TEST 13: SSI in a document that is wrapped, and U+2028 in its parts
--- config eval
qq{
    location /part { default_type application/json; return 200 '"\xe2\x80\xa8"'; }
    location /doc {
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
        return 200 '["\xe2\x80\xa9",<!--# include virtual="/part" -->,<!--# if expr="1" -->1<!--# endif -->]';
    }
}
--- request eval
["GET /doc?callback=cb", "GET /doc"]
--- response_body eval
['cb(["\u2029","\u2028",1]);', "[\"\xe2\x80\xa9\",\"\xe2\x80\xa8\",1]"]



=== TEST 14: SSI: a document of nothing but an include
--- config
    location /part { default_type application/json; return 200 '{"a":1}'; }
    location /doc {
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
        return 200 '<!--# include virtual="/part" -->';
    }
    location /empty {
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
        return 200 '<!--# set var="x" value="y" -->';
    }
--- request eval
["GET /doc?callback=cb", "GET /empty?callback=cb", "GET /empty"]
--- response_body eval
['cb({"a":1});', 'cb();', '']
--- no_error_log
zero size buf
[alert]



=== TEST 15: SSI over HTTP/1.0, and HEAD
--- config
    location /part { default_type application/json; return 200 '{"a":1}'; }
    location /doc {
        ssi            on;
        ssi_types      application/json;
        default_type   application/json;
        jsonp_callback callback;
        return 200 '[<!--# include virtual="/part" -->]';
    }
--- request eval
["GET /doc?callback=cb HTTP/1.0", "HEAD /doc?callback=cb"]
--- response_body eval
['cb([{"a":1}]);', '']



=== TEST 16: several filters at once
--- config eval
$::Gzipped . q{
    location /part { default_type application/json; return 200 '{"part":1}'; }
    location /ssi-gz {
        default_type      application/json;
        gzip              on;
        gzip_types        application/json;
        gzip_min_length   1;
        gzip_http_version 1.0;
        gzip_proxied      any;
        return            200 '[<!--# include virtual="/part" -->,"one","one","one","one"]';
    }
    location /j {
        jsonp_callback    callback;
        gunzip            on;
        ssi               on;
        ssi_types         application/json;
        sub_filter        one two;
        sub_filter_types  application/json;
        sub_filter_once   off;
        gzip              on;
        gzip_types        text/javascript;
        gzip_min_length   1;
        gzip_http_version 1.0;
        gzip_proxied      any;
        proxy_set_header  Accept-Encoding gzip;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/ssi-gz;
    }
}
--- request eval
["GET /decode/j?callback=cb", "GET /j?callback=cb", "GET /j"]
--- response_body eval
['cb([{"part":1},"two","two","two","two"]);', 'cb([{"part":1},"two","two","two","two"]);', '[{"part":1},"two","two","two","two"]']



=== TEST 17: F13: a large answer in pieces, at a limited rate
--- config
    location /t/ {
        alias          html/;
        default_type   application/json;
        jsonp_callback callback;
        limit_rate     200k;
        output_buffers 1 4k;
    }
--- user_files eval
[["a.json", "[" . "\"some text\"," x 5000 . "1]"]]
--- request
GET /t/a.json?callback=cb
--- response_body eval
"cb([" . "\"some text\"," x 5000 . "1]);"



=== TEST 18: gzip-coded in a cache, and decoded for every client
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config eval
$::Gzipped . q{
    location /j {
        jsonp_callback    callback;
        gunzip            on;
        proxy_cache       z;
        proxy_cache_key   $uri;
        proxy_cache_valid 1h;
        proxy_set_header  Accept-Encoding gzip;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gz;
    }
}
--- request eval
["GET /j?callback=a", "GET /j?callback=b", "GET /j?callback=c", "GET /j", "GET /j"]
--- more_headers eval
["", "Accept-Encoding: gzip", "", "", "Accept-Encoding: gzip"]
--- response_body_like eval
['^a\(\{"a":"a{56}"\}\);$', '^b\(\{"a":"a{56}"\}\);$', '^c\(\{"a":"a{56}"\}\);$', '^\{"a":"a{56}"\}$', '^\x1f\x8b']
--- response_headers eval
["!Content-Encoding", "!Content-Encoding", "!Content-Encoding", "!Content-Encoding", "Content-Encoding: gzip"]



=== TEST 19: subrequests that are no part of the answer
--- config
    default_type   application/json;
    jsonp_callback callback;
    location /auth { internal; return 204; }
    location /auth200 { internal; default_type application/json; return 200 '{}'; }
    location /backend { jsonp_callback off; return 200 '{"a":1}'; }
    location /mirror { internal; return 200 '{}'; }
    location /t { auth_request /auth; mirror /mirror; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
    location /u { auth_request /auth200; mirror /mirror; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
--- request eval
["GET /t?callback=cb", "GET /u?callback=cb", "GET /u"]
--- response_body eval
['cb({"a":1});', 'cb({"a":1});', '{"a":1}']
--- response_headers eval
["Content-Length: 12", "Content-Length: 12", "Content-Length: 7"]



=== TEST 20: an internal redirect of the upstream's
--- config
    location /backend { default_type application/json; add_header X-Accel-Redirect "/inner?$args"; return 200; }
    location /backend/bare { default_type application/json; add_header X-Accel-Redirect /inner; return 200; }
    location /inner { internal; default_type application/json; jsonp_callback callback; return 200 '{"a":1}'; }
    location /j { jsonp_callback callback; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend; }
--- request eval
["GET /j?callback=cb", "GET /j/bare?callback=cb"]
--- response_body eval
['cb({"a":1});', '{"a":1}']
