import type { Clock } from '@gateway/base';
import { isRefusal, refusalError } from '@gateway/errors';
import { parseUsageQuery, usageView } from '@gateway/public-api';
import type { EdgeLedger } from '../admission/reservation';
import type { Authenticator } from '../access/authenticate';
import type { ResponseWriter } from '../http/response/response-writer';
import { runInLedger } from '../admission/run-in-ledger';
import { callMetadata } from '../http/request/call-metadata';
import type { Exchange } from '../http/exchange';
import type { LookUpGenerationPorts } from './look-up-generation';
import { queryOf } from '../http/request/query';

export interface ReadUsagePorts {
  readonly authenticate: Authenticator;
  readonly writer: ResponseWriter;
  readonly settledGenerations: LookUpGenerationPorts['settledGenerations'];
  readonly ledger: Pick<EdgeLedger, 'run'>;
  readonly clock: Clock;
}

/** GET /v1/usage: sums over the settled generations of the key's organization, or of one of its runs. */
export async function readUsage(ports: ReadUsagePorts, exchange: Exchange): Promise<void> {
  const { authenticate, writer, settledGenerations, ledger, clock } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return writer.error(exchange, refusalError(grant));

  const query = parseUsageQuery(queryOf(exchange.request), clock.now());
  if (isRefusal(query)) return writer.error(exchange, refusalError(query));
  const { organizationId } = grant;
  const metadata = callMetadata(exchange);
  const [{ totals, groups }, run] = await Promise.all([
    settledGenerations.usage(organizationId, query, metadata),
    query.runId === undefined
      ? undefined
      : ledger.run(organizationId, runInLedger(grant, query.runId), metadata),
  ]);
  writer.json(exchange, 200, JSON.stringify(usageView(query, totals, groups, run)));
}
