# $jsonp_callback and $jsonp_args.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
no_long_string();

run_tests();

__DATA__

=== TEST 1: the validated callback
--- config
    jsonp_callback callback cb;
    location /t { return 200 "[$jsonp_callback]"; }
    location /member { jsonp_callback_syntax member; return 200 "[$jsonp_callback]"; }
    location /off { jsonp_callback off; return 200 "[$jsonp_callback]"; }
    location /invalid { jsonp_callback_invalid 400; return 200 "[$jsonp_callback]"; }
--- request eval
["GET /t?callback=a", "GET /t?cb=%62", "GET /t", "GET /t?callback=!", "GET /t?callback=a.b", "GET /member?callback=a.b%5B1%5D",
 "GET /off?callback=a", "GET /t?callback=" . "a" x 255, "GET /t?callback=" . "a" x 256, "GET /t?callback=", "GET /t?callback",
 "GET /invalid?callback=!"]
--- response_body eval
["[a]", "[b]", "[]", "[]", "[]", "[a.b[1]]", "[]", "[" . "a" x 255 . "]", "[]", "[]", "[]", "[]"]



=== TEST 2: in a condition, and in a header
--- config
    jsonp_callback callback;
    location /t {
        default_type application/json;
        add_header   X-Callback $jsonp_callback;
        add_header   X-Args $jsonp_args;
        if ($jsonp_callback) { return 200 1; }
        return 200 2;
    }
--- request eval
["GET /t?callback=a&x=1", "GET /t?x=1&callback=!"]
--- response_body eval
["a(1);", "2"]
--- response_headers eval
["X-Callback: a\nX-Args: x=1", "!X-Callback\nX-Args: x=1"]



=== TEST 3: the arguments without the callbacks and without jQuery's
--- config
    jsonp_callback callback jsonp;
    location /t { return 200 "[$jsonp_args]"; }
--- request eval
["GET /t", "GET /t?", "GET /t?callback=a", "GET /t?b=2&a=1", "GET /t?b=2&callback=x&a=1", "GET /t?jsonp=1&b=2&CallBack=x&a=1&_=123",
 "GET /t?_=1", "GET /t?_=1&_x=2&x_=3", "GET /t?callback=!&a", "GET /t?callback=a&callback=b&c=d", "GET /t?callback", "GET /t?callbacks=1"]
--- response_body eval
["[]", "[]", "[]", "[b=2&a=1]", "[b=2&a=1]", "[b=2&a=1]", "[]", "[_x=2&x_=3]", "[a]", "[c=d]", "[]", "[callbacks=1]"]



=== TEST 4: as they were sent: order, encoding, empty values
--- config
    jsonp_callback callback;
    location /t { return 200 "[$jsonp_args]"; }
--- request eval
["GET /t?z=%20a+b%26c&callback=cb&a=%C3%A9", "GET /t?a=&callback=cb&b=", "GET /t?a=1&a=2&callback=cb&a=3", "GET /t?a[]=1&callback=cb&a[]=2",
 "GET /t?c%61llback=1&callback=cb", "GET /t?a=b=c&callback=cb"]
--- response_body eval
["[z=%20a+b%26c&a=%C3%A9]", "[a=&b=]", "[a=1&a=2&a=3]", "[a[]=1&a[]=2]", "[c%61llback=1]", "[a=b=c]"]



=== TEST 5: the variables of an internal request are its location's
--- config
    jsonp_callback callback;
    location /t { rewrite ^ /inner; }
    location /inner { jsonp_callback cb; return 200 "[$jsonp_callback|$jsonp_args]"; }
    location /args { rewrite ^ /inner?cb=new? last; }
--- request eval
["GET /t?callback=a&cb=b&x=1", "GET /args?callback=a&cb=b&x=1"]
--- response_body eval
["[b|callback=a&x=1]", "[new|]"]



=== TEST 6: one stored answer for ten callbacks
--- http_config
    proxy_cache_path cache keys_zone=z:1m;
--- config
    location /backend { default_type application/json; return 200 '{"$args":1}'; }
    location /j {
        jsonp_callback    callback;
        proxy_cache       z;
        proxy_cache_key   "$host$uri?$jsonp_args";
        proxy_cache_valid 1h;
        add_header        X-Cache $upstream_cache_status;
        proxy_pass        http://127.0.0.1:$TEST_NGINX_SERVER_PORT/backend?$jsonp_args;
    }
--- request eval
["GET /j?id=1&callback=cb0&_=1", "GET /j?callback=cb1&id=1&_=2", "GET /j?id=1&callback=cb2&_=3", "GET /j?id=1&_=4&callback=cb3",
 "GET /j?id=1&CALLBACK=cb4", "GET /j?id=1&callback=cb5&callback=x", "GET /j?id=1&callback=!", "GET /j?id=1", "GET /j?id=1&callback=",
 "GET /j?_=5&id=1&callback=cb9"]
--- response_body eval
['cb0({"id=1":1});', 'cb1({"id=1":1});', 'cb2({"id=1":1});', 'cb3({"id=1":1});', 'cb4({"id=1":1});', 'cb5({"id=1":1});',
 '{"id=1":1}', '{"id=1":1}', '{"id=1":1}', 'cb9({"id=1":1});']
--- response_headers_like eval
["X-Cache: (MISS|HIT)", "X-Cache: HIT", "X-Cache: HIT", "X-Cache: HIT", "X-Cache: HIT", "X-Cache: HIT", "X-Cache: HIT",
 "X-Cache: HIT", "X-Cache: HIT", "X-Cache: HIT"]



=== TEST 7: in the log
--- http_config
    log_format jsonp 'callback=$jsonp_callback args=$jsonp_args';
--- config
    location /t { jsonp_callback callback; access_log logs/access.log jsonp; return 200 1; }
--- request
GET /t?callback=a&x=1
--- response_body chomp
1
--- access_log
callback=a args=x=1
