import { errorCodes } from '@gateway/errors';
import { Agent, request, type Dispatcher } from 'undici';
import type { Attempt, Kind } from './attempts';

export interface Tenant {
  readonly name: string;
  readonly organizationId: string;
  readonly apiKey: string;
}

interface ChatRequest {
  readonly marker: string;
  readonly kind: Kind;
  readonly tenant: Tenant;
  /** Length of the response. */
  readonly tokens: number;
  /** For `cancelled`: number of chunks before the client disconnects. */
  readonly chunks: number;
  /** The run that the request belongs to. */
  readonly run?: { readonly id: string; readonly budgetUsd: string } | undefined;
}

export interface ChatClient {
  send(chat: ChatRequest): Promise<Attempt>;
  close(): Promise<void>;
}

type ChatOutcome = Pick<Attempt, 'outcome' | 'status' | 'code' | 'generationId' | 'costNanoUsd' | 'problem'>;

/** Longer than any generation, including its time in queues. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** For all retries with an Idempotency-Key. */
const RETRY_TIMEOUT_MS = 40_000;
const RETRY_INTERVAL_MS = 500;
const NANO_USD_PER_USD = 1e9;
const known: ReadonlySet<string> = new Set(errorCodes);

interface ChatClientOptions {
  /** Sends each request on a connection of its own. */
  readonly closesConnections?: boolean;
}

/**
 * Sends chat completions and checks each response. Retries only requests with an Idempotency-Key.
 *
 * @param model a model of the model emulator, since prompts set the length of responses
 */
export function createChatClient(
  baseUrl: string,
  model: string,
  { closesConnections = false }: ChatClientOptions = {},
): ChatClient {
  const reuse = closesConnections ? { pipelining: 0 } : { keepAliveTimeout: 4_000 };
  const agent = new Agent({ connections: null, ...reuse });

  async function send(chat: ChatRequest): Promise<Attempt> {
    const { marker, kind, tenant } = chat;
    const startedMs = Date.now();
    const outcome = kind === 'idempotent' ? await sendUntilCompleted(chat) : await sendOnce(chat);
    return { marker, kind, tenant: tenant.name, startedMs, endedMs: Date.now(), ...outcome };
  }

  async function sendUntilCompleted(chat: ChatRequest): Promise<ChatOutcome> {
    const deadline = Date.now() + RETRY_TIMEOUT_MS;
    for (;;) {
      const outcome = await sendOnce(chat);
      // These errors would be repeated.
      const isFinal = outcome.outcome === 'completed' || outcome.status === 400 || outcome.status === 402;
      if (isFinal || Date.now() > deadline) return outcome;
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    }
  }

  async function sendOnce(chat: ChatRequest): Promise<ChatOutcome> {
    const { marker, kind, tenant, tokens, run } = chat;
    const isStreamed = kind === 'stream' || kind === 'cancelled';
    const abort = new AbortController();
    const overdue = setTimeout(() => abort.abort(), RESPONSE_TIMEOUT_MS);
    try {
      const response = await request(`${baseUrl}/chat/completions`, {
        method: 'POST',
        dispatcher: agent,
        signal: abort.signal,
        headers: {
          authorization: `Bearer ${tenant.apiKey}`,
          'content-type': 'application/json',
          ...(kind === 'idempotent' ? { 'idempotency-key': marker } : {}),
          ...(run ? { 'x-run-id': run.id, 'x-run-budget-usd': run.budgetUsd } : {}),
        },
        body: JSON.stringify({
          model,
          user: marker,
          max_tokens: 200,
          ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
          messages: [{ role: 'user', content: `${marker} [[tokens:${tokens}]]` }],
        }),
      });
      if (response.statusCode !== 200) return readError(response.statusCode, await response.body.text());
      const generationId = header(response, 'x-generation-id');
      const outcome = isStreamed
        ? await readStream(response, chat)
        : readNonStreaming(await response.body.text());
      return { status: 200, generationId, ...outcome };
    } catch {
      return { outcome: abort.signal.aborted ? 'timed out' : 'disconnected' };
    } finally {
      clearTimeout(overdue);
    }
  }

  return { send, close: () => agent.destroy() };
}

/** Converts an amount in dollars from the API. */
export const nanoUsdOf = (usd: number): bigint => BigInt(Math.round(usd * NANO_USD_PER_USD));

function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function readNonStreaming(text: string): ChatOutcome {
  const { usage } = JSON.parse(text) as { usage?: { cost?: number } };
  if (usage?.cost === undefined) return { outcome: 'completed', problem: 'a response without usage.cost' };
  return { outcome: 'completed', costNanoUsd: nanoUsdOf(usage.cost) };
}

async function readStream(response: Dispatcher.ResponseData, chat: ChatRequest): Promise<ChatOutcome> {
  let rest = '';
  let chunks = 0;
  let cost: number | undefined;
  for await (const text of response.body.setEncoding('utf8') as AsyncIterable<string>) {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events.filter((each) => each.startsWith('data: '))) {
      const data = event.slice('data: '.length);
      if (data === '[DONE]') {
        if (cost === undefined) return { outcome: 'completed', problem: 'a stream without usage.cost' };
        return { outcome: 'completed', costNanoUsd: nanoUsdOf(cost) };
      }
      const chunk = JSON.parse(data) as { error?: { code?: string }; usage?: { cost?: number } | null };
      if (chunk.error) return { outcome: 'failed', ...checkCode(chunk.error.code) };
      cost = chunk.usage?.cost ?? cost;
      chunks += 1;
      if (chat.kind === 'cancelled' && chunks > chat.chunks) {
        response.body.destroy();
        return { outcome: 'cancelled' };
      }
    }
  }
  // Only a crash may close a stream without [DONE].
  return { outcome: 'disconnected' };
}

function readError(status: number, text: string): ChatOutcome {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string; type?: string } };
    const isEnvelope = typeof error?.message === 'string' && typeof error.type === 'string';
    if (!isEnvelope)
      return { outcome: 'failed', status, problem: `no error envelope:  ${text.slice(0, 200)}` };
    return { outcome: 'failed', status, ...checkCode(error.code) };
  } catch {
    return { outcome: 'failed', status, problem: `not JSON: ${text.slice(0, 200)}` };
  }
}

function checkCode(code: string | undefined): Pick<ChatOutcome, 'code' | 'problem'> {
  if (code === undefined || !known.has(code))
    return { problem: `the code ${String(code)} is not in the error table` };
  return { code };
}
