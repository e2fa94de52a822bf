import { EventStreamCodec } from '@smithy/eventstream-codec';
import { inspect } from 'node:util';
import { createLogger } from '@gateway/runtime';
import type { DialectName } from '../core/dialects/registry';
import { dialectNames } from '../core/dialects/registry';
import { chunk, ScriptedProvider, startStream, type Script } from '../testing/scripted-provider';
import { generateRequest, model, provider, withRouter } from '../testing/router-under-test';

/** Every provider quotes this part of the prompt wherever an error can have a text. */
const QUOTE = 'zanzibar quarterly merger memo';
const STATUSES = [400, 401, 402, 403, 404, 408, 409, 413, 422, 424, 429, 498, 499, 500, 502, 503, 504, 529];

const error = {
  message: QUOTE,
  type: QUOTE,
  code: QUOTE,
  status: QUOTE,
  param: QUOTE,
  __type: QUOTE,
  details: [{ '@type': QUOTE, reason: QUOTE }],
};
const bodies: readonly unknown[] = [
  { error },
  [{ error }],
  { error: QUOTE, error_type: QUOTE },
  { object: 'error', ...error },
  { detail: QUOTE },
  { detail: [{ msg: QUOTE }] },
  { type: 'error', error },
  { ...error, Message: QUOTE },
  QUOTE,
];

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);
const frame = (headers: Record<string, string>, body: unknown) =>
  codec.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]),
    ),
    body: Buffer.from(JSON.stringify(body)),
  });

/** The events of a stream that fails, or is malformed, with the quote in each place. */
const streams: Record<DialectName, readonly (string | Uint8Array)[]> = {
  openai: [
    ...bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`),
    `data: ${JSON.stringify(chunk({ content: 'Hi' }))}\n\ndata: ${JSON.stringify({ error })}\n\n`,
    `data: ${JSON.stringify(chunk({ content: 'Hi' }, QUOTE))}\n\n`,
    `event: ${QUOTE}\ndata: ${QUOTE}\n\n`,
  ],
  anthropic: [
    ...bodies.map((body) => `event: error\ndata: ${JSON.stringify(body)}\n\n`),
    `data: ${JSON.stringify({ type: QUOTE })}\n\n`,
    [
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: QUOTE } },
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join(''),
  ],
  gemini: [
    ...bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`),
    `data: ${JSON.stringify({ candidates: [{ finishReason: QUOTE }] })}\n\n`,
    `data: ${JSON.stringify({ promptFeedback: { blockReason: QUOTE } })}\n\n`,
  ],
  converse: [
    frame({ ':message-type': 'error', ':error-code': QUOTE, ':error-message': QUOTE }, {}),
    ...[QUOTE, 'validationException', 'throttlingException', 'modelStreamErrorException'].map((type) =>
      frame(
        { ':message-type': 'exception', ':exception-type': type },
        { message: QUOTE, originalMessage: QUOTE },
      ),
    ),
    frame({ ':message-type': QUOTE }, {}),
    frame({ ':message-type': 'event', ':event-type': 'messageStop' }, { stopReason: QUOTE }),
  ],
};

const inStream =
  (events: string | Uint8Array): Script =>
  (response) => {
    startStream(response);
    response.end(events);
  };
const withStatus =
  (status: number, body: unknown): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': QUOTE });
    response.end(JSON.stringify(body));
  };

let upstream: ScriptedProvider;
beforeAll(async () => {
  upstream = await ScriptedProvider.start();
});
afterAll(() => upstream.stop());

/** Everything that operators can read of these failures. */
async function seenOf(dialect: DialectName, logsErrorTexts: boolean): Promise<string> {
  const seen: string[] = [];
  const log = createLogger({
    ...{ name: 'inference-router', level: 'trace', pretty: false },
    destination: { write: (line: string) => void seen.push(line) },
  });
  const models = [model([provider('acme', upstream.url, { dialect, maxAttempts: 1 })])];
  await withRouter(
    models,
    async (router) => {
      const play = async (script: Script, stream: boolean) => {
        upstream.play(script);
        const result = await router.collect(generateRequest({ stream }));
        const failure = result.error as { internalMessage?: string; cause?: Error } | undefined;
        seen.push(failure?.internalMessage ?? '', inspect(failure?.cause?.stack));
      };
      for (const status of STATUSES)
        for (const body of bodies) await play(withStatus(status, body), status % 2 === 0);
      for (const body of bodies) await play(withStatus(200, body), false);
      for (const events of streams[dialect]) await play(inStream(events), true);
      seen.push(inspect(router.events, { depth: 10 }), await router.metrics.metrics());
    },
    { log, logsErrorTexts },
  );
  return seen.join('\n');
}

it.each(dialectNames)(
  "a text of a provider's error (%s) is in no log line, metric, event or internal message",
  async (dialect) => {
    const seen = await seenOf(dialect, false);
    expect(seen).toMatch(/acme: HTTP 401 from http/);
    expect(seen.split('\n').filter((line) => line.includes('zanzibar'))).toEqual([]);
  },
);

it('with the setting the log has it', async () => {
  expect(await seenOf('openai', true)).toContain(QUOTE);
});

it.each([
  [true, 'Key sk-… rejected for the organization'],
  [false, ''],
])(
  'a failed attempt has the status, code and type, and with the setting (%s) the text',
  async (logsErrorTexts, text) => {
    await withRouter(
      [model([provider('acme', upstream.url, { maxAttempts: 1 })])],
      async (router) => {
        const message = 'Key sk-… rejected for the organization';
        upstream.play(withStatus(401, { error: { message, type: 'auth_error', code: 'invalid_api_key' } }));
        await router.collect(generateRequest({ stream: false }));
        expect(router.events.at(-1)).toMatchObject({
          attempts: [
            {
              outcome: 'misconfigured',
              error: { httpStatus: 401, code: 'invalid_api_key', type: 'auth_error', text },
            },
          ],
        });
      },
      { logsErrorTexts },
    );
  },
);
