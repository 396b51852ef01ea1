# Everything that reads the client's address, and every way that a request takes.
use Test::Nginx::Socket 'no_plan';

$ENV{TEST_NGINX_HTML_DIR} ||= html_dir();

our $HttpConfig = <<'_EOC_';
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust 203.0.113.7;
_EOC_

our $Say = q{$remote_addr|$realip_remote_addr|$realip_trust_hops};

run_tests();

__DATA__

=== TEST 1: R20: each request of a kept connection has its own address
--- http_config eval: $::HttpConfig
--- config eval
qq{location /t { return 200 "$::Say|\$connection_requests\n"; }}
--- pipelined_requests eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
    "",
    "X-Forwarded-For: 198.51.100.10, 203.0.113.7",
    "X-Forwarded-For: 203.0.113.7",
]
--- response_body eval
[
    "198.51.100.9|127.0.0.1|1|1\n",
    "127.0.0.1|127.0.0.1||2\n",
    "198.51.100.10|127.0.0.1|1|3\n",
    "203.0.113.7|127.0.0.1|0|4\n",
]



=== TEST 2: R20: so it has where hops gave the address back to the peer
--- http_config
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust hops=1;
--- config eval
qq{location /t { return 200 "$::Say|\$connection_requests\n"; }}
--- pipelined_requests eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
["X-Forwarded-For: 192.0.2.66", "", "X-Forwarded-For: 198.51.100.9, 203.0.113.7"]
--- response_body eval
["127.0.0.1|127.0.0.1|1|1\n", "127.0.0.1|127.0.0.1||2\n", "198.51.100.9|127.0.0.1|1|3\n"]



=== TEST 3: R22: the header itself is not changed
--- http_config eval: $::HttpConfig
--- config
    location /t {
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header Client $remote_addr;
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/behind;
    }
    location /behind {
        set_real_ip_from 192.0.2.1;
        return 200 "$http_x_forwarded_for|$http_client\n";
    }
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
198.51.100.9, 203.0.113.7, 198.51.100.9|198.51.100.9



=== TEST 4: R24: error_page, to a location and to a named one
--- http_config eval: $::HttpConfig
--- config eval
qq{
    recursive_error_pages on;
    location /t { return 404; error_page 404 = /x; }
    location /x { try_files /none =410; error_page 410 = \@y; }
    location \@y { try_files /none =403; error_page 403 =200 \@z; }
    location \@z { return 200 "$::Say\n"; }
}
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
198.51.100.9|127.0.0.1|1



=== TEST 5: R24: error_page, rewrite and try_files lead to a location with its own list
--- http_config
    set_real_ip_from  127.0.0.1;
    real_ip_header    X-Forwarded-For;
    real_ip_recursive on;
--- config eval
qq{
    recursive_error_pages on;
    add_header Client "$::Say" always;
    location = /error { return 404; error_page 404 = /own; }
    location = /named { try_files /none =410; error_page 410 = \@own; }
    location = /twice { try_files /none =410; error_page 410 = \@twice; }
    location = /rewrite { rewrite ^ /own last; }
    location = /try { try_files /none /own; }
    location = /own { real_ip_recursive_trust 203.0.113.7; try_files /index.html =404; }
    location = /peer { return 404; error_page 404 = \@peer; }
    location \@own { real_ip_recursive_trust hops=1; try_files /index.html =404; }
    location \@twice { real_ip_recursive_trust hops=1; try_files /none =411; error_page 411 =200 \@peer; }
    location \@peer { real_ip_recursive_trust hops=2; try_files /index.html =404; }
}
--- request eval
["GET /error", "GET /named", "GET /rewrite", "GET /try", "GET /twice", "GET /peer"]
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_headers eval
[
    "Client: 198.51.100.9|127.0.0.1|1",
    "Client: 198.51.100.9|127.0.0.1|1",
    "Client: 198.51.100.9|127.0.0.1|1",
    "Client: 198.51.100.9|127.0.0.1|1",
    "Client: 198.51.100.9|127.0.0.1|1",
    "Client: 127.0.0.1|127.0.0.1|2",
]
--- error_code eval
[200, 200, 200, 200, 200, 200]
--- response_body_like eval
["works", "works", "works", "works", "works", "works"]



=== TEST 6: R24: auth_request
--- http_config eval: $::HttpConfig
--- config eval
qq{
    location /t {
        auth_request /a;
        auth_request_set \$there "$::Say";
        add_header Client "$::Say";
        add_header There \$there;
        try_files /index.html =404;
    }
    location /a {
        if (\$remote_addr != 198.51.100.9) { return 403; }
        return 204;
    }
}
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Forwarded-For: 198.51.100.9, 203.0.113.7", "X-Forwarded-For: 198.51.100.10, 203.0.113.7"]
--- error_code eval
[200, 403]
--- response_headers eval
["Client: 198.51.100.9|127.0.0.1|1\nThere: 198.51.100.9|127.0.0.1|1", "!Client"]
--- response_body_like eval
["works", "403 Forbidden"]



=== TEST 7: R24: a subrequest whose location has its own list
The request itself is answered in a location where the header is not walked.
--- http_config
    set_real_ip_from  127.0.0.1;
    real_ip_header    X-Forwarded-For;
    real_ip_recursive on;
--- config eval
qq{
    location /t {
        auth_request /a;
        add_header Client "$::Say";
        try_files /index.html =404;
    }
    location /a {
        real_ip_recursive_trust 203.0.113.7;
        try_files /index.html =404;
    }
}
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_headers
Client: 198.51.100.9|127.0.0.1|1
--- response_body_like: works



=== TEST 8: R24: an SSI include
--- http_config eval: $::HttpConfig
--- config eval
qq{
    location /t {
        ssi on;
        ssi_types text/plain;
        return 200 'page <!--#include virtual="/part?1" --> <!--#include virtual="/part?2" wait="yes" -->\n';
    }
    location /part { return 200 "$::Say"; }
}
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
page 198.51.100.9|127.0.0.1|1 198.51.100.9|127.0.0.1|1



=== TEST 9: R24: the access log
--- http_config eval
$::HttpConfig . q{
    log_format realip 'realip $remote_addr [$realip_remote_addr] "$http_x_forwarded_for" $realip_trust_hops $status';
}
--- config
    access_log logs/access.log realip;
    location /t { return 404; error_page 404 = @x; }
    location @x { return 200 "ok\n"; }
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- response_body
ok
--- access_log
realip 198.51.100.9 [127.0.0.1] "198.51.100.9, 203.0.113.7" 1 200



=== TEST 10: R24: where nothing was done, the access log has a dash
--- http_config eval
$::HttpConfig . q{
    log_format realip 'realip $remote_addr [$realip_remote_addr] $realip_trust_hops.';
}
--- config
    access_log logs/access.log realip;
    location /t { return 200 "ok\n"; }
--- request
GET /t
--- response_body
ok
--- access_log
realip 127.0.0.1 [127.0.0.1] -.



=== TEST 11: R24: the error log
--- http_config eval: $::HttpConfig
--- config
    location /t { alias $TEST_NGINX_HTML_DIR/none; }
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
--- error_code: 404
--- error_log eval
qr/open\(\) .* failed .*, client: 198\.51\.100\.9, server/



=== TEST 12: R24: limit_req counts clients, not the balancer
--- http_config eval
$::HttpConfig . q{limit_req_zone $binary_remote_addr zone=one:64k rate=1r/m;}
--- config
    limit_req_status 429;
    location /t { limit_req zone=one; try_files /index.html =404; }
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.10, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, 198.51.100.9, 203.0.113.7",
]
--- error_code eval
[200, 200, 429]
--- response_body_like eval
["works", "works", "429"]



=== TEST 13: R24: allow and deny
--- http_config eval: $::HttpConfig
--- config
    location /t { allow 198.51.100.9; deny all; try_files /index.html =404; }
    location /no { deny 203.0.113.0/24; deny 127.0.0.1; try_files /index.html =404; }
--- request eval
["GET /t", "GET /t", "GET /no"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9, 198.51.100.10, 203.0.113.7",
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
]
--- error_code eval
[200, 403, 200]
--- response_body_like eval
["works", "403", "works"]



=== TEST 14: geo and split_clients
--- http_config eval
$::HttpConfig . q{
    geo $place { default other; 198.51.100.0/24 here; 2001:db8::/32 six; 203.0.113.0/24 balancer; }
    split_clients $remote_addr $half { 50% one; * two; }
}
--- config
    location /t { return 200 "$place $half\n"; }
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
[
    "X-Forwarded-For: 198.51.100.9, 203.0.113.7",
    "X-Forwarded-For: 2001:db8::5, 203.0.113.7",
    "X-Forwarded-For: 192.0.2.66, 203.0.113.7",
]
--- response_body_like eval
["^here (one|two)\$", "^six (one|two)\$", "^other (one|two)\$"]



=== TEST 15: split_clients puts a client where it puts the same address as a peer
--- http_config eval
$::HttpConfig . q{split_clients $remote_addr $half { 50% one; * two; }}
--- config
    location /t { return 200 "$half\n"; }
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Forwarded-For: 127.0.0.1, 203.0.113.7", ""]
--- response_body eval
["two\n", "two\n"]



=== TEST 16: F11: requests of HTTP/0.9, which have no headers
--- http_config eval: $::HttpConfig
--- config eval
qq{location /t { return 200 "$::Say\n"; }}
--- raw_request eval
"GET /t\r\n"
--- http09
--- response_body
127.0.0.1|127.0.0.1|



=== TEST 17: an error that a header filter found, which resets all contexts
--- http_config eval
$::HttpConfig . qq{log_format realip 'realip $::Say';}
--- config
    access_log logs/access.log realip;
    location /t { try_files /index.html =404; }
--- request
GET /t
--- more_headers
X-Forwarded-For: 198.51.100.9, 203.0.113.7
If-Match: "none"
--- error_code: 412
--- response_body_like: 412 Precondition Failed
--- access_log
realip 198.51.100.9|127.0.0.1|1
