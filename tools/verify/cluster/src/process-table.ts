import { alignedTable } from '@gateway/test-support';
import type { Cluster } from './cluster';

/** Processes with their URLs. */
export function renderProcessTable({ replicas, datastores }: Cluster): string {
  const rows = [
    ['process', 'pid', 'health and metrics', 'gRPC', 'HTTP'],
    ...replicas.map(({ name, service, pid, adminUrl, rpcPort, httpPort }) => [
      name,
      String(pid() ?? '–'),
      adminUrl,
      service === 'edge-proxy' || service === 'dashboard-api' ? '–' : `127.0.0.1:${rpcPort}`,
      service === 'edge-proxy' || service === 'dashboard-api' ? `127.0.0.1:${httpPort}` : '–',
    ]),
    ['PostgreSQL', String(datastores.postgres.pid), '–', '–', `127.0.0.1:${datastores.postgres.port}`],
    ...(datastores.poolerPort === undefined
      ? []
      : [['PgBouncer', '–', '–', '–', `127.0.0.1:${datastores.poolerPort}`]]),
    ['Redis', '–', '–', '–', `127.0.0.1:${datastores.redis.port}`],
    ['Kafka', '–', '–', '–', datastores.broker],
  ];
  return alignedTable(rows, rows.length)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
