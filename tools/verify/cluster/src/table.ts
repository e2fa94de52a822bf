import { alignedTable } from '@gateway/test-support';
import type { Cluster } from './cluster';

/** What runs where. */
export function tableOf({ replicas, engines }: Cluster): string {
  const rows = [
    ['process', 'pid', 'health and metrics', 'gRPC', 'HTTP'],
    ...replicas.map(({ name, service, pid, adminUrl, rpcPort, httpPort }) => [
      name,
      String(pid() ?? '–'),
      adminUrl,
      service === 'edge-proxy' || service === 'dashboard-api' ? '–' : `127.0.0.1:${rpcPort}`,
      service === 'edge-proxy' || service === 'dashboard-api' ? `127.0.0.1:${httpPort}` : '–',
    ]),
    ['PostgreSQL', String(engines.postgres.pid), '–', '–', `127.0.0.1:${engines.postgres.port}`],
    ...(engines.poolerPort === undefined
      ? []
      : [['PgBouncer', '–', '–', '–', `127.0.0.1:${engines.poolerPort}`]]),
    ['Redis', '–', '–', '–', `127.0.0.1:${engines.redis.port}`],
    ['Kafka', '–', '–', '–', engines.broker],
  ];
  return alignedTable(rows, rows.length)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
