// `node prisma.mjs SCHEMA`: generates a Prisma client.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');
const [schema] = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  [path.join('node_modules', 'prisma', 'build', 'index.js'), 'generate', '--schema', schema],
  {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      // Generation needs no engine, but Prisma downloads one unless this names an existing file.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  },
);
process.exit(status ?? 1);
