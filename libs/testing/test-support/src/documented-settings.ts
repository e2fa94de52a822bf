import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The documented settings of a service in a cluster: names with their defaults,
 * or undefined where the table has a dash.
 */
export function documentedSettings(service: string): ReadonlyMap<string, string | undefined> {
  const read = (name: string) => readFileSync(path.resolve(__dirname, '../../../../docs', name), 'utf8');
  const found = new Map<string, string | undefined>();
  // A row: | `NAME` | default | services | …, where services may be "all".
  for (const [, name = '', value, services = ''] of read('cluster.md').matchAll(
    /^\| `([A-Z_]+)` *\| (?:`([^`]*)`|–) *\| ([^|]+)\|/gm,
  )) {
    const readers = services.split(',').map((reader) => reader.trim());
    if (readers.includes('all') || readers.includes(service)) found.set(name, value);
  }
  return found;
}
