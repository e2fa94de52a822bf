import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
  eventually,
  startOtlpReceiver,
  isClusterDeployment,
  type OtlpReceiver,
  type ReceivedSpan,
} from '@gateway/test-support';
import { startTestEnv, type TestEnv } from './testing/test-env';
import type { Tenant } from '@gateway/test-support';

jest.setTimeout(120_000);

const PROMPT = 'the quick secret zebra jumps';
const RESPONSE_TEXT = 'a confidential giraffe replies';
const PROVIDER_KEY = 'provider-key-7f3a9c';
const COLLECTOR_KEY = 'collector-key-51d0';

/** A provider that responds immediately and records request headers. */
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
          choices: [
            { index: 0, message: { role: 'assistant', content: RESPONSE_TEXT }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, headers };
}

const modelsFile = (url: string): string => `providers:
  - { name: traced, base_url: ${url}, api_key_env: PROVIDER_KEY, send_traceparent: true }
  - { name: untraced, base_url: ${url}, api_key_env: PROVIDER_KEY }
models:
${['traced', 'untraced']
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
        PROVIDER_KEY,
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
  function newTrace(flags: '00' | '01'): { id: string; parent: string; header: string } {
    traces += 1;
    const id = traces.toString(16).padStart(32, 'a');
    const parent = traces.toString(16).padStart(16, 'b');
    return { id, parent, header: `00-${id}-${parent}-${flags}` };
  }

  async function complete(model: string, headers: Record<string, string>): Promise<void> {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: PROMPT }] }),
    });
    expect(await response.text()).toContain(RESPONSE_TEXT);
    expect(response.status).toBe(200);
  }

  const isUsageSpan = ({ name, attributes }: ReceivedSpan): boolean =>
    name === 'process generation.settled' &&
    attributes['messaging.consumer.group.name'] === 'usage-aggregator';

  /** Waits until usage has recorded the generation; returns the spans of its trace. */
  async function traceOf(id: string): Promise<ReceivedSpan[]> {
    return eventually(
      'the trace is complete',
      async () => {
        const spans = receiver.spans.filter(({ traceId }) => traceId === id);
        const ids = new Set(spans.map(({ spanId }) => spanId));
        const roots = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
        return spans.some(isUsageSpan) && roots.length === 1 ? spans : undefined;
      },
      { timeoutMs: 60_000 },
    );
  }

  it('span the path from the client through every service to the provider, settlement and usage', async () => {
    const trace = newTrace('01');
    await complete('test/traced', { traceparent: trace.header });
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
      'gen_ai.request.model': 'test/traced',
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
    const counting = spans.find(isUsageSpan) as ReceivedSpan;
    expect(ancestors(counting)).toContain('consumer process generation.finished');

    const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
    const hasStatement = (span: ReceivedSpan) =>
      statements.some((each) => ancestors(each).includes(`${span.kind} ${span.name}`));
    expect(hasStatement(find('gateway.billing_ledger.v1.BillingLedger/HoldCredit', 'server'))).toBe(true);
    expect(hasStatement(settling)).toBe(true);
    expect(statements.some((each) => ancestors(each)[0] === 'consumer process generation.settled')).toBe(
      true,
    );
    expect(spans.filter(({ failed }) => failed)).toEqual([]);

    const services = new Set(spans.map(({ service }) => service));
    expect([...services].sort()).toEqual(
      isClusterDeployment()
        ? ['auth', 'billing-ledger', 'edge-proxy', 'inference-router', 'rate-limit', 'usage-aggregator']
        : ['gateway'],
    );
    if (isClusterDeployment()) {
      const redis = spans.filter(({ attributes }) => attributes['db.system.name'] === 'redis');
      expect(
        redis.some((each) => ancestors(each)[0] === 'server gateway.rate_limit.v1.RateLimit/Admit'),
      ).toBe(true);
    }
    const forwarded = provider.headers.at(-1)?.['traceparent'];
    expect(forwarded).toBe(`00-${trace.id}-${find('chat', 'client').spanId}-01`);
  });

  it('are not propagated to a provider without send_traceparent', async () => {
    const trace = newTrace('01');
    await complete('test/untraced', { traceparent: trace.header });
    expect(provider.headers.at(-1)?.['traceparent']).toBeUndefined();
    await traceOf(trace.id);
  });

  it('start for a caller without a trace, and are not recorded for a caller whose trace is unsampled', async () => {
    const unsampled = newTrace('00');
    await complete('test/traced', { traceparent: unsampled.header });
    expect(provider.headers.at(-1)?.['traceparent']).toMatch(
      new RegExp(`^00-${unsampled.id}-[0-9a-f]{16}-00$`),
    );
    const before = receiver.spans.length;
    await complete('test/traced', {});
    const own = provider.headers.at(-1)?.['traceparent']?.slice(3, 35) as string;
    const spans = await traceOf(own);
    expect(spans.find(({ name }) => name === 'POST /v1/chat/completions')?.parentSpanId).toBe('');
    expect(receiver.spans.length).toBeGreaterThan(before);
    expect(receiver.spans.filter(({ traceId }) => traceId === unsampled.id)).toEqual([]);
  });

  it('are complete for each of many concurrent requests, whose holds and settlements are batched', async () => {
    const many = Array.from({ length: 20 }, () => newTrace('01'));
    await Promise.all(many.map(({ header }) => complete('test/traced', { traceparent: header })));
    for (const { id, parent } of many) {
      const spans = await traceOf(id);
      const roots = spans.filter((span) => span.parentSpanId === parent);
      expect(roots.map(({ name }) => name)).toEqual(['POST /v1/chat/completions']);
    }
    // A request in another request's batch has a span that links to the batch.
    const linked = receiver.spans.filter(({ name }) => name === 'joined batch');
    const ids = new Set(receiver.spans.map(({ spanId }) => spanId));
    for (const { links } of linked) expect(links.every((id) => ids.has(id))).toBe(true);
  });

  it('are linked from log lines, which carry the trace id', async () => {
    const trace = newTrace('01');
    await complete('test/traced', { traceparent: trace.header });
    const line = await eventually('the log line of the request', async () =>
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

  it('are exemplars of the latency histograms in the OpenMetrics format', async () => {
    const trace = newTrace('01');
    await complete('test/traced', { traceparent: trace.header });
    const read = (accept: string) =>
      Promise.all(
        testEnv.gateway.adminUrls.map(async (url) => {
          const response = await fetch(`${url}/metrics`, { headers: { accept } });
          return response.text();
        }),
      ).then((texts) => texts.join('\n'));
    const text = await eventually('the exemplar', async () => {
      const metrics = await read('application/openmetrics-text; version=1.0.0');
      return metrics.includes(`trace_id="${trace.id}"`) ? metrics : undefined;
    });
    expect(text).toMatch(
      /gateway_edge_proxy_request_duration_seconds_bucket\{.*\} \d+ # \{trace_id="[0-9a-f]{32}"\}/,
    );
    // Only names that end with _total are the same in both formats.
    const counters = [...(await read('text/plain')).matchAll(/^# TYPE (\S+) counter$/gm)].map(
      ([, name]) => name,
    );
    expect(counters.length).toBeGreaterThan(20);
    expect(counters.filter((name) => !name?.endsWith('_total'))).toEqual([]);
  });

  it('contain no key, no prompt and no completion text', async () => {
    // Also checks a failing request.
    await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}x`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/traced', messages: [{ role: 'user', content: PROMPT }] }),
    });
    const trace = newTrace('01');
    await complete('test/traced', { traceparent: trace.header });
    await traceOf(trace.id);
    const all = receiver.bytes();
    expect(all.includes(tenant.organizationId)).toBe(true);
    for (const secret of [
      tenant.apiKey,
      PROMPT,
      RESPONSE_TEXT,
      PROVIDER_KEY,
      COLLECTOR_KEY,
      testEnv.gateway.adminPassword,
    ]) {
      expect([secret, all.includes(secret)]).toEqual([secret, false]);
    }
    expect(receiver.headers.every((headers) => headers['x-collector-key'] === COLLECTOR_KEY)).toBe(true);
  });
});
