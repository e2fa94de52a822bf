import { nanoUsd, type UnixMs } from '@gateway/base';
import { UsageSource } from '@gateway/contracts/common';
import { type GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { isRefusal, refusalError, unavailableAsNoCapacity } from '@gateway/errors';
import { isRpcWithoutResponse, type RpcClient } from '@gateway/rpc';
import {
  generationIdMissing,
  generationNotFound,
  generationView,
  MAX_GENERATION_ID_LENGTH,
} from '@gateway/public-api';
import { type Authenticator } from '../access/authenticate';
import { type Answerer } from '../http/answer/answer';
import { callMetadata } from '../http/request/call-metadata';
import { type Exchange } from '../http/exchange';
import { queryOf } from '../http/request/query';
import { limits } from '../settings';

export interface LookUpGenerationPorts {
  readonly authenticate: Authenticator;
  readonly answer: Answerer;
  readonly generationQuery: RpcClient<typeof GenerationQueryDefinition>;
}

const NO_USAGE = {
  promptTokens: 0,
  cachedTokens: 0,
  imageTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

const USAGE_SOURCES: ReadonlyMap<UsageSource, 'provider' | 'counted'> = new Map([
  [UsageSource.USAGE_SOURCE_PROVIDER, 'provider'],
  [UsageSource.USAGE_SOURCE_COUNTED, 'counted'],
]);

/** GET /v1/generation?id=: one settled generation of the key's organization. */
export async function lookUpGeneration(ports: LookUpGenerationPorts, exchange: Exchange): Promise<void> {
  const { authenticate, answer, generationQuery } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return answer.error(exchange, refusalError(grant));

  const { id } = queryOf(exchange.request);
  if (typeof id !== 'string' || id === '' || id.length > MAX_GENERATION_ID_LENGTH) {
    return answer.error(exchange, refusalError(generationIdMissing()));
  }
  const { generation } = await unavailableAsNoCapacity(
    generationQuery.getGeneration(
      { organizationId: grant.organizationId, generationId: id },
      { timeoutMs: limits.calls.readMs, metadata: callMetadata(exchange) },
    ),
    isRpcWithoutResponse,
  );
  if (!generation) return answer.error(exchange, refusalError(generationNotFound()));
  exchange.generationId = generation.id;
  const view = generationView({
    ...generation,
    createdAt: Number(generation.createdUnixMs) as UnixMs,
    usage: generation.usage ?? NO_USAGE,
    usageSource: USAGE_SOURCES.get(generation.usageSource),
    charged: nanoUsd(generation.chargedNanoUsd),
  });
  answer.json(exchange, 200, JSON.stringify(view));
}
