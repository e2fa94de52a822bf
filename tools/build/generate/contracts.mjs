// Generates the RPC contracts from proto/, their descriptors for gRPC reflection, and the table of who may call which method.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buf, callsBetween, readAccess } from './access-table.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = 'libs/platform/contracts/src/generated';

mkdirSync(path.join(root, folder), { recursive: true });
buf('generate');
const descriptors = buf('build', '--exclude-source-info', '--output', '-#format=binpb').toString('base64');
writeFileSync(
  path.join(root, folder, 'descriptors.ts'),
  `export const DESCRIPTORS_BASE64 =\n  '${descriptors}';\n`,
);

const access = readAccess();
const table = (name, type, value) =>
  `export const ${name}: Readonly<Record<string, ${type}>> = ${JSON.stringify(value, null, 2)};\n`;
writeFileSync(
  path.join(root, folder, 'access.ts'),
  [
    table('CALLERS', 'readonly string[]', access.callers),
    table('SERVERS', 'readonly string[]', access.servers),
    table('CALLS', 'readonly string[]', callsBetween(access)),
    table('PERMISSIONS', 'string', access.permissions),
    table('WITHOUT_PERSON', 'string', access.withoutPerson),
    table('AUDITED', 'string', access.audited),
  ].join('\n'),
);
