import type { Completion } from './completion';
import { type Call, Pace } from './call';
import type { FaultPlan } from './faults';
import { createFrame, type Frame } from './framing';
import type { RenderedStream, WireFormat } from './wire-format';

/** Events are batched up to this many characters per write, unless the rate is limited. */
const BATCH_CHARACTERS = 16_384;

/** Shorter waits are skipped, since a timer is not worth its cost. */
const SHORTEST_WAIT_MS = 1;

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

export interface Delivery {
  readonly call: Call;
  readonly completion: Completion;
  readonly plan: FaultPlan;
  /** Tokens per second; 0: as fast as possible. */
  readonly rate: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: WireFormat;
}

/** Sends the completion as one JSON body, with the faults that apply to it. */
export async function deliverJson(delivery: Delivery): Promise<void> {
  const { call, completion, plan, rate, headers, format } = delivery;
  if (rate > 0) await call.sleep((completion.usage.completionTokens * 1000) / rate);
  if (call.closed) return;
  const text = format.renderCompletion(completion, plan.usage);
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

/** Sends the completion as server-sent events, token by token, with the faults of the plan. */
export async function deliverStream(
  delivery: Delivery,
  includeUsage: boolean,
  onChunks: (count: number) => void,
): Promise<void> {
  const { call, completion, plan, rate, headers, format } = delivery;
  if (!completion.showsReasoning && rate > 0)
    await call.sleep((completion.usage.reasoningTokens * 1000) / rate);
  if (call.closed) return;
  const stream = format.renderStream(completion, includeUsage, plan.usage);
  const { binary } = stream;
  const type = binary ? { 'content-type': binary.contentType } : STREAM_HEADERS;
  call.response.writeHead(200, { ...headers, ...type });

  // Binary frames are batched as strings of one character per byte.
  const frame: Frame = binary
    ? (data) => binary.frame(data).toString('latin1')
    : createFrame(stream.crlf === true ? { ...plan, crlf: true } : plan, stream.nameOf);
  const bytesOf = (text: string) => (binary ? Buffer.from(text, 'latin1') : text);
  const write = plan.byteByByte
    ? (text: string) => writeBytes(call, bytesOf(text))
    : (text: string) => call.write(bytesOf(text));
  const breakAfter = plan.midway?.after ?? Infinity;
  const pace = new Pace(call, rate);
  let batch = '';
  let batched = 0;
  let opening = stream.openingEvents;
  let contentChunks = 0;
  /** Resolves when the client accepts more data; only then do the chunks count as written. */
  const writeBatch = async (): Promise<void> => {
    if (batch !== '') await write(batch);
    onChunks(batched);
    batch = '';
    batched = 0;
  };
  for (const chunk of stream.events) {
    if (opening === 0 && contentChunks === breakAfter) break;
    const waitMs = pace.nextWaitMs();
    if (waitMs >= SHORTEST_WAIT_MS) {
      await writeBatch();
      await pace.sleep(waitMs);
    }
    batch += frame(chunk);
    batched++;
    if (opening > 0) opening--;
    else if (stream.isContent(chunk)) contentChunks++;
    if (batch.length >= BATCH_CHARACTERS) await writeBatch();
    if (call.closed) break;
  }
  if (call.closed) return;
  if (plan.midway !== undefined) {
    await writeBatch();
    await applyMidwayFault(call, plan.midway.kind, stream, frame, write);
    return;
  }
  onChunks(batched);
  if (!plan.noDone && stream.end !== undefined) batch += frame(stream.end);
  if (!plan.byteByByte) {
    call.response.end(bytesOf(batch));
    return;
  }
  await write(batch);
  call.response.end();
}

/** Ends a stream with its midway fault, after all earlier chunks were written. */
async function applyMidwayFault(
  call: Call,
  kind: NonNullable<FaultPlan['midway']>['kind'],
  stream: RenderedStream,
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
      for (const event of stream.malformed) await write(frame(event));
      break;
    case 'error-event':
      await write(frame(stream.error));
      break;
    case 'end-early':
      break;
  }
  call.response.end();
}

/** Cuts the connection after the written bytes were sent, so that the client receives them first. */
async function cutAfterFlush(call: Call): Promise<void> {
  await call.untilFlushed();
  call.cut();
}

/** Writes each byte separately, one per turn of the event loop. */
async function writeBytes(call: Call, text: string | Buffer): Promise<void> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (let offset = 0; offset < bytes.length && !call.closed; offset++) {
    await call.write(bytes.subarray(offset, offset + 1));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
