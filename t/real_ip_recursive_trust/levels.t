# Where the directive holds: http, server, location.
#
# In a location, realip and this module come before access control but after rewrite, so `return` would be
# too early to see what they did: a file that is sent says it in a header.
use Test::Nginx::Socket 'no_plan';

our $RealIp = <<'_EOC_';
    set_real_ip_from  127.0.0.1;
    real_ip_header    X-Forwarded-For;
    real_ip_recursive on;
_EOC_

our $Say = q{add_header Client "$remote_addr|$realip_remote_addr|$realip_trust_hops" always;};

no_root_location();

run_tests();

__DATA__

=== TEST 1: a server that has its own does not inherit
--- http_config eval: $::RealIp . "real_ip_recursive_trust 203.0.113.7;"
--- config
    real_ip_recursive_trust 192.0.2.200;
    location /t { return 200 "$remote_addr\n"; }
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Forwarded-For: 198.51.100.9, 203.0.113.7", "X-Forwarded-For: 198.51.100.9, 192.0.2.200"]
--- response_body eval
["203.0.113.7\n", "198.51.100.9\n"]



=== TEST 2: nor does it inherit the hops, and hops=0 alone trusts nothing more
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=1 203.0.113.7;"
--- config
    real_ip_recursive_trust hops=0;
    location /t { return 200 "$remote_addr|$realip_trust_hops\n"; }
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
203.0.113.7|0



=== TEST 3: a location with a list of its own, where the server's realip has replaced the address
--- http_config eval: $::RealIp
--- config eval
$::Say . q{
    location /none { try_files /index.html =404; }
    location /list { real_ip_recursive_trust 203.0.113.7; try_files /index.html =404; }
    location /hops { real_ip_recursive_trust hops=1; try_files /index.html =404; }
    location /many { real_ip_recursive_trust hops=9; try_files /index.html =404; }
}
--- request eval
["GET /none", "GET /list", "GET /hops", "GET /many"]
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_headers eval
[
    "Client: 203.0.113.7|127.0.0.1|",
    "Client: 198.51.100.9|127.0.0.1|1",
    "Client: 198.51.100.9|127.0.0.1|1",
    "Client: 127.0.0.1|127.0.0.1|2",
]
--- response_body_like eval
["works", "works", "works", "works"]



=== TEST 4: a location with all settings of its own
--- config eval
$::Say . q{
    location /t {
        set_real_ip_from        127.0.0.1;
        real_ip_header          X-Forwarded-For;
        real_ip_recursive       on;
        real_ip_recursive_trust 203.0.113.7;
        try_files /index.html   =404;
    }
    location /other { try_files /index.html =404; }
}
--- request eval
["GET /t", "GET /other"]
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_headers eval
["Client: 198.51.100.9|127.0.0.1|1", "Client: 127.0.0.1|127.0.0.1|"]
--- response_body_like eval
["works", "works"]



=== TEST 5: access rules and limits of such a location see the client
--- http_config eval: $::RealIp
--- config
    location /t {
        real_ip_recursive_trust 203.0.113.7;
        allow 198.51.100.9;
        deny  all;
        try_files /index.html =404;
    }
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Forwarded-For: 198.51.100.9, 203.0.113.7", "X-Forwarded-For: 198.51.100.10, 203.0.113.7"]
--- error_code eval
[200, 403]
--- response_body_like eval
["works", "403 Forbidden"]



=== TEST 6: the header is walked once a request: not again where the server's list was already used
--- http_config eval: $::RealIp . "real_ip_recursive_trust 203.0.113.7;"
--- config eval
$::Say . q{
    location /t { real_ip_recursive_trust 198.51.100.9; try_files /index.html =404; }
}
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7
--- response_headers
Client: 198.51.100.9|127.0.0.1|1
--- response_body_like: works



=== TEST 7: not a location's header, when the server's realip believed the peer for another
--- http_config
    set_real_ip_from  127.0.0.1;
    real_ip_header    X-Edge-Client;
    real_ip_recursive on;
--- config eval
$::Say . q{
    location /header {
        real_ip_header          X-Forwarded-For;
        real_ip_recursive_trust hops=1;
        try_files /index.html   =404;
    }
    location /peers {
        set_real_ip_from        10.0.0.0/8;
        real_ip_recursive_trust hops=1;
        try_files /index.html   =404;
    }
    location /same {
        real_ip_recursive_trust hops=1;
        try_files /index.html   =404;
    }
}
--- request eval
["GET /header", "GET /peers", "GET /same"]
--- more_headers
X-Edge-Client: 192.0.2.1, 198.51.100.9
X-Forwarded-For: 192.0.2.66, 192.0.2.67
--- response_headers eval
[
    "Client: 198.51.100.9|127.0.0.1|",
    "Client: 198.51.100.9|127.0.0.1|",
    "Client: 192.0.2.1|127.0.0.1|1",
]
--- response_body_like eval
["works", "works", "works"]



=== TEST 8: a location may turn recursion off
--- http_config eval: $::RealIp
--- config eval
$::Say . q{
    location / { real_ip_recursive_trust 203.0.113.7; try_files /index.html =404; }
    location /off { real_ip_recursive off; real_ip_recursive_trust 203.0.113.7; try_files /index.html =404; }
}
--- request eval
["GET /on", "GET /off"]
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_headers eval
["Client: 198.51.100.9|127.0.0.1|1", "Client: 203.0.113.7|127.0.0.1|"]
--- response_body_like eval
["works", "works"]
