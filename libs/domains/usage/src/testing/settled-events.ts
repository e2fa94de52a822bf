import { GenerationSettled, type GenerationFinished } from '@gateway/contracts/events';
import type { LoggedEvent } from '@gateway/events';

export const NOON = Date.UTC(2026, 10, 20, 12);

let nextPosition = 1n;

export interface Settled extends Partial<Omit<GenerationFinished, 'usage'>> {
  readonly tokens?: readonly [prompt: number, cached: number, completion: number, reasoning: number];
  /** Tokens written to the prompt cache. */
  readonly written?: readonly [for5m: number, for1h: number];
  readonly cost?: bigint;
  readonly charged?: bigint;
}

export function settled({
  tokens = [10, 0, 25, 5],
  written = [0, 0],
  cost = 1_500_000n,
  charged = cost,
  ...finished
}: Settled) {
  const [cacheWriteTokens, cacheWrite1hTokens] = written;
  const [promptTokens, cachedTokens, completionTokens, reasoningTokens] = tokens;
  return GenerationSettled.fromPartial({
    finished: {
      generationId: 'gen-1',
      organizationId: 'org-1',
      keyId: 'key-1',
      requestId: 'req_1',
      modelId: 'acme/m-1',
      provider: 'acme',
      providerModel: 'm-1-0601',
      createdUnixMs: BigInt(NOON),
      finishReason: 'stop',
      usage: {
        promptTokens,
        cachedTokens,
        cacheWriteTokens,
        cacheWrite1hTokens,
        imageTokens: 0,
        completionTokens,
        reasoningTokens,
      },
      latencyMs: 310,
      generationTimeMs: 1_200,
      ...finished,
    },
    costNanoUsd: cost,
    chargedNanoUsd: charged,
    settledUnixMs: BigInt(NOON + 100),
  });
}

export function logged(message: GenerationSettled): LoggedEvent {
  return rawEvent(GenerationSettled.encode(message).finish());
}

export function rawEvent(payload: Uint8Array): LoggedEvent {
  const position = nextPosition++;
  return { topic: 'generation.settled', key: 'org-1', headers: {}, position, payload };
}
