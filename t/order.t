# Where jsonp_callback stands among nginx's own filters, seen from what comes out. Needs nothing but nginx.
#
# Where real_ip_recursive_trust stands is in its levels.t and request.t: limits, rules and rewrites see the client.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);

run_tests();

__DATA__

=== TEST 1: wrapped after gunzip has decoded
--- config
    location /t {
        gunzip         on;
        jsonp_callback callback;
        proxy_pass     http://127.0.0.1:$TEST_NGINX_SERVER_PORT/coded;
    }
    location /coded {
        gzip                     on;
        gzip_min_length          1;
        gzip_types               application/json;
        default_type             application/json;
        return 200 '{"a":1}';
    }
--- request
GET /t?callback=cb
--- more_headers
Accept-Encoding: gzip
--- response_headers
Content-Type: text/javascript
!Content-Encoding
--- response_body chomp
cb({"a":1});



=== TEST 2: wrapped before sub looks at the text, which then has the callback in it
--- config
    location /t {
        default_type     application/json;
        jsonp_callback   callback;
        sub_filter_types application/json;
        sub_filter       'cb({' 'CB([{';
        return 200 '{"a":1}';
    }
--- request
GET /t?callback=cb
--- response_body chomp
CB([{"a":1});



=== TEST 3: wrapped before addition, whose parts stand outside
--- config
    location /t {
        default_type    application/json;
        jsonp_callback  callback;
        addition_types  application/json;
        add_before_body /before;
        add_after_body  /after;
        return 200 '{"a":1}';
    }
    location /before { return 200 'before '; }
    location /after  { return 200 ' after'; }
--- request
GET /t?callback=cb
--- response_body chomp
before cb({"a":1}); after



=== TEST 4: wrapped before charset converts, the callback too
--- http_config
    charset_map from to { 63 43; }
--- config
    location /t {
        default_type   application/json;
        jsonp_callback callback;
        charset_types  application/json;
        source_charset from;
        charset        to;
        return 200 '{"a":1}';
    }
--- request
GET /t?callback=cb
--- response_headers
Content-Type: text/javascript; charset=to
--- response_body chomp
Cb({"a":1});



=== TEST 5: wrapped before SSI puts the document together: what it echoes is not escaped any more
--- config eval
qq{
    location /t {
        default_type   application/json;
        jsonp_callback callback;
        ssi            on;
        ssi_types      application/json;
        set \$separator "\xe2\x80\xa8";
        return 200 '["\$separator",<!--# echo var="separator" encoding="none" -->,<!--# include virtual="/part" -->]';
    }
    location /part { return 200 '{"a":1}'; }
}
--- request
GET /t?callback=cb
--- response_body eval
qq{cb(["\\u2028",\xe2\x80\xa8,{"a":1}]);}



=== TEST 6: wrapped, and given its type, before gzip compresses
--- config
    location /t {
        gunzip     on;
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/coded$is_args$args;
        proxy_http_version 1.1;
        proxy_set_header Accept-Encoding gzip;
        add_header X-Coding $upstream_http_content_encoding;
    }
    location /coded {
        default_type             application/json;
        jsonp_callback           callback;
        gzip                     on;
        gzip_min_length          1;
        gzip_types               text/javascript;
        return 200 '{"a":1}';
    }
--- request
GET /t?callback=cb
--- response_headers
X-Coding: gzip
Content-Type: text/javascript
--- response_body chomp
cb({"a":1});



=== TEST 7: the types that SSI, charset, sub and addition ask for are those of the answer, not of the script
--- config
    location /t {
        default_type     application/json;
        jsonp_callback   callback;
        sub_filter_types text/javascript;
        sub_filter       a b;
        addition_types   text/javascript;
        add_after_body   /after;
        ssi              on;
        ssi_types        text/javascript;
        charset          koi8-r;
        charset_types    text/javascript;
        return 200 '{"a":"<!--# include virtual="/after" -->"}';
    }
    location /after { return 200 ' after'; }
--- request
GET /t?callback=cb
--- response_headers
Content-Type: text/javascript
--- response_body chomp
cb({"a":"<!--# include virtual="/after" -->"});

