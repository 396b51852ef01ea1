# What real_ip_header may name.
use Test::Nginx::Socket 'no_plan';

our $Peers = <<'_EOC_';
    set_real_ip_from  127.0.0.1;
    real_ip_recursive on;
_EOC_

our $Config = q{location /t { return 200 "$remote_addr|$realip_remote_addr|$realip_trust_hops\n"; }};

run_tests();

__DATA__

=== TEST 1: a header with a name of one's own
--- http_config eval: $::Peers . "real_ip_header True-Client-IP; real_ip_recursive_trust 203.0.113.7;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "True-Client-IP: 198.51.100.9, 203.0.113.7",
    "true-client-ip: 198.51.100.9",
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
]
--- response_body eval
["198.51.100.9|127.0.0.1|1\n", "198.51.100.9|127.0.0.1|0\n", "127.0.0.1|127.0.0.1|\n"]



=== TEST 2: its lines are one list too
--- http_config eval: $::Peers . "real_ip_header X-Client-Chain; real_ip_recursive_trust 203.0.113.7;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Client-Chain: 192.0.2.66\nX-Client-Chain: 198.51.100.9, 203.0.113.7",
    "X-Client-Chain: 192.0.2.66\nX-Other: 1\nX-Client-Chain: 198.51.100.9",
    "X-Client-Chain: 192.0.2.66\n" . "X-Client-Chain: 198.51.100.9\n" . "X-Client-Chain: 203.0.113.7\n" x 20,
]
--- response_body eval
["198.51.100.9|127.0.0.1|1\n", "198.51.100.9|127.0.0.1|0\n", "198.51.100.9|127.0.0.1|20\n"]



=== TEST 3: hops count over all of its lines
--- http_config eval: $::Peers . "real_ip_header X-Client-Chain; real_ip_recursive_trust hops=2;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
[
    "X-Client-Chain: 192.0.2.66, 198.51.100.9\nX-Client-Chain: 192.0.2.200\nX-Client-Chain: 203.0.113.7",
    "X-Client-Chain: 192.0.2.66\nX-Client-Chain: 198.51.100.9",
]
--- response_body eval
["198.51.100.9|127.0.0.1|2\n", "127.0.0.1|127.0.0.1|2\n"]



=== TEST 4: a last line that is malformed gives the peer, whatever nginx made of the first
--- http_config eval: $::Peers . "real_ip_header X-Client-Chain; real_ip_recursive_trust 203.0.113.7;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Client-Chain: 192.0.2.66
X-Client-Chain: unknown
--- response_body
127.0.0.1|127.0.0.1|0



=== TEST 5: X-Forwarded-For in lower case, which nginx takes for a name of one's own
--- http_config eval: $::Peers . "real_ip_header x-forwarded-for; real_ip_recursive_trust 203.0.113.7;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|1



=== TEST 6: R26: X-Real-IP, which is nginx's default, is a list like any other header
--- http_config eval: $::Peers . "real_ip_recursive_trust 203.0.113.7;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Real-IP: 198.51.100.9",
    "X-Real-IP: 203.0.113.7",
    "X-Real-IP: 198.51.100.9, 203.0.113.7",
    "X-Real-IP: 192.0.2.66\nX-Real-IP: 198.51.100.9",
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|0\n",
    "203.0.113.7|127.0.0.1|0\n",
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|0\n",
]

