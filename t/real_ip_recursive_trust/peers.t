# Who may say what the client's address is: only a peer in set_real_ip_from, whatever it or anyone else sends.
use Test::Nginx::Socket 'no_plan';

our $HttpConfig = <<'_EOC_';
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust 203.0.113.7 127.0.0.2 127.0.0.3/32 hops=0;
_EOC_

our $Config = q{location /t { return 200 "$remote_addr|$realip_remote_addr|$realip_trust_hops\n"; }};

our $Balancer = '^203\.0\.113\.7\|127\.0\.0\.1\|0$';

run_tests();

__DATA__

=== TEST 1: R02: an address that is trusted in the list is not trusted as a peer
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- client_addr: 127.0.0.2
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 192.0.2.66",
    "X-Forwarded-For: 192.0.2.66, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, 127.0.0.1",
    "X-Forwarded-For: 127.0.0.2",
    "X-Forwarded-For: 192.0.2.66, 127.0.0.2, 127.0.0.1\nX-Forwarded-For: 127.0.0.2",
]
--- response_body eval
[
    "127.0.0.2|127.0.0.2|\n",
    "127.0.0.2|127.0.0.2|\n",
    "127.0.0.2|127.0.0.2|\n",
    "127.0.0.2|127.0.0.2|\n",
    "127.0.0.2|127.0.0.2|\n",
]



=== TEST 2: R02: a peer that is in no list
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- client_addr: 127.0.0.9
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
127.0.0.9|127.0.0.9|



=== TEST 3: R02: hops do not make a peer trusted
--- http_config
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust hops=1;
--- config eval: $::Config
--- client_addr: 127.0.0.2
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 192.0.2.67
--- response_body
127.0.0.2|127.0.0.2|



=== TEST 4: R02: nor does everything in the list
--- http_config
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust 0.0.0.0/0 ::/0;
--- config eval: $::Config
--- client_addr: 127.0.0.2
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66
--- response_body
127.0.0.2|127.0.0.2|



=== TEST 5: R02: in a location with all settings of its own
--- config
    location /t {
        set_real_ip_from        127.0.0.1;
        real_ip_header          X-Forwarded-For;
        real_ip_recursive       on;
        real_ip_recursive_trust 127.0.0.2 hops=1;
        add_header Client "$remote_addr|$realip_remote_addr|$realip_trust_hops";
        alias $TEST_NGINX_SERVER_ROOT/html/index.html;
    }
--- client_addr: 127.0.0.2
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 192.0.2.67
--- response_headers
Client: 127.0.0.2|127.0.0.2|
--- response_body_like: works



=== TEST 6: R01: a peer that is trusted, for comparison
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- client_addr: 127.0.0.1
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 127.0.0.2, 127.0.0.3, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|3



=== TEST 7: R27: what a forger can reach by malformed entries: the peer, or an address that is trusted
--- http_config
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust 203.0.113.7;
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 192.0.2.66, \x00, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, [::1, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, 203.0.113.7:0, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, 203.0.113.7:443:80, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, fe80::1%lo, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, 255.255.255.255, 203.0.113.7",
]
--- error_code eval
[400, 200, 200, 200, 200, 200]
--- response_body_like eval
["400 Bad Request", $::Balancer, $::Balancer, $::Balancer, $::Balancer, $::Balancer]
