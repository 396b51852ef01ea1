<?php
// PECL's memcache, the class Memcache: `php-memcache.php version`, or
// `php-memcache.php fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.

if (!class_exists('Memcache')) {
    fwrite(STDERR, "PHP has no class Memcache\n");
    exit(3);
}
if ($argv[1] === 'version') {
    exit(phpversion('memcache') . "\n");
}

[, , $mode, $tag] = $argv;
$settings = [
    'default' => [],
    'fnv' => ['hash_function' => 'fnv'],
    'standard' => ['hash_strategy' => 'standard'],
    'standard fnv' => ['hash_strategy' => 'standard', 'hash_function' => 'fnv'],
    'prefix' => ['prefix_static_key' => 'app:'],
][$mode];
// nginx does not decompress what it finds.
$settings['compress_threshold'] = 0;
foreach ($settings as $name => $value) {
    ini_set("memcache.$name", $value) !== false || fail("memcache.$name is refused");
}

$client = new Memcache();
foreach (array_slice($argv, 4) as $server) {
    [$host, $port, $weight] = explode(' ', $server);
    if (str_contains($host, ':')) {
        $host = "[$host]";
    } elseif ($host[0] === '/') {
        $host = "unix://$host";
    }
    $weight === '1' ? $client->addServer($host, $port) : $client->addServer($host, $port, true, $weight);
}
foreach (file('php://stdin', FILE_IGNORE_NEW_LINES) as $key) {
    $client->set($key, "$tag $key") || fail("$key is not stored");
}

function fail($reason)
{
    fwrite(STDERR, "$reason\n");
    exit(1);
}
