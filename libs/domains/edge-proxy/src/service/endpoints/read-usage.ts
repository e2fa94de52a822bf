import type { Clock } from '@gateway/base';
import { isRefusal, refusalError } from '@gateway/errors';
import { parseUsageQuery, usageView } from '@gateway/public-api';
import { type Ledger, ownRunId, type SettledGenerations } from '../../core';
import type { Authenticator } from '../access/authenticate';
import type { ResponseWriter } from '../http/response/response-writer';
import { callMetadata } from '../http/request/call-metadata';
import type { Exchange } from '../http/exchange';
import { queryOf } from '../http/request/query';

export interface ReadUsagePorts {
  readonly authenticate: Authenticator;
  readonly writer: ResponseWriter;
  readonly settledGenerations: SettledGenerations;
  readonly ledger: Pick<Ledger, 'run'>;
  readonly clock: Clock;
}

/** GET /v1/usage: sums over the settled generations of the key's organization, or of a run of the key or its project. */
export async function readUsage(ports: ReadUsagePorts, exchange: Exchange): Promise<void> {
  const { authenticate, writer, settledGenerations, ledger, clock } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return writer.error(exchange, refusalError(grant));

  const query = parseUsageQuery(queryOf(exchange.request), clock.now());
  if (isRefusal(query)) return writer.error(exchange, refusalError(query));
  const { organizationId } = grant;
  const metadata = callMetadata(exchange);
  const runId = query.runId === undefined ? undefined : ownRunId(grant, query.runId);
  const [{ totals, groups }, run] = await Promise.all([
    settledGenerations.usage(organizationId, { ...query, runId }, metadata),
    runId === undefined ? undefined : ledger.run(organizationId, runId, metadata),
  ]);
  writer.json(exchange, 200, JSON.stringify(usageView(query, totals, groups, run)));
}
