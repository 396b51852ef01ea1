# Real memcached servers that the real Perl client fills.
use Test::Nginx::Socket 'no_plan';

our $Upstream = <<'_EOC_';
    upstream m {
        memcached_hash ketama_points=150;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_1;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_2;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_3;
        keepalive 300;
    }
_EOC_

no_root_location();

run_tests();

__DATA__

=== TEST 1: the main job: JSONP out of a cluster that Perl filled
--- memcached: 3
--- memcached_perl
use Cache::Memcached::Fast;
my $cache = Cache::Memcached::Fast->new({
    servers => [ map { "localhost:$ENV{\"TEST_NGINX_MEMCACHED_PORT_$_\"}" } 1 .. 3 ],
    namespace => 'testapp::', ketama_points => 150 });
$cache->set("100::$_", qq({"status":"success", "count":1000})) or die for 100 .. 120;
--- http_config eval: $::Upstream
--- config
    location /count {
        default_type         text/javascript;
        jsonp_callback       callback;
        jsonp_callback_types text/javascript;

        set $memcached_key       "$arg_user_id::$arg_entry_id";
        set $memcached_namespace "testapp::";
        memcached_pass           m;
        error_page 404 = @fetch;
    }
    location @fetch { return 200 "from the application\n"; }
--- request eval
['GET /count?user_id=100&entry_id=100&callback=cb_func_hoge', 'GET /count?user_id=100&entry_id=120',
 'GET /count?user_id=100&entry_id=121']
--- response_body eval
['cb_func_hoge({"status":"success", "count":1000});', '{"status":"success", "count":1000}', "from the application\n"]



=== TEST 2: M06: every key of 100 is found, the namespace sent but not hashed
--- memcached: 3
--- memcached_perl
use Cache::Memcached::Fast;
my $cache = Cache::Memcached::Fast->new({
    servers => [ map { "localhost:$ENV{\"TEST_NGINX_MEMCACHED_PORT_$_\"}" } 1 .. 3 ],
    namespace => 'my:', ketama_points => 150 });
$cache->set("/f/$_", "$_ ") or die for 0 .. 9;
$cache->set('/page', join '', map { qq(<!--# include virtual="/f/$_" -->) } 0 .. 9) or die;
--- http_config eval: $::Upstream
--- config
    location / {
        ssi               on;
        default_type      text/html;
        set $memcached_key       $uri;
        set $memcached_namespace "my:";
        memcached_pass           m;
    }
--- request
GET /page
--- response_body chomp
0 1 2 3 4 5 6 7 8 9 



=== TEST 3: M09: a key of 250 bytes is served, one of 251 is the application's
--- memcached: 1
--- memcached_perl
use Cache::Memcached::Fast;
my $cache = Cache::Memcached::Fast->new({ servers => [ "localhost:$ENV{TEST_NGINX_MEMCACHED_PORT_1}" ] });
$cache->set('k' x 250, 'value') or die;
--- http_config
    upstream m { memcached_hash; server localhost:$TEST_NGINX_MEMCACHED_PORT_1; keepalive 4; }
--- config
    location / {
        set $memcached_key $arg_key;
        memcached_pass m;
        error_page 404 502 504 = @fb;
    }
    location @fb { return 200 "fallback"; }
--- request eval
['GET /?key=' . 'k' x 250, 'GET /?key=' . 'k' x 251, 'GET /?key=' . 'k' x 250]
--- response_body eval
['value', 'fallback', 'value']
--- no_error_log
[warn]



=== TEST 4: M19: a server that is killed: 502 at once, and no other is asked
--- memcached: 2
--- memcached_set
2 key 0 of another server
--- memcached_down: 1
--- http_config
    upstream m {
        memcached_hash;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_1 weight=10000;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_2;
    }
--- config
    location / {
        set $memcached_key key;
        memcached_pass m;
        error_page 502 = @fb;
    }
    location @fb { return 200 "fallback, $upstream_status"; }
--- request eval
['GET /', 'GET /']
--- response_body eval
['fallback, 502', 'fallback, 502']
--- memcached_gets: - 0



=== TEST 5: a server that is frozen: 504, then 502 at once
--- memcached: 2
--- memcached_set
2 key 0 of another server
--- memcached_stopped: 1
--- http_config
    upstream m {
        memcached_hash;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_1 weight=10000;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_2;
    }
--- config
    memcached_read_timeout 300ms;
    location / {
        set $memcached_key key;
        memcached_pass m;
        error_page 502 504 = @fb;
    }
    location @fb { return 200 "fallback, $upstream_status"; }
--- request eval
['GET /', 'GET /']
--- response_body eval
['fallback, 504', 'fallback, 502']
--- memcached_gets: - 0



=== TEST 6: rehash=on goes where Cache::Memcached goes
--- memcached: 3
--- memcached_down: 2
--- memcached_perl
use Cache::Memcached;
my @servers = map { "localhost:$ENV{\"TEST_NGINX_MEMCACHED_PORT_$_\"}" } 1 .. 3;
# The second is not killed before this has run.
my $cache = Cache::Memcached->new({ servers => [ $servers[0], 'localhost:1', $servers[2] ] });
$cache->set("/f/$_", "$_ ") or die for 0 .. 9;
$cache->set('/page', join '', map { qq(<!--# include virtual="/f/$_" -->) } 0 .. 9) or die;
--- http_config
    upstream m {
        memcached_hash rehash=on;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_1;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_2;
        server localhost:$TEST_NGINX_MEMCACHED_PORT_3;
    }
--- config
    location / {
        ssi            on;
        default_type   text/html;
        set $memcached_key $uri;
        memcached_pass m;
    }
--- request
GET /page
--- response_body chomp
0 1 2 3 4 5 6 7 8 9 



=== TEST 7: M25: a value of zero bytes
--- memcached: 1
--- memcached_set
1 e 0 
--- http_config
    upstream m { memcached_hash; server localhost:$TEST_NGINX_MEMCACHED_PORT_1; }
--- config
    location / {
        default_type   application/json;
        jsonp_callback callback;
        set $memcached_key e;
        memcached_pass m;
    }
--- request
GET /?callback=cb
--- response_body
--- response_headers
Content-Length: 0
Content-Type: application/json



=== TEST 8: HEAD
--- memcached: 1
--- memcached_set
1 key 0 value
--- http_config
    upstream m { memcached_hash; server localhost:$TEST_NGINX_MEMCACHED_PORT_1; keepalive 4; }
--- config
    location / {
        set $memcached_key key;
        memcached_pass m;
    }
--- pipelined_requests eval
["HEAD /", "GET /"]
--- response_headers eval
["Content-Length: 5", "Content-Length: 5"]
--- response_body eval
["", "value"]



=== TEST 9: a method that memcached has no answer for
--- memcached: 1
--- http_config
    upstream m { memcached_hash; server localhost:$TEST_NGINX_MEMCACHED_PORT_1; }
--- config
    location / {
        set $memcached_key key;
        memcached_pass m;
    }
--- request
DELETE /
--- error_code: 405
--- memcached_gets: 0
