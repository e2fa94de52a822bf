import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Cluster } from './cluster';

/** Writes the list of processes with their health and metrics URLs, for tools. */
export function writeProcessesFile(stateDirectory: string, { replicas }: Cluster): void {
  const processes = replicas.map(({ name, service, adminUrl }) => ({ name, service, adminUrl }));
  writeFileSync(path.join(stateDirectory, 'cluster.json'), `${JSON.stringify({ processes }, null, 2)}\n`);
}
