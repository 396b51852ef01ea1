// Node's memcached: `node-memcached.js version`, or
// `node-memcached.js fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.
'use strict';

let Memcached;
try {
  Memcached = require('memcached');
} catch (error) {
  console.error(error.message);
  process.exit(3);
}

const OPTIONS = {
  'default': {},
  'sha1': { algorithm: 'sha1' },
  'hash_ring': { compatibility: 'hash_ring' },
  'namespace': { namespace: 'app:' },
};

function server(text) {
  const [host, port, weight] = text.split(' ');
  return [`${host}:${port}`, Number(weight)];
}

async function main() {
  const [, , action, mode, tag, ...servers] = process.argv;
  if (action === 'version') {
    console.log(require('memcached/package.json').version + ' with hashring ' +
      require('hashring/package.json').version);
    return;
  }

  const pool = servers.map(server);
  const weighted = pool.some(([, weight]) => weight !== 1);
  const client = new Memcached(
    weighted ? Object.fromEntries(pool) : pool.map(([name]) => name), OPTIONS[mode]);
  const set = (key) => new Promise((resolve, reject) => {
    client.set(key, `${tag} ${key}`, 0, (error, stored) =>
      stored ? resolve() : reject(error || new Error(`not stored: ${key}`)));
  });
  for (const key of require('fs').readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
    await set(key);
  }
  client.end();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
