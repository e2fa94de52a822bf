import { type Clock, nanoUsd } from '@gateway/base';
import {
  type GenerationQueryDefinition,
  UsageDimension as ContractDimension,
  type UsageRow,
} from '@gateway/contracts/generation-query';
import { isRefusal, refusalError, unavailableAsNoCapacity } from '@gateway/errors';
import { isRpcWithoutResponse, type RpcClient } from '@gateway/rpc';
import { parseUsageQuery, type UsageDimension, type UsageGroup, usageView } from '@gateway/public-api';
import { type Authenticator } from '../access/authenticate';
import { type Answerer } from '../http/answer/answer';
import { callMetadata } from '../http/request/call-metadata';
import { type Exchange } from '../http/exchange';
import { queryOf } from '../http/request/query';
import { limits } from '../settings';

export interface ReadUsagePorts {
  readonly authenticate: Authenticator;
  readonly answer: Answerer;
  readonly generationQuery: RpcClient<typeof GenerationQueryDefinition>;
  readonly clock: Clock;
}

const DIMENSIONS: Readonly<Record<UsageDimension, ContractDimension>> = {
  day: ContractDimension.USAGE_DIMENSION_DAY,
  model: ContractDimension.USAGE_DIMENSION_MODEL,
  api_key: ContractDimension.USAGE_DIMENSION_API_KEY,
};

/** GET /v1/usage: sums over the settled generations of the key's organization. */
export async function readUsage(ports: ReadUsagePorts, exchange: Exchange): Promise<void> {
  const { authenticate, answer, generationQuery, clock } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return answer.error(exchange, refusalError(grant));

  const query = parseUsageQuery(queryOf(exchange.request), clock.now());
  if (isRefusal(query)) return answer.error(exchange, refusalError(query));
  const { totals, rows } = await unavailableAsNoCapacity(
    generationQuery.getUsage(
      {
        organizationId: grant.organizationId,
        startDate: query.startDate,
        endDate: query.endDate,
        groupBy: query.groupBy.map((dimension) => DIMENSIONS[dimension]),
        modelId: query.modelId,
      },
      { timeoutMs: limits.calls.readMs, metadata: callMetadata(exchange) },
    ),
    isRpcWithoutResponse,
  );
  answer.json(exchange, 200, JSON.stringify(usageView(query, groupOf(totals ?? NOTHING), rows.map(groupOf))));
}

const NOTHING: UsageRow = {
  date: undefined,
  modelId: undefined,
  keyId: undefined,
  requests: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
  reasoningTokens: 0n,
  cachedTokens: 0n,
  costNanoUsd: 0n,
};

function groupOf(row: UsageRow): UsageGroup {
  return { ...row, cost: nanoUsd(row.costNanoUsd) };
}
