import { readFileSync } from 'node:fs';
import path from 'node:path';

const PAGE = path.resolve(__dirname, '../../../../docs/reference/configuration.md');

/** Names of the settings that a service of a cluster reads, from the generated reference. */
export function documentedSettings(service: string): ReadonlySet<string> {
  const entries = readFileSync(PAGE, 'utf8').matchAll(/^### `(\w+)`$.*?^- Read by: (.+?)$/gms);
  return new Set(
    [...entries].flatMap(([, name = '', readers = '']) =>
      /^all (processes|services)$/.test(readers) || readers.split(', ').includes(service) ? name : [],
    ),
  );
}
