# The handler that nginx replaces: a JSON text from the cluster, wrapped for the callback.
package Count;
use strict;
use warnings;

use Apache2::Const -compile => qw(OK NOT_FOUND);
use Apache2::RequestIO  ();
use Apache2::RequestRec ();
use Apache2::Response   ();
use Cache::Memcached::Fast;

my $cache;

sub handler {
    my $r = shift;
    my %args = map { my ($name, $value) = split /=/, $_, 2; ($name => $value // '') } split /&/, $r->args // '';
    s/%([0-9A-Fa-f]{2})/chr hex $1/ge for values %args;

    $cache ||= Cache::Memcached::Fast->new({
        servers       => [ split / /, $ENV{BENCH_MEMCACHED} ],
        namespace     => 'testapp::',
        ketama_points => 150,
    });
    my $json = $cache->get("$args{user_id}::$args{entry_id}");
    return Apache2::Const::NOT_FOUND unless defined $json;

    my $callback = $args{callback} // '';
    $json = "$callback($json);" if $callback =~ /\A[A-Za-z0-9_]{1,255}\z/;
    $r->content_type('text/javascript');
    $r->set_content_length(length $json);
    $r->print($json);
    return Apache2::Const::OK;
}

1;
