// Generates the RPC contracts from proto/, and a module with their descriptors for gRPC reflection.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = 'libs/platform/contracts/src/generated';
const BUF = path.join('node_modules', '@bufbuild', 'buf', 'bin', 'buf');

function buf(...args) {
  // buf's default cache is in the home folder, which a service account may not have.
  const env = { ...process.env, BUF_CACHE_DIR: path.join(root, 'node_modules', '.cache', 'buf') };
  return execFileSync(process.execPath, [BUF, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

mkdirSync(path.join(root, folder), { recursive: true });
buf('generate');
const descriptors = buf('build', '--exclude-source-info', '--output', '-#format=binpb').toString('base64');
writeFileSync(
  path.join(root, folder, 'descriptors.ts'),
  `export const DESCRIPTORS_BASE64 =\n  '${descriptors}';\n`,
);
