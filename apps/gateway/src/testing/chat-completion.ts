import { eventDataOf, type GatewayProcess } from '@gateway/test-support';

/** A chat completion request. */
export interface ChatRequest {
  /** May contain directives of the emulator, such as `[[tokens:20]]`. */
  readonly prompt: string;
  readonly stream: boolean;
  readonly idempotencyKey?: string;
  readonly maxTokens?: number;
  /** The end user. */
  readonly user?: string;
  readonly runId?: string;
  /** Default "1". */
  readonly runBudgetUsd?: string;
}

export type Outcome =
  /** The client received a complete response with its cost. */
  | {
      readonly kind: 'finished';
      readonly id: string;
      readonly costNanoUsd: bigint;
      readonly replayed: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly status: number;
      readonly code: string;
      readonly retryAfter: string | null;
    }
  /** The connection was closed before the response was complete. */
  | { readonly kind: 'disconnected' };

interface CompletionObject {
  readonly id: string;
  readonly choices: readonly { readonly finish_reason: string | null }[];
  readonly usage?: { readonly cost: number } | null;
  readonly error?: { readonly code: string };
}

export const MODEL = 'demo/small';

/** Sends a request and reads the response. Never rejects: network errors are an outcome. */
export async function complete(
  { baseUrl, apiKey }: Pick<GatewayProcess, 'baseUrl' | 'apiKey'>,
  { prompt, stream, idempotencyKey, maxTokens = 60, user, runId, runBudgetUsd = '1' }: ChatRequest,
): Promise<Outcome> {
  try {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(runId === undefined ? {} : { 'x-run-id': runId, 'x-run-budget-usd': runBudgetUsd }),
      },
      body: JSON.stringify({
        model: MODEL,
        max_tokens: maxTokens,
        stream,
        user,
        ...(stream ? { stream_options: { include_usage: true } } : {}),
        messages: [{ role: 'user', content: prompt }],
      }),
    });
    const text = await response.text();
    return stream && response.status === 200 ? readStream(response, text) : readNonStreaming(response, text);
  } catch {
    return { kind: 'disconnected' };
  }
}

function readNonStreaming(response: Response, text: string): Outcome {
  const body = JSON.parse(text) as CompletionObject;
  return body.error ? failed(response, body.error.code) : finished(response, body);
}

function readStream(response: Response, text: string): Outcome {
  const events = eventDataOf(text);
  if (events.pop() !== '[DONE]') return { kind: 'disconnected' };
  const last = JSON.parse(events.at(-1) ?? '{}') as CompletionObject;
  return last.error ? failed(response, last.error.code) : finished(response, last);
}

function finished(response: Response, { id, usage }: CompletionObject): Outcome {
  if (!usage) throw new Error(`${id} has no cost`);
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { kind: 'finished', id, costNanoUsd: BigInt(usage.cost.toFixed(9).replace('.', '')), replayed };
}

function failed(response: Response, code: string): Outcome {
  return { kind: 'failed', status: response.status, code, retryAfter: response.headers.get('retry-after') };
}
