#!/usr/bin/perl
# Fills the demo's cluster as an application's worker would. With --count, it goes on to raise the
# counter of entry 100 once a second.
use strict;
use warnings;

use Cache::Memcached::Fast;

my $cache = Cache::Memcached::Fast->new({
    servers       => [ 'localhost:20000', 'localhost:20001', 'localhost:20002' ],
    namespace     => 'testapp::',
    ketama_points => 150,
});

sub store {
    my ($entry, $count) = @_;
    $cache->set("100::$entry", qq({"status":"success", "count":$count}))
        or die "fill.pl: could not store 100::$entry\n";
}

store($_, 10 * $_) for 100 .. 199;

if (@ARGV && $ARGV[0] eq '--count') {
    for (my $count = 1001; ; $count++) {
        sleep 1;
        store(100, $count);
    }
}
