import { errorCodes } from '@gateway/errors';
import { Agent, request, type Dispatcher } from 'undici';
import type { Attempt, Kind } from './attempts';

export interface Tenant {
  readonly name: string;
  readonly organizationId: string;
  readonly apiKey: string;
}

interface Order {
  readonly marker: string;
  readonly kind: Kind;
  readonly tenant: Tenant;
  /** Of the answer. */
  readonly tokens: number;
  /** Of `cancelled`: after how many chunks. */
  readonly chunks: number;
}

export interface ChatClient {
  send(order: Order): Promise<Attempt>;
  close(): Promise<void>;
}

type Ending = Pick<Attempt, 'outcome' | 'status' | 'code' | 'generationId' | 'costNanoUsd' | 'fault'>;

/** Longer than a generation may take, with all that a request waits for before it. */
const PATIENCE_MS = 30_000;
/** For the repetitions of an Idempotency-Key. */
const IDEMPOTENT_PATIENCE_MS = 40_000;
const REPEAT_PAUSE_MS = 500;
const NANO_USD_PER_USD = 1e9;
const known: ReadonlySet<string> = new Set(errorCodes);

/**
 * Sends chat completions and judges each answer. It repeats nothing but what has an Idempotency-Key.
 *
 * @param model one that the model emulator answers for, since prompts say how long the answer is to be.
 */
export function createChatClient(baseUrl: string, model: string): ChatClient {
  const agent = new Agent({ connections: null, keepAliveTimeout: 4_000 });

  async function send(order: Order): Promise<Attempt> {
    const { marker, kind, tenant } = order;
    const beganMs = Date.now();
    const ending = kind === 'idempotent' ? await sendUntilAnswered(order) : await sendOnce(order);
    return { marker, kind, tenant: tenant.name, beganMs, endedMs: Date.now(), ...ending };
  }

  async function sendUntilAnswered(order: Order): Promise<Ending> {
    const deadline = Date.now() + IDEMPOTENT_PATIENCE_MS;
    for (;;) {
      const ending = await sendOnce(order);
      // 402 and the like would be said again.
      const isFinal = ending.outcome === 'answered' || ending.status === 400 || ending.status === 402;
      if (isFinal || Date.now() > deadline) return ending;
      await new Promise((resolve) => setTimeout(resolve, REPEAT_PAUSE_MS));
    }
  }

  async function sendOnce(order: Order): Promise<Ending> {
    const { marker, kind, tenant, tokens } = order;
    const isStreamed = kind === 'stream' || kind === 'cancelled';
    const abort = new AbortController();
    const overdue = setTimeout(() => abort.abort(), PATIENCE_MS);
    try {
      const answer = await request(`${baseUrl}/chat/completions`, {
        method: 'POST',
        dispatcher: agent,
        signal: abort.signal,
        headers: {
          authorization: `Bearer ${tenant.apiKey}`,
          'content-type': 'application/json',
          ...(kind === 'idempotent' ? { 'idempotency-key': marker } : {}),
        },
        body: JSON.stringify({
          model,
          user: marker,
          max_tokens: 200,
          ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
          messages: [{ role: 'user', content: `${marker} [[tokens:${tokens}]]` }],
        }),
      });
      if (answer.statusCode !== 200) return refusal(answer.statusCode, await answer.body.text());
      const generationId = header(answer, 'x-generation-id');
      const ending = isStreamed ? await readStream(answer, order) : readWhole(await answer.body.text());
      return { status: 200, ...(generationId === undefined ? {} : { generationId }), ...ending };
    } catch {
      return { outcome: abort.signal.aborted ? 'late' : 'lost' };
    } finally {
      clearTimeout(overdue);
    }
  }

  return { send, close: () => agent.destroy() };
}

/** Of an amount in dollars as the API writes it. */
export const nanoUsdOf = (usd: number): bigint => BigInt(Math.round(usd * NANO_USD_PER_USD));

function header(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function readWhole(text: string): Ending {
  const { usage } = JSON.parse(text) as { usage?: { cost?: number } };
  if (usage?.cost === undefined) return { outcome: 'answered', fault: 'an answer without usage.cost' };
  return { outcome: 'answered', costNanoUsd: nanoUsdOf(usage.cost) };
}

async function readStream(answer: Dispatcher.ResponseData, order: Order): Promise<Ending> {
  let rest = '';
  let chunks = 0;
  let cost: number | undefined;
  for await (const piece of answer.body.setEncoding('utf8') as AsyncIterable<string>) {
    const events = (rest + piece).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events.filter((each) => each.startsWith('data: '))) {
      const data = event.slice('data: '.length);
      if (data === '[DONE]') {
        if (cost === undefined) return { outcome: 'answered', fault: 'a stream without usage.cost' };
        return { outcome: 'answered', costNanoUsd: nanoUsdOf(cost) };
      }
      const chunk = JSON.parse(data) as { error?: { code?: string }; usage?: { cost?: number } | null };
      if (chunk.error) return { outcome: 'refused', ...judged(chunk.error.code) };
      cost = chunk.usage?.cost ?? cost;
      chunks += 1;
      if (order.kind === 'cancelled' && chunks > order.chunks) {
        answer.body.destroy();
        return { outcome: 'cancelled' };
      }
    }
  }
  // It ended without [DONE], as only a crash may end it.
  return { outcome: 'lost' };
}

function refusal(status: number, text: string): Ending {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string; type?: string } };
    const isEnvelope = typeof error?.message === 'string' && typeof error.type === 'string';
    if (!isEnvelope) return { outcome: 'refused', status, fault: `no envelope: ${text.slice(0, 200)}` };
    return { outcome: 'refused', status, ...judged(error.code) };
  } catch {
    return { outcome: 'refused', status, fault: `not JSON: ${text.slice(0, 200)}` };
  }
}

function judged(code: string | undefined): Pick<Ending, 'code' | 'fault'> {
  if (code === undefined || !known.has(code))
    return { fault: `the code ${String(code)} is not in the catalogue` };
  return { code };
}
