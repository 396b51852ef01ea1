# The directive's parameters, and what nginx says of them.
use Test::Nginx::Socket 'no_plan';

$ENV{TEST_NGINX_HTML_DIR} ||= html_dir();

our $RealIp = <<'_EOC_';
    set_real_ip_from  127.0.0.1;
    real_ip_header    X-Forwarded-For;
    real_ip_recursive on;
_EOC_

our $Config = q{location /t { return 200 "$remote_addr|$realip_remote_addr|$realip_trust_hops\n"; }};

run_tests();

__DATA__

=== TEST 1: R27: host bits are cleared, with nginx's warning
--- http_config eval: $::RealIp . "real_ip_recursive_trust 203.0.113.7/24 2001:db8::1/32;"
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.200, 2001:db8:7::
--- response_body
198.51.100.9|127.0.0.1|2
--- error_log
"real_ip_recursive_trust" directive: low address bits of 203.0.113.7/24 are meaningless
"real_ip_recursive_trust" directive: low address bits of 2001:db8::1/32 are meaningless



=== TEST 2: R27: not an address
--- http_config eval: $::RealIp . "real_ip_recursive_trust 203.0.113.7 300.1.1.1;"
--- config
--- must_die
--- error_log eval
qr/\[emerg\] .*"real_ip_recursive_trust" directive: invalid address "300\.1\.1\.1": .* in \S+nginx\.conf:\d+/



=== TEST 3: R27: a prefix that is too long
--- http_config eval: $::RealIp . "real_ip_recursive_trust 203.0.113.7/33;"
--- config
--- must_die
--- error_log
invalid address "203.0.113.7/33"



=== TEST 4: R27: an IPv6 prefix that is too long
--- http_config eval: $::RealIp . "real_ip_recursive_trust 2001:db8::/129;"
--- config
--- must_die
--- error_log
invalid address "2001:db8::/129"



=== TEST 5: R27: nothing
--- http_config eval: $::RealIp . "real_ip_recursive_trust;"
--- config
--- must_die
--- error_log
invalid number of arguments in "real_ip_recursive_trust" directive



=== TEST 6: R27: an empty string
--- http_config eval: $::RealIp . 'real_ip_recursive_trust "";'
--- config
--- must_die
--- error_log
invalid address ""



=== TEST 7: R27: a name
--- http_config eval: $::RealIp . "real_ip_recursive_trust lb.example;"
--- config
--- must_die
--- error_log
invalid address "lb.example": neither an address nor a network (names are not resolved)



=== TEST 8: R27: all
--- http_config eval: $::RealIp . "real_ip_recursive_trust all;"
--- config
--- must_die
--- error_log
invalid address "all"



=== TEST 9: a socket
--- http_config eval: $::RealIp . "real_ip_recursive_trust unix:;"
--- config
--- must_die
--- error_log
invalid address "unix:" (no entry of a header is a socket)



=== TEST 10: a number of hops that is none
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=one;"
--- config
--- must_die
--- error_log
invalid number in "hops=one"



=== TEST 11: a negative number of hops
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=-1;"
--- config
--- must_die
--- error_log
invalid number in "hops=-1"



=== TEST 12: hops twice on one level, in two directives
--- http_config eval: $::RealIp . "real_ip_recursive_trust hops=1; real_ip_recursive_trust hops=2;"
--- config
--- must_die
--- error_log
duplicate parameter "hops=2"



=== TEST 13: not within if
--- http_config eval: $::RealIp
--- config
    if ($arg_a) { real_ip_recursive_trust 203.0.113.7; }
--- must_die
--- error_log
"real_ip_recursive_trust" directive is not allowed here



=== TEST 14: R26: without set_real_ip_from it does nothing
--- http_config
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust 203.0.113.7 127.0.0.1 hops=1;
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
127.0.0.1|127.0.0.1|



=== TEST 15: R26: with real_ip_recursive off it does nothing, and nginx warns
--- http_config
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       off;
    real_ip_recursive_trust 203.0.113.7 hops=1;
--- config eval: $::Config
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
203.0.113.7|127.0.0.1|
--- error_log eval
qr/\[warn\] .*"real_ip_recursive_trust" directive: has no effect while "real_ip_recursive" is off in \S+nginx\.conf:\d+/



=== TEST 16: R26: so it is when real_ip_recursive is not said at all
--- http_config
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
--- config
    real_ip_recursive_trust 203.0.113.7;
    location /t { return 200 "$remote_addr\n"; }
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
203.0.113.7
--- error_log
"real_ip_recursive_trust" directive: has no effect while "real_ip_recursive" is off



=== TEST 17: no warning where real_ip_recursive is on in one of the places where it holds
--- http_config
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive_trust 203.0.113.7;
    server { listen unix:$TEST_NGINX_HTML_DIR/s.sock; }
--- config
    real_ip_recursive on;
    location /t { return 200 "$remote_addr\n"; }
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
198.51.100.9
--- no_error_log
[warn]



=== TEST 18: the variable is there without the directive
--- config
    location /t { return 200 "<$realip_trust_hops>\n"; }
--- request
GET /t
--- response_body
<>
