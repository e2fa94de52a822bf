import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
  eventually,
  startOtlpReceiver,
  testsCluster,
  type OtlpReceiver,
  type ReceivedSpan,
} from '@gateway/test-support';
import { startTestEnv, type TestEnv } from './testing/test-env';
import type { Tenant } from '@gateway/test-support';

jest.setTimeout(120_000);

const PROMPT = 'the quick secret zebra jumps';
const ANSWER = 'a confidential giraffe replies';
const PROVIDER_KEY = 'provider-key-7f3a9c';
const COLLECTOR_KEY = 'collector-key-51d0';

/** Providers: one that is told of traces, one that is not. They answer at once and keep the headers. */
async function startProvider(): Promise<{ server: Server; url: string; headers: IncomingHttpHeaders[] }> {
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      headers.push(request.headers);
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, headers };
}

const modelsFile = (url: string): string => `providers:
  - { name: told, base_url: ${url}, api_key_env: TOLD_KEY, send_traceparent: true }
  - { name: untold, base_url: ${url}, api_key_env: TOLD_KEY }
models:
${['told', 'untold']
  .map(
    (name) => `  - id: test/${name}
    targets: [{ provider: ${name}, model: m }]
    context_window: 8192
    max_output_tokens: 1024
    prices: { input: '0.10', output: '0.40' }
`,
  )
  .join('')}`;

describe('traces', () => {
  let receiver: OtlpReceiver;
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let folder: string;
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    [receiver, provider] = await Promise.all([startOtlpReceiver(), startProvider()]);
    folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-traces-'));
    writeFileSync(path.join(folder, 'models.yaml'), modelsFile(provider.url));
    testEnv = await startTestEnv({
      modelsFile: path.join(folder, 'models.yaml'),
      env: {
        LOG_LEVEL: 'info',
        TOLD_KEY: PROVIDER_KEY,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${COLLECTOR_KEY}`,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_BLRP_SCHEDULE_DELAY: '100',
      },
    });
    tenant = await testEnv.tenant({ credit: '10.00' });
  });

  afterAll(async () => {
    await testEnv?.stop();
    await receiver?.close();
    provider?.server.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  let traces = 0;
  /** A trace of the test's own. */
  function newTrace(flags: '00' | '01'): { id: string; parent: string; header: string } {
    traces += 1;
    const id = traces.toString(16).padStart(32, 'a');
    const parent = traces.toString(16).padStart(16, 'b');
    return { id, parent, header: `00-${id}-${parent}-${flags}` };
  }

  async function complete(model: string, headers: Record<string, string>): Promise<void> {
    const answer = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: PROMPT }] }),
    });
    expect(await answer.text()).toContain(ANSWER);
    expect(answer.status).toBe(200);
  }

  const settledUsage = ({ name, attributes }: ReceivedSpan): boolean =>
    name === 'process generation.settled' &&
    attributes['messaging.consumer.group.name'] === 'usage-aggregator';

  /** The spans of a trace once its generation has been written down. */
  async function traceOf(id: string): Promise<ReceivedSpan[]> {
    return eventually(
      'the whole trace',
      async () => {
        const spans = receiver.spans.filter(({ traceId }) => traceId === id);
        const ids = new Set(spans.map(({ spanId }) => spanId));
        const roots = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
        return spans.some(settledUsage) && roots.length === 1 ? spans : undefined;
      },
      { patienceMs: 60_000 },
    );
  }

  it('are one from the client through every service to the provider and the books', async () => {
    const trace = newTrace('01');
    await complete('test/told', { traceparent: trace.header });
    const spans = await traceOf(trace.id);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const find = (name: string, kind: ReceivedSpan['kind']): ReceivedSpan => {
      const found = spans.find((span) => span.name === name && span.kind === kind);
      if (found === undefined) throw new Error(`no ${kind} span ${name} of ${spans.map((s) => s.name)}`);
      return found;
    };
    const ancestors = (span: ReceivedSpan): string[] => {
      const parent = byId.get(span.parentSpanId);
      return parent === undefined ? [] : [`${parent.kind} ${parent.name}`, ...ancestors(parent)];
    };

    const request = find('POST /v1/chat/completions', 'server');
    expect(request.parentSpanId).toBe(trace.parent);
    expect(request.attributes).toMatchObject({
      'http.response.status_code': 200,
      'gateway.organization.id': tenant.organizationId,
      'gen_ai.request.model': 'test/told',
    });
    const router = 'gateway.inference_router.v1.InferenceRouter/Generate';
    for (const rpc of [
      'gateway.rate_limit.v1.RateLimit/Admit',
      'gateway.billing_ledger.v1.BillingLedger/HoldCredit',
      router,
    ]) {
      expect(ancestors(find(rpc, 'server'))).toEqual([`client ${rpc}`, 'server POST /v1/chat/completions']);
    }
    expect(ancestors(find('chat', 'client'))[0]).toBe(`server ${router}`);
    expect(ancestors(find('send generation.finished', 'producer'))[0]).toBe(`server ${router}`);
    const settling = find('process generation.finished', 'consumer');
    expect(ancestors(settling)[0]).toBe('producer send generation.finished');
    const counting = spans.find(settledUsage) as ReceivedSpan;
    expect(ancestors(counting)).toContain('consumer process generation.finished');

    const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
    const under = (span: ReceivedSpan) =>
      statements.some((each) => ancestors(each).includes(`${span.kind} ${span.name}`));
    expect(under(find('gateway.billing_ledger.v1.BillingLedger/HoldCredit', 'server'))).toBe(true);
    expect(under(settling)).toBe(true);
    expect(statements.some((each) => ancestors(each)[0] === 'consumer process generation.settled')).toBe(
      true,
    );
    expect(spans.filter(({ failed }) => failed)).toEqual([]);

    const services = new Set(spans.map(({ service }) => service));
    expect([...services].sort()).toEqual(
      testsCluster()
        ? ['auth', 'billing-ledger', 'edge-proxy', 'inference-router', 'rate-limit', 'usage-aggregator']
        : ['gateway'],
    );
    if (testsCluster()) {
      const redis = spans.filter(({ attributes }) => attributes['db.system.name'] === 'redis');
      expect(
        redis.some((each) => ancestors(each)[0] === 'server gateway.rate_limit.v1.RateLimit/Admit'),
      ).toBe(true);
    }
    const told = provider.headers.at(-1)?.['traceparent'];
    expect(told).toBe(`00-${trace.id}-${find('chat', 'client').spanId}-01`);
  });

  it('are not told to a provider whose models file does not say so', async () => {
    const trace = newTrace('01');
    await complete('test/untold', { traceparent: trace.header });
    expect(provider.headers.at(-1)?.['traceparent']).toBeUndefined();
    await traceOf(trace.id);
  });

  it('are begun for a caller who names none, and not recorded for one who says so', async () => {
    const unsampled = newTrace('00');
    await complete('test/told', { traceparent: unsampled.header });
    expect(provider.headers.at(-1)?.['traceparent']).toMatch(
      new RegExp(`^00-${unsampled.id}-[0-9a-f]{16}-00$`),
    );
    const before = receiver.spans.length;
    await complete('test/told', {});
    const own = provider.headers.at(-1)?.['traceparent']?.slice(3, 35) as string;
    const spans = await traceOf(own);
    expect(spans.find(({ name }) => name === 'POST /v1/chat/completions')?.parentSpanId).toBe('');
    expect(receiver.spans.length).toBeGreaterThan(before);
    expect(receiver.spans.filter(({ traceId }) => traceId === unsampled.id)).toEqual([]);
  });

  it('are complete for each of many at once, whose holds and settlements travel together', async () => {
    const many = Array.from({ length: 20 }, () => newTrace('01'));
    await Promise.all(many.map(({ header }) => complete('test/told', { traceparent: header })));
    for (const { id, parent } of many) {
      const spans = await traceOf(id);
      const roots = spans.filter((span) => span.parentSpanId === parent);
      expect(roots.map(({ name }) => name)).toEqual(['POST /v1/chat/completions']);
    }
    // What was done for others is found by a link.
    const linked = receiver.spans.filter(({ name }) => name === 'joined batch');
    const ids = new Set(receiver.spans.map(({ spanId }) => spanId));
    for (const { links } of linked) expect(links.every((id) => ids.has(id))).toBe(true);
  });

  it('bring the lines of the log along, which name the trace that they belong to', async () => {
    const trace = newTrace('01');
    await complete('test/told', { traceparent: trace.header });
    const line = await eventually('the line of the request', async () =>
      receiver.lines.find(({ traceId, body }) => traceId === trace.id && body === 'request'),
    );
    const spans = await traceOf(trace.id);
    const request = spans.find(({ name }) => name === 'POST /v1/chat/completions');
    expect(line).toMatchObject({
      severity: 'info',
      spanId: request?.spanId,
      attributes: { status: 200, organizationId: tenant.organizationId },
    });
    expect(testEnv.gateway.output()).toContain(`"trace_id":"${trace.id}"`);
  });

  it('are named by the histograms of latency, for those who read OpenMetrics', async () => {
    const trace = newTrace('01');
    await complete('test/told', { traceparent: trace.header });
    const read = (accept: string) =>
      Promise.all(
        testEnv.gateway.adminUrls.map(async (url) => {
          const answer = await fetch(`${url}/metrics`, { headers: { accept } });
          return answer.text();
        }),
      ).then((texts) => texts.join('\n'));
    const text = await eventually('the exemplar', async () => {
      const metrics = await read('application/openmetrics-text; version=1.0.0');
      return metrics.includes(`trace_id="${trace.id}"`) ? metrics : undefined;
    });
    expect(text).toMatch(
      /gateway_edge_proxy_request_duration_seconds_bucket\{.*\} \d+ # \{trace_id="[0-9a-f]{32}"\}/,
    );
    // Only so are counters called the same in both formats.
    const counters = [...(await read('text/plain')).matchAll(/^# TYPE (\S+) counter$/gm)].map(
      ([, name]) => name,
    );
    expect(counters.length).toBeGreaterThan(20);
    expect(counters.filter((name) => !name?.endsWith('_total'))).toEqual([]);
  });

  it('hold no key, no prompt and no answer', async () => {
    // Also of what goes wrong.
    await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}x`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/told', messages: [{ role: 'user', content: PROMPT }] }),
    });
    const trace = newTrace('01');
    await complete('test/told', { traceparent: trace.header });
    await traceOf(trace.id);
    const all = receiver.bytes();
    expect(all.includes(tenant.organizationId)).toBe(true);
    for (const secret of [
      tenant.apiKey,
      PROMPT,
      ANSWER,
      PROVIDER_KEY,
      COLLECTOR_KEY,
      testEnv.gateway.adminPassword,
    ]) {
      expect([secret, all.includes(secret)]).toEqual([secret, false]);
    }
    expect(receiver.headers.every((headers) => headers['x-collector-key'] === COLLECTOR_KEY)).toBe(true);
  });
});
