<?php
// PHP's memcached, the class Memcached: `php-memcached.php version`, or
// `php-memcached.php fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.

if (!class_exists('Memcached')) {
    fwrite(STDERR, "PHP has no class Memcached\n");
    exit(3);
}
if ($argv[1] === 'version') {
    preg_match('/libmemcached library version => (\S+)/', info(), $library);
    exit(phpversion('memcached') . ' with libmemcached ' . $library[1] . "\n");
}

[, , $mode, $tag] = $argv;
$hash = fn ($name) => [Memcached::OPT_HASH => constant("Memcached::HASH_$name")];
$consistent = [Memcached::OPT_DISTRIBUTION => Memcached::DISTRIBUTION_CONSISTENT];
$ketama = [Memcached::OPT_LIBKETAMA_COMPATIBLE => true];
$prefix = [Memcached::OPT_PREFIX_KEY => 'app:'];
$binary = [Memcached::OPT_BINARY_PROTOCOL => true];
$options = [
    'default' => [],
    'md5' => $hash('MD5'),
    'crc' => $hash('CRC'),
    'fnv1_64' => $hash('FNV1_64'),
    'fnv1a_64' => $hash('FNV1A_64'),
    'fnv1_32' => $hash('FNV1_32'),
    'fnv1a_32' => $hash('FNV1A_32'),
    'murmur' => $hash('MURMUR'),
    'binary' => $binary,
    'binary fnv1a_32' => $binary + $hash('FNV1A_32'),
    'prefix' => $prefix,
    'hashed prefix' => $prefix + [Memcached::OPT_HASH_WITH_PREFIX_KEY => true],
    'consistent' => $consistent,
    'memcached.default_consistent_hash' => [],
    'consistent fnv1a_32' => $consistent + $hash('FNV1A_32'),
    'libketama' => $ketama,
    'libketama binary' => $ketama + $binary,
    'libketama prefix' => $ketama + $prefix,
    'libketama fnv1a_64' => $ketama + $hash('FNV1A_64'),
    'libketama, then consistent' => $ketama + $consistent,
][$mode];

if ($mode === 'memcached.default_consistent_hash') {
    ini_set($mode, 1) !== false || fail("$mode is refused");
}
$client = new Memcached();
// nginx does not decompress what it finds.
$client->setOption(Memcached::OPT_COMPRESSION, false);
foreach ($options as $option => $value) {
    $client->setOption($option, $value) || fail("option $option is refused");
}
foreach (array_slice($argv, 4) as $server) {
    [$host, $port, $weight] = explode(' ', $server);
    $weight === '1' ? $client->addServer($host, $port) : $client->addServer($host, $port, $weight);
}
foreach (file('php://stdin', FILE_IGNORE_NEW_LINES) as $key) {
    $client->set($key, "$tag $key") || fail("$key: " . $client->getResultMessage());
}

function info()
{
    ob_start();
    phpinfo(INFO_MODULES);
    return ob_get_clean();
}

function fail($reason)
{
    fwrite(STDERR, "$reason\n");
    exit(1);
}
