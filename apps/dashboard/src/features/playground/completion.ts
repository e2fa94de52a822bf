import type { RequestBody } from './request';
import { eventsOf } from './sse';

/** What has come of an answer so far. */
export interface Completion {
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  readonly finishReason: string | undefined;
  readonly generationId: string | undefined;
  /** What it cost, as the API says in its last event; undefined until then. */
  readonly cost: number | undefined;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
  readonly firstTokenMs: number | undefined;
  readonly tookMs: number | undefined;
}

export const NOTHING_YET: Completion = {
  text: '',
  toolCalls: [],
  finishReason: undefined,
  generationId: undefined,
  cost: undefined,
  tokens: undefined,
  firstTokenMs: undefined,
  tookMs: undefined,
};

/** A refusal of the public API, in its own words. */
export class CompletionRefused extends Error {
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

interface Asked {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly body: RequestBody;
  readonly signal: AbortSignal;
  readonly onProgress: (completion: Completion) => void;
}

/** Asks the public API as any program would, and tells what has come after each event. */
export async function complete({ baseUrl, apiKey, body, signal, onProgress }: Asked): Promise<Completion> {
  const begun = performance.now();
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  const requestId = response.headers.get('x-request-id') ?? undefined;
  if (!response.ok) {
    const { error } = (await response.json()) as Wire;
    throw new CompletionRefused(
      error?.message ?? `It answered ${response.status}.`,
      error?.code ?? '',
      requestId,
    );
  }
  let completion = NOTHING_YET;
  const take = (wire: Wire) => {
    if (wire.error) throw new CompletionRefused(wire.error.message, wire.error.code, requestId);
    completion = withMore(completion, wire, performance.now() - begun);
    onProgress(completion);
  };
  if (body['stream'] === true && response.body) {
    for await (const data of eventsOf(response.body)) if (data !== '[DONE]') take(JSON.parse(data) as Wire);
  } else {
    take((await response.json()) as Wire);
  }
  completion = { ...completion, tookMs: performance.now() - begun };
  onProgress(completion);
  return completion;
}

export function withMore(before: Completion, wire: Wire, elapsedMs: number): Completion {
  const choice = wire.choices?.[0];
  const message = choice?.delta ?? choice?.message;
  const calls = [...before.toolCalls];
  message?.tool_calls?.forEach((call, place) => {
    const index = call.index ?? place;
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
