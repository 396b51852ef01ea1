# Answers out of memcached.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);

our $Upstream = <<'_EOC_';
    upstream m { server 127.0.0.1:$TEST_NGINX_MEMCACHED_PORT_1; keepalive 4; }
_EOC_

our $Json = <<'_EOC_';
    location / {
        default_type   application/json;
        jsonp_callback callback;
        set            $memcached_key $uri;
        memcached_pass m;
        error_page     404 = @fetch;
    }
    location @fetch {
        default_type   application/json;
        jsonp_callback callback;
        return         200 '{"fetched":1}';
    }
_EOC_

no_root_location();

run_tests();

__DATA__

=== TEST 1: a hit has a length
--- memcached: 1
--- memcached_set
1 /a 0 {"a":1}
1 /b 0 "\xe2\x80\xa8"
--- memcached_gets: 6
--- http_config eval: $::Upstream
--- config eval: $::Json
--- request eval
["GET /a?callback=cb", "GET /b?callback=cb", "GET /a"]
--- response_body eval
['cb({"a":1});', 'cb("\u2028");', '{"a":1}']
--- response_headers eval
["Content-Length: 12\n!Transfer-Encoding\nContent-Type: text/javascript", "Content-Length: 13\n!Transfer-Encoding", "Content-Length: 7"]



=== TEST 2: J19, F04: an empty value
--- memcached: 1
--- memcached_set
1 /e 0 
--- http_config eval: $::Upstream
--- config eval: $::Json
--- request eval
["GET /e?callback=cb", "GET /e"]
--- response_body eval
["", ""]
--- response_headers eval
["Content-Length: 0\nContent-Type: application/json", "Content-Length: 0\nContent-Type: application/json"]
--- no_error_log
zero size buf
[alert]



=== TEST 3: a miss is answered, and wrapped, elsewhere
--- memcached: 1
--- http_config eval: $::Upstream
--- config eval: $::Json
--- request eval
["GET /a?callback=cb", "GET /a"]
--- response_body eval
['cb({"fetched":1});', '{"fetched":1}']
--- response_headers eval
["Content-Length: 18", "Content-Length: 13"]



=== TEST 4: an invalid callback is refused, and the connection to memcached kept
--- memcached: 1
--- memcached_set
1 /a 0 {"a":1}
--- http_config eval: $::Upstream
--- config eval
"jsonp_callback_invalid 400;" . $::Json
--- request eval
["GET /a?callback=!", "GET /a?callback=cb", "GET /a?callback=!"]
--- error_code eval
[400, 200, 400]
--- response_body_like eval
["400 Bad Request", '^cb\(\{"a":1\}\);$', "400 Bad Request"]



=== TEST 5: what Perl compressed is decoded for every client
--- memcached: 1
--- memcached_perl
use Cache::Memcached::Fast;
my $cache = Cache::Memcached::Fast->new({ servers => [ "127.0.0.1:$ENV{TEST_NGINX_MEMCACHED_PORT_1}" ],
    compress_threshold => 100 });
$cache->set('/a', '{"a":"' . 'a' x 1000 . '"}') or die;
$cache->set('/small', '{"a":1}') or die;
--- http_config eval: $::Upstream
--- config eval
"memcached_gzip_flag 2; gunzip on;" . $::Json
--- request eval
["GET /a?callback=cb", "GET /a?callback=cb", "GET /a", "GET /a", "GET /small?callback=cb"]
--- more_headers eval
["", "Accept-Encoding: gzip", "", "Accept-Encoding: gzip", "Accept-Encoding: gzip"]
--- response_body_like eval
['^cb\(\{"a":"a{1000}"\}\);$', '^cb\(\{"a":"a{1000}"\}\);$', '^\{"a":"a{1000}"\}$', '^\x1f\x8b', '^cb\(\{"a":1\}\);$']
--- response_headers eval
["!Content-Encoding", "!Content-Encoding", "!Content-Encoding", "Content-Encoding: gzip", "!Content-Encoding\nContent-Length: 12"]



=== TEST 6: what Perl compressed, where nobody decodes
--- memcached: 1
--- memcached_perl
use Cache::Memcached::Fast;
my $cache = Cache::Memcached::Fast->new({ servers => [ "127.0.0.1:$ENV{TEST_NGINX_MEMCACHED_PORT_1}" ],
    compress_threshold => 100 });
$cache->set('/a', '{"a":"' . 'a' x 1000 . '"}') or die;
--- http_config eval: $::Upstream
--- config eval
"memcached_gzip_flag 2;" . $::Json
--- request eval
["GET /a?callback=cb", "GET /a?callback=cb"]
--- more_headers eval
["", "Accept-Encoding: gzip"]
--- response_body_like eval
['^\x1f\x8b', '^\x1f\x8b']
--- response_headers eval
["Content-Encoding: gzip\nContent-Type: application/json", "Content-Encoding: gzip\nContent-Type: application/json"]



=== TEST 7: F11: HTTP/0.9
--- memcached: 1
--- memcached_set
1 /a 0 {"a":1}
--- http_config eval: $::Upstream
--- config eval: $::Json
--- raw_request eval
"GET /a?callback=cb\r\n"
--- http09
--- response_body chomp
cb({"a":1});



=== TEST 8: HEAD
--- memcached: 1
--- memcached_set
1 /a 0 {"a":1}
--- http_config eval: $::Upstream
--- config eval: $::Json
--- request eval
["HEAD /a?callback=cb", "HEAD /a"]
--- response_body eval
["", ""]
--- response_headers eval
["Content-Type: text/javascript\n!Content-Length", "Content-Type: application/json\nContent-Length: 7"]
