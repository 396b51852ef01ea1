# Which entry of the header is the client. Needs nothing but nginx, with its realip module.
#
# 203.0.113.7 is the load balancer's external address, 198.51.100.9 the client, 192.0.2.66 a forged value.
use Test::Nginx::Socket 'no_plan';

repeat_each(2);

our $RealIp = <<'_EOC_';
    set_real_ip_from  127.0.0.1;
    real_ip_header    X-Forwarded-For;
    real_ip_recursive on;
_EOC_

our $HttpConfig = $::RealIp . <<'_EOC_';
    real_ip_recursive_trust 203.0.113.7;
_EOC_

our $Config = q{location /t { return 200 "$remote_addr|$realip_remote_addr|$realip_trust_hops\n"; }};

our $WithPort = q{location /t { return 200 "$remote_addr|$remote_port|$realip_trust_hops\n"; }};

run_tests();

__DATA__

=== TEST 1: R01: the balancer's external address is passed over
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|1



=== TEST 2: R01: so it is behind a forged value
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|1



=== TEST 3: without the directive, nginx stops at the balancer
--- http_config eval: $::RealIp
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
203.0.113.7|127.0.0.1|



=== TEST 4: R03: the leftmost of a list in which all are trusted
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Forwarded-For: 203.0.113.7", "X-Forwarded-For: 127.0.0.1, 203.0.113.7"]
--- response_body eval
["203.0.113.7|127.0.0.1|0\n", "127.0.0.1|127.0.0.1|1\n"]



=== TEST 5: R05: an entry that is not an address ends the walk at the last good one
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: unknown, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9, unknown, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7;, 203.0.113.7",
    "X-Forwarded-For: unknown",
]
--- response_body eval
[
    "203.0.113.7|127.0.0.1|0\n",
    "203.0.113.7|127.0.0.1|0\n",
    "203.0.113.7|127.0.0.1|0\n",
    "127.0.0.1|127.0.0.1|\n",
]



=== TEST 6: R07: the first from the right that is not trusted, not the leftmost
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 198.51.100.9
--- response_body
198.51.100.9|127.0.0.1|0



=== TEST 7: R08: all lines of the header are one list
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 192.0.2.66\nX-Forwarded-For: 198.51.100.9, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66\nX-Forwarded-For: 198.51.100.9\nX-Forwarded-For: 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9\nX-Forwarded-For: ,\nx-forwarded-for: 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9\nX-Forwarded-For: unknown\nX-Forwarded-For: 203.0.113.7",
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|1\n",
    "203.0.113.7|127.0.0.1|0\n",
]



=== TEST 8: R08: more lines than most requests have
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request
GET /t
--- more_headers eval
"X-Forwarded-For: 192.0.2.66\n" . "X-Forwarded-For: 198.51.100.9\n" . "X-Forwarded-For: 203.0.113.7\n" x 30
--- response_body
198.51.100.9|127.0.0.1|30



=== TEST 9: R11: blanks around commas, or none
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9,203.0.113.7",
    "X-Forwarded-For: 198.51.100.9 ,203.0.113.7",
    "X-Forwarded-For: 198.51.100.9",
    "X-Forwarded-For:  198.51.100.9 ",
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|0\n",
    "198.51.100.9|127.0.0.1|0\n",
]



=== TEST 10: R12: empty elements
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7,",
    "X-Forwarded-For: 198.51.100.9,, 203.0.113.7",
    "X-Forwarded-For: ,198.51.100.9,203.0.113.7",
    "X-Forwarded-For: ,",
    "X-Forwarded-For: ",
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|1\n",
    "127.0.0.1|127.0.0.1|\n",
    "127.0.0.1|127.0.0.1|\n",
]



=== TEST 11: R14: ports and brackets
--- http_config eval: $::HttpConfig
--- config eval: $::WithPort
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9:4711, 203.0.113.7:443",
    "X-Forwarded-For: [2001:db8::5]:4711, 203.0.113.7",
    "X-Forwarded-For: 2001:db8::5, 203.0.113.7",
    "X-Forwarded-For: 2001:db8:0:0:0:0:0:5:51108, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9:65536, 203.0.113.7:443",
]
--- response_body eval
[
    "198.51.100.9|4711|1\n",
    "2001:db8::5|4711|1\n",
    "2001:db8::5||1\n",
    "203.0.113.7||0\n",
    "203.0.113.7|443|0\n",
]



=== TEST 12: R15: IPv6 in brackets without a port, on every nginx
--- http_config eval: $::HttpConfig
--- config eval: $::WithPort
--- request
GET /t
--- more_headers
X-Forwarded-For: [2001:db8::5], 203.0.113.7
--- response_body
2001:db8::5||1



=== TEST 13: R17: hops=0 passes over nothing
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=0;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7
--- response_body
203.0.113.7|127.0.0.1|0



=== TEST 14: R17: hops=1
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=1;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|1



=== TEST 15: R17: hops=2
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=2;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7
--- response_body
192.0.2.66|127.0.0.1|2



=== TEST 16: R17: hops=3 leaves no entry: the peer
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=3;"
--- config
    location /t {
        return 200 "$remote_addr|$realip_remote_addr|$realip_trust_hops|$remote_port|$realip_remote_port\n";
    }
--- request
GET /t
--- more_headers
X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7
--- response_body_like: ^127\.0\.0\.1\|127\.0\.0\.1\|3\|(\d+)\|\1$



=== TEST 17: R18: a list shorter than hops is never answered with its leftmost entry
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=3;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 192.0.2.66",
    "X-Forwarded-For: 192.0.2.66,,,,,",
    "X-Forwarded-For: 192.0.2.66\nX-Forwarded-For: 127.0.0.1",
]
--- response_body eval
["127.0.0.1|127.0.0.1|1\n", "127.0.0.1|127.0.0.1|1\n", "127.0.0.1|127.0.0.1|2\n"]



=== TEST 18: hops pass over whatever they meet, but nginx must be able to read the last entry
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=2;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, unknown, 192.0.2.200",
    "X-Forwarded-For: unknown, 192.0.2.200, 192.0.2.200",
    "X-Forwarded-For: 198.51.100.9, 127.0.0.1, unknown",
    "X-Forwarded-For: 198.51.100.9, unknown, 127.0.0.1",
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|2\n",
    "127.0.0.1|127.0.0.1|2\n",
    "127.0.0.1|127.0.0.1|\n",
    "198.51.100.9|127.0.0.1|2\n",
]



=== TEST 19: hops and addresses: the hops first, then what is trusted
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=1 203.0.113.7;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7, 192.0.2.200",
    "X-Forwarded-For: 198.51.100.9, 127.0.0.1, 203.0.113.7, 192.0.2.200",
    "X-Forwarded-For: 203.0.113.7, 192.0.2.200",
]
--- response_body eval
["198.51.100.9|127.0.0.1|2\n", "198.51.100.9|127.0.0.1|3\n", "203.0.113.7|127.0.0.1|1\n"]



=== TEST 20: R31: a hop that is not listed is the answer
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 10.20.0.3, 203.0.113.7
--- response_body
10.20.0.3|127.0.0.1|1



=== TEST 21: R34: several addresses in a directive
--- http_config eval: $::RealIp . "real_ip_recursive_trust 203.0.113.7 192.0.2.128/25;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 192.0.2.200, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|2



=== TEST 22: R34: several directives
--- http_config eval
$::RealIp . "real_ip_recursive_trust 203.0.113.7; real_ip_recursive_trust 192.0.2.128/25;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 192.0.2.200, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|2



=== TEST 23: IPv4-mapped IPv6 addresses are IPv4 addresses, both ways
--- http_config eval
$::RealIp . "real_ip_recursive_trust ::ffff:203.0.113.0/120 192.0.2.128/25 2001:db8:7::/48;"
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9, ::ffff:192.0.2.200, ::ffff:203.0.113.7",
    "X-Forwarded-For: ::ffff:198.51.100.9, 2001:db8:7::1, [::ffff:c000:2c8]:443",
    "X-Forwarded-For: 198.51.100.9, 2001:db8:8::1",
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|2\n",
    "::ffff:198.51.100.9|127.0.0.1|2\n",
    "2001:db8:8::1|127.0.0.1|0\n",
]



=== TEST 24: addresses of set_real_ip_from are passed over as well, mapped ones too
--- http_config
    set_real_ip_from  127.0.0.1;
    set_real_ip_from  10.0.0.0/8;
    set_real_ip_from  2001:db8:7::/48;
    real_ip_header    X-Forwarded-For;
    real_ip_recursive on;
    real_ip_recursive_trust 203.0.113.7;
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 10.1.1.1, 203.0.113.7, ::ffff:10.2.2.2, 2001:db8:7::9
--- response_body
198.51.100.9|127.0.0.1|4



=== TEST 25: IPv6 is written as nginx writes it
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 2001:DB8:0:0:1:0:0:1, 203.0.113.7",
    "X-Forwarded-For: ::198.51.100.9, 203.0.113.7",
    "X-Forwarded-For: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 203.0.113.7",
]
--- response_body eval
[
    "2001:db8::1:0:0:1|127.0.0.1|1\n",
    "::198.51.100.9|127.0.0.1|1\n",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff|127.0.0.1|1\n",
]



=== TEST 26: a tab is no separator, as in nginx
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request
GET /t
--- more_headers eval
"X-Forwarded-For: 198.51.100.9,\t203.0.113.7, 203.0.113.7"
--- response_body
203.0.113.7|127.0.0.1|0



=== TEST 27: B10: many headers of other names around it
--- http_config eval: $::HttpConfig
--- config eval: $::Config
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7\n" . "X-Other: 1\n" x 17,
    "X-Other: 1\n" x 18 . "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9\n" . "X-Other: 1\n" x 39 . "X-Forwarded-For: 203.0.113.7",
    "X-Other: 1\n" x 60,
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|1\n",
    "198.51.100.9|127.0.0.1|1\n",
    "127.0.0.1|127.0.0.1|\n",
]
