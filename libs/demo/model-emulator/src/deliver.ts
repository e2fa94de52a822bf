import type { Answer } from './answer';
import { type Call, Pace } from './call';
import type { FaultPlan } from './faults';
import { createFrame, type Frame } from './framing';
import { renderChunks, renderCompletion } from './render';

/** Events are gathered up to this many characters before they are written, when nothing slows them. */
const BATCH_CHARACTERS = 16_384;

/** A wait shorter than this is not worth a timer. */
const SHORTEST_WAIT_MS = 1;

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

export interface Delivery {
  readonly call: Call;
  readonly answer: Answer;
  readonly plan: FaultPlan;
  /** Tokens per second; 0: as fast as possible. */
  readonly rate: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends the answer as one JSON body, with the faults that make sense for it. */
export async function deliverWhole({ call, answer, plan, rate, headers }: Delivery): Promise<void> {
  if (rate > 0) await call.sleep((answer.usage.completionTokens * 1000) / rate);
  if (call.closed) return;
  const text = renderCompletion(answer, plan.usage);
  const midway = plan.midway;
  if (midway === undefined && !plan.byteByByte) {
    call.response.writeHead(200, {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    call.response.end(text);
    return;
  }
  call.response.writeHead(200, { ...headers, 'content-type': 'application/json' });
  if (midway === undefined) {
    await writeBytes(call, text);
    call.response.end();
    return;
  }
  const half = text.slice(0, Math.floor(text.length / 2));
  if (midway.kind === 'malformed') {
    call.response.end(`${half}\u0000}`);
    return;
  }
  await call.write(half);
  if (midway.kind === 'stall') await call.untilClosed();
  else if (midway.kind === 'cut') await cutAfterFlush(call);
  else call.response.end();
}

/** Sends the answer as server-sent events, token by token, with the faults of the plan. */
export async function deliverStream(
  delivery: Delivery,
  includeUsage: boolean,
  onChunks: (count: number) => void,
): Promise<void> {
  const { call, answer, plan, rate, headers } = delivery;
  if (!answer.showsReasoning && rate > 0) await call.sleep((answer.usage.reasoningTokens * 1000) / rate);
  if (call.closed) return;
  call.response.writeHead(200, { ...headers, ...STREAM_HEADERS });

  const frame = createFrame(plan);
  const write = plan.byteByByte
    ? (text: string) => writeBytes(call, text)
    : (text: string) => call.write(text);
  const chunks = renderChunks(answer, includeUsage, plan.usage);
  const breakAt = plan.midway === undefined ? Infinity : answer.choices.length + plan.midway.after;
  const pace = new Pace(call, rate);
  let batch = '';
  let gathered = 0;
  let written = 0;
  /** Returns when the caller takes more; only then do its chunks count as written. */
  const writeBatch = async (): Promise<void> => {
    if (batch !== '') await write(batch);
    onChunks(gathered);
    batch = '';
    gathered = 0;
  };
  for (const chunk of chunks) {
    if (written === breakAt) break;
    const waitMs = pace.nextWaitMs();
    if (waitMs >= SHORTEST_WAIT_MS) {
      await writeBatch();
      await pace.sleep(waitMs);
    }
    batch += frame(chunk);
    gathered++;
    written++;
    if (batch.length >= BATCH_CHARACTERS) await writeBatch();
    if (call.closed) break;
  }
  if (call.closed) return;
  if (plan.midway !== undefined) {
    await writeBatch();
    await breakOff(call, plan.midway.kind, frame, write);
    return;
  }
  onChunks(gathered);
  if (!plan.noDone) batch += frame('[DONE]');
  if (!plan.byteByByte) {
    call.response.end(batch);
    return;
  }
  await write(batch);
  call.response.end();
}

/** Ends a stream in the way its fault says; what came before it is already written. */
async function breakOff(
  call: Call,
  kind: NonNullable<FaultPlan['midway']>['kind'],
  frame: Frame,
  write: (text: string) => Promise<void>,
): Promise<void> {
  switch (kind) {
    case 'stall':
      await call.untilClosed();
      return;
    case 'cut':
      await cutAfterFlush(call);
      return;
    case 'malformed':
      await write(frame('{"id":"chatcmpl-broken","choices":[{"index":0,"delta":{"content":"bro'));
      await write(frame('[DONE]'));
      break;
    case 'error-event':
      await write(
        frame(
          '{"error":{"message":"The server had an error while processing your request (emulated fault).",' +
            '"type":"server_error","param":null,"code":null}}',
        ),
      );
      break;
    case 'end-early':
      break;
  }
  call.response.end();
}

/** Cuts the connection once what was written has left this process, so that the caller sees it first. */
async function cutAfterFlush(call: Call): Promise<void> {
  await call.untilFlushed();
  call.cut();
}

/** Every byte in a write, and a turn of the event loop, of its own. */
async function writeBytes(call: Call, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length && !call.closed; offset++) {
    await call.write(bytes.subarray(offset, offset + 1));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
