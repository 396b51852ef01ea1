// memjs: `node-memjs.js version`, or
// `node-memjs.js fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.
'use strict';

let memjs;
try {
  memjs = require('memjs');
} catch (error) {
  console.error(error.message);
  process.exit(3);
}

async function main() {
  const [, , action, , tag, ...servers] = process.argv;
  if (action === 'version') {
    console.log(require('memjs/package.json').version);
    return;
  }

  const names = servers.map((server) => server.split(' ').slice(0, 2).join(':'));
  const client = memjs.Client.create(names.join(','));
  for (const key of require('fs').readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
    if (!await client.set(key, `${tag} ${key}`)) {
      throw new Error(`not stored: ${key}`);
    }
  }
  client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
