import type { RequestBody } from './request';
import { eventsOf } from './sse';

/** The state of a response while it streams. */
export interface Completion {
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  readonly finishReason: string | undefined;
  readonly generationId: string | undefined;
  /** The cost from the last event; undefined until then. */
  readonly cost: number | undefined;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number | undefined;
}

export const EMPTY_COMPLETION: Completion = {
  text: '',
  toolCalls: [],
  finishReason: undefined,
  generationId: undefined,
  cost: undefined,
  tokens: undefined,
  firstTokenMs: undefined,
  durationMs: undefined,
};

/** An error of the public API. */
export class CompletionError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
}

interface Wire {
  readonly id?: string;
  readonly choices?: readonly {
    readonly delta?: WireMessage;
    readonly message?: WireMessage;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly cost?: number;
  } | null;
  readonly error?: { readonly message: string; readonly code: string };
}

interface WireMessage {
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

interface CompleteOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly body: RequestBody;
  readonly signal: AbortSignal;
  readonly onProgress: (completion: Completion) => void;
}

/** Calls the public API as any client does, and reports progress after each event. */
export async function complete({
  baseUrl,
  apiKey,
  body,
  signal,
  onProgress,
}: CompleteOptions): Promise<Completion> {
  const startedAt = performance.now();
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  const requestId = response.headers.get('x-request-id') ?? undefined;
  if (!response.ok) {
    const { error } = (await response.json()) as Wire;
    throw new CompletionError(error?.message ?? `HTTP ${response.status}`, error?.code ?? '', requestId);
  }
  let completion = EMPTY_COMPLETION;
  const apply = (wire: Wire) => {
    if (wire.error) throw new CompletionError(wire.error.message, wire.error.code, requestId);
    completion = applyChunk(completion, wire, performance.now() - startedAt);
    onProgress(completion);
  };
  if (body['stream'] === true && response.body) {
    for await (const data of eventsOf(response.body)) if (data !== '[DONE]') apply(JSON.parse(data) as Wire);
  } else {
    apply((await response.json()) as Wire);
  }
  completion = { ...completion, durationMs: performance.now() - startedAt };
  onProgress(completion);
  return completion;
}

export function applyChunk(before: Completion, wire: Wire, elapsedMs: number): Completion {
  const choice = wire.choices?.[0];
  const message = choice?.delta ?? choice?.message;
  const calls = [...before.toolCalls];
  message?.tool_calls?.forEach((call, position) => {
    const index = call.index ?? position;
    const known = calls[index] ?? { name: '', arguments: '' };
    calls[index] = {
      name: known.name + (call.function?.name ?? ''),
      arguments: known.arguments + (call.function?.arguments ?? ''),
    };
  });
  const hasContent = Boolean(message?.content) || calls.length > 0;
  return {
    ...before,
    text: before.text + (message?.content ?? ''),
    toolCalls: calls,
    finishReason: choice?.finish_reason ?? before.finishReason,
    generationId: wire.id ?? before.generationId,
    cost: wire.usage?.cost ?? before.cost,
    tokens: wire.usage
      ? { input: wire.usage.prompt_tokens, output: wire.usage.completion_tokens }
      : before.tokens,
    firstTokenMs: before.firstTokenMs ?? (hasContent ? elapsedMs : undefined),
  };
}
