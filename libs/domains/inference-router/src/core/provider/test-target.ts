import type { CancelSignal, Clock, UnixMs } from '@gateway/base';
import { targetKey, type Model, type Target } from '../catalogue/model-catalogue';
import { dialects } from '../dialects/registry';
import { toUpstreamFailure } from '../failure/upstream-failure';
import type { GenerationRequest } from '../generation/finished-generation';
import type { ProviderTransport, Timers } from '../ports';
import { encodeEmbeddings } from './encode-embeddings';
import { openTarget } from './open-target';

/** Below the deadline of the rpc. */
const TIMEOUT_MS = 8_000;

/** The codes of an error, which its sender chose, between its origin and its URL. */
const CODES = /^(\S+: (?:HTTP \d{3}|error in the response)) \S.* from /;

const BODY = new TextEncoder().encode('{"messages":[{"role":"user","content":"Hi"}]}');

/** With the length that requests without one get. */
function embeddingsBody([first, ...others]: readonly number[]): Uint8Array {
  const dimensions = others.length > 0 ? { dimensions: first } : {};
  return new TextEncoder().encode(JSON.stringify({ input: ['Hi'], ...dimensions }));
}

export interface TestTargetPorts {
  /** Used for this test only, so that it shares no connection with the catalogue in effect. */
  readonly openTestTransport: () => ProviderTransport;
  readonly timers: Timers;
  readonly clock: Clock;
}

export interface TargetTest {
  readonly durationMs: number;
  /** The error of the provider, without secrets; undefined when it responded. */
  readonly error: string | undefined;
}

/** Requests one token, or one embedding, from a target. Neither its circuit breaker nor anyone's credit is affected. Never rejects. */
export async function testTarget(
  ports: TestTargetPorts,
  {
    model,
    target,
    signal,
    showsErrorTexts,
  }: {
    readonly model: Model;
    readonly target: Target;
    readonly signal: CancelSignal;
    /** Otherwise the error has the status only: the address may be one of the operator's network. */
    readonly showsErrorTexts: boolean;
  },
): Promise<TargetTest> {
  const transport = ports.openTestTransport();
  const startedAt = ports.clock.now();
  const result = async (error: string | undefined): Promise<TargetTest> => {
    const durationMs = Math.max(0, ports.clock.now() - startedAt);
    await transport.close();
    return { durationMs, error };
  };
  try {
    const { provider, providerModel, options, signer } = target;
    const { stream, n, maxOutputTokens, exactSeed } = REQUEST;
    const encoding = { providerModel, options, signer, stream, n, maxOutputTokens, exactSeed };
    const { embeddingDimensions } = model;
    const body = embeddingDimensions
      ? embeddingsBody(embeddingDimensions)
      : await dialects[provider.dialect].encodeRequest(BODY, { ...encoding, ownsUntagged: true }, () =>
          Promise.resolve(),
        );
    const embeddings = embeddingDimensions && encodeEmbeddings(body, target, model);
    const request = embeddings ? { ...REQUEST, bodyJson: body, embeddings: true } : REQUEST;
    const { generationId, createdAt } = REQUEST;
    const opened = await openTarget(
      {
        ...ports,
        transport,
        observer: { firstEventAfter: () => undefined },
        logsErrorTexts: showsErrorTexts,
      },
      {
        target,
        model,
        body,
        embeddings,
        request,
        callerSignal: signal,
        totalMs: TIMEOUT_MS,
        head: { generationId, createdUnixS: createdAt, modelId: model.id },
        gate: undefined,
        onSent: () => undefined,
      },
    );
    if (opened.kind === 'stream') opened.attempt.finish();
    return await result(undefined);
  } catch (error) {
    const { kind, message } = toUpstreamFailure(error);
    const shown = showsErrorTexts ? message : message.replace(CODES, '$1 from ');
    return result(shown || `${targetKey(target)}: ${kind}`);
  }
}

const REQUEST: GenerationRequest = {
  generationId: 'gen-test',
  organizationId: '',
  keyId: '',
  requestId: '',
  modelId: '',
  stream: false,
  includeUsage: false,
  bodyJson: BODY,
  exactSeed: undefined,
  maxOutputTokens: 1,
  n: 1,
  createdAt: 0 as UnixMs,
  estimatedInputTokens: 8,
  inputParts: { images: 0, estimatedImageTokens: 0, hasDefinitions: false },
  maxInputTokens: undefined,
  prices: undefined,
  signedBy: undefined,
  promptCacheKey: undefined,
  targetRules: undefined,
  runId: undefined,
  projectId: undefined,
  apiType: 'completions',
  externalUser: undefined,
  tags: [],
  idempotencyScope: undefined,
  responseKey: undefined,
};
