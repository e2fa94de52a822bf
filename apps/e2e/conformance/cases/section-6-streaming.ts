import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  expectedCostNanoUsd,
  nano,
  nothingReserved,
  pricingOf,
  settledGeneration,
  type PublicUsage,
} from '../../src/testing/accounting';
import {
  assertEnvelope,
  assertError,
  body,
  casesOf,
  chat,
  directive,
  eventsOf,
  everyDialect,
  weatherTool,
  type Deployment,
  type ErrorBody,
  type RawResponse,
  completionFormats,
  publicFormats,
} from '../framework';

interface Chunk {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: {
    index: number;
    delta: {
      role?: string;
      content?: string | null;
      tool_calls?: {
        index: number;
        id?: string;
        type?: string;
        function: { name?: string; arguments?: string };
      }[];
    };
    logprobs: unknown;
    finish_reason: string | null;
  }[];
  usage?: { total_tokens: number; prompt_tokens: number; completion_tokens: number; cost: number } | null;
  error?: ErrorBody['error'];
}

/** The chunks of a complete stream: it ends with [DONE], and all chunks have the same id. */
function chunksOf(response: RawResponse): Chunk[] {
  assert.equal(response.status, 200, response.text.slice(0, 500));
  assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(response.headers['cache-control'], 'no-cache, no-transform');
  assert.equal(response.headers['x-accel-buffering'], 'no');
  assert.equal(response.headers['content-encoding'], undefined);
  const events = eventsOf(response);
  assert.equal(events.at(-1), '[DONE]');
  assert.ok(response.text.endsWith('data: [DONE]\n\n'));
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as Chunk);
  for (const chunk of chunks) {
    assert.equal(chunk.object, 'chat.completion.chunk');
    assert.equal(chunk.id, response.headers['x-generation-id']);
    assert.equal(chunk.created, chunks[0]?.created);
    assert.equal(chunk.model, chunks[0]?.model);
  }
  return chunks;
}

const cases: Parameters<typeof casesOf>[1] = [
  {
    title:
      'a stream starts with the role, ends with one finish reason and [DONE], and has usage only if requested',
    async verify(deployment) {
      const model = deployment.model().id;
      const chunks = chunksOf(await chat(deployment, body(deployment, { stream: true })));
      assert.ok(chunks.length >= 3);
      assert.equal(chunks[0]?.model, model);
      // Providers send the role alone, or with the first text.
      assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
      assert.equal(typeof chunks[0].choices[0].delta.content, 'string');
      for (const chunk of chunks) {
        assert.equal(chunk.choices.length, 1);
        assert.ok(!('usage' in chunk));
        assert.ok(!('error' in chunk));
        assert.deepEqual(Object.keys(chunk.choices[0] ?? {}).sort(), [
          'delta',
          'finish_reason',
          'index',
          'logprobs',
        ]);
      }
      const finished = chunks.filter(({ choices }) => choices[0]?.finish_reason !== null);
      assert.equal(finished.length, 1);
      assert.equal(finished[0], chunks.at(-1));
      for (const { choices } of chunks.slice(1)) assert.ok(!('role' in (choices[0]?.delta ?? {})));
    },
  },
  {
    title: 'with include_usage, chunks have usage null, and a last chunk without choices contains the usage',
    async verify(deployment) {
      const response = await chat(
        deployment,
        body(deployment, { stream: true, stream_options: { include_usage: true } }),
      );
      const chunks = chunksOf(response);
      const last = chunks.pop();
      for (const chunk of chunks) assert.equal(chunk.usage, null);
      assert.deepEqual(last?.choices, []);
      assert.ok(last.usage);
      assert.equal(last.usage.total_tokens, last.usage.prompt_tokens + last.usage.completion_tokens);
      assert.ok(last.usage.cost > 0);
    },
  },
  {
    title: 'a streamed tool call has a first delta with id and name, followed by arguments',
    async verify(deployment) {
      const chunks = chunksOf(
        await chat(
          deployment,
          body(deployment, {
            model: deployment.model(['tools']).id,
            stream: true,
            max_tokens: 300,
            tools: [weatherTool],
            tool_choice: 'required',
          }),
        ),
      );
      const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
      assert.ok(deltas.length > 0);
      assert.equal(deltas[0]?.type, 'function');
      assert.equal(deltas[0]?.function.name, 'get_weather');
      assert.ok(deltas[0]?.id);
      const text = deltas.map((delta) => delta.function.arguments ?? '').join('');
      assert.equal(typeof (JSON.parse(text) as { city: unknown }).city, 'string');
      assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'tool_calls');
    },
  },
  ...(['cut-after:3', 'malformed-chunk:3', 'error-event:3', 'end-early:3'] as const).map((fault) => ({
    title: `a failure after the first event (${fault}) sends a last chunk with finish_reason error and the error, then [DONE]`,
    needs: ['emulator'] as const,
    async verify(deployment: Deployment) {
      const response = await chat(
        deployment,
        body(deployment, { stream: true, max_tokens: 50, ...directive(`[[fault:${fault}]] [[tokens:30]]`) }),
      );
      const chunks = chunksOf(response);
      const last = chunks.at(-1);
      assert.equal(last?.choices.length, 1);
      assert.deepEqual(last.choices[0]?.delta, { content: '' });
      assert.equal(last.choices[0].finish_reason, 'error');
      assert.ok(last.error);
      assertEnvelope(last.error);
      assert.deepEqual([last.error.code, last.error.type], ['upstream_error', 'api_error']);
      for (const chunk of chunks.slice(0, -1)) assert.ok(!('error' in chunk));
    },
  })),
  {
    title: 'a failure before the first event returns its HTTP status',
    formats: completionFormats,
    needs: ['emulator'],
    async verify(deployment) {
      const response = await chat(
        deployment,
        body(deployment, { stream: true, ...directive('[[fault:500]]') }),
      );
      assertError(response, 'upstream_error');
    },
  },
  ...(
    ['no-done', 'crlf', 'comments', 'multi-line', 'byte-by-byte', 'huge-chunk:200000', 'no-usage'] as const
  ).map((variant) => ({
    title: `a provider's unusual stream (${variant}) reaches the client in the standard format`,
    needs: ['emulator'] as const,
    async verify(deployment: Deployment) {
      const response = await chat(
        deployment,
        body(deployment, {
          stream: true,
          stream_options: { include_usage: true },
          ...directive(`[[fault:${variant}]] [[tokens:12]]`),
        }),
      );
      const chunks = chunksOf(response);
      assert.ok(chunks.every((chunk) => !('error' in chunk)));
      const usage = chunks.at(-1)?.usage;
      assert.ok(usage && usage.completion_tokens > 0 && usage.cost > 0);
      assert.match(String(chunks.at(-2)?.choices[0]?.finish_reason), /^(stop|length)$/);
    },
  })),
  {
    title: 'stream false, null or absent returns one JSON object; stream_options is ignored',
    async verify(deployment) {
      for (const stream of [false, null, undefined]) {
        const response = await chat(
          deployment,
          body(deployment, { stream, stream_options: { include_usage: true } }),
        );
        assert.equal(response.status, 200, response.text);
        assert.equal(response.json<{ object: string }>().object, 'chat.completion');
      }
    },
  },
];

/** What every format streams. */
const formatCases: Parameters<typeof casesOf>[1] = [
  {
    title: 'a stream has the text and the usage of the whole response, and is charged exactly',
    needs: ['emulator'],
    async verify(deployment) {
      const { baseUrl } = deployment;
      const { apiKey } = await deployment.tenant();
      const request = body(deployment, { max_tokens: 50, ...directive('[[tokens:30]]') });
      const whole = (await chat(deployment, request, { apiKey })).json<{ usage: PublicUsage }>();
      const streaming = { ...request, stream: true, stream_options: { include_usage: true } };
      const streamed = await chat(deployment, streaming, { apiKey });
      assert.equal(streamed.status, 200, streamed.text);
      assert.match(String(streamed.headers['content-type']), /^text\/event-stream/);
      const { text, usage, error } = streamOf(deployment, streamed);
      assert.equal(error, undefined);
      assert.ok(text.length > 0);
      assert.equal(usage?.prompt_tokens, whole.usage.prompt_tokens);
      assert.equal(usage?.completion_tokens, whole.usage.completion_tokens);
      const cost = expectedCostNanoUsd(usage, await pricingOf(baseUrl, apiKey, String(request['model'])));
      const id = String(streamed.headers['x-generation-id']);
      assert.equal(nano((await settledGeneration(baseUrl, apiKey, id)).total_cost), cost);
    },
  },
  {
    title: 'a failure after the first event is the last event, with the content of the envelope',
    needs: ['emulator'],
    async verify(deployment) {
      const { apiKey } = await deployment.tenant();
      const request = body(deployment, { stream: true, ...directive('[[fault:cut-after:3]] [[tokens:30]]') });
      const { text, error } = streamOf(deployment, await chat(deployment, request, { apiKey }));
      assert.ok(text.length > 0);
      assert.ok(error);
      assertEnvelope(error);
      assert.deepEqual([error.code, error.type], ['upstream_error', 'api_error']);
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
  {
    title: 'a replayed stream has the same events',
    async verify(deployment) {
      const headers = { 'idempotency-key': `same-events-${randomUUID()}`, 'last-event-id': '0' };
      const request = body(deployment, { stream: true });
      const first = await chat(deployment, request, { headers });
      assert.equal(first.status, 200, first.text);
      const replay = await chat(deployment, request, { headers });
      assert.equal(replay.headers['idempotent-replayed'], 'true');
      assert.ok(streamOf(deployment, replay).text.length > 0);
      assert.deepEqual(eventsOf(replay), eventsOf(first));
    },
  },
];

const streamOf = ({ format = publicFormats.chat }: Deployment, response: RawResponse) =>
  format.streamOf(response);

export const streamingCases = casesOf('6', [
  ...cases.map((one) => ({ ...one, dialects: everyDialect })),
  ...formatCases.map((one) => ({ ...one, formats: completionFormats })),
]);
