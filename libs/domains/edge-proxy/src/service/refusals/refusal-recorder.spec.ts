import type { UnixMs } from '@gateway/base';
import type { GenerateRequest } from '@gateway/contracts/inference-router';
import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import { GatewayError } from '@gateway/errors';
import { RpcError } from '@gateway/rpc';
import { BODY, grant, KEY, startEdge, until, type TestEdge } from '../../testing/start-edge';
import { finished, frames } from '../../testing/stub-router';

const NOW = Date.parse('2026-11-20T22:30:00Z') as UnixMs;
const HOUR = BigInt(Date.parse('2026-11-20T22:00:00Z'));

let edge: TestEdge;
const start = async (settings = {}) =>
  (edge = await startEdge({
    clock: { now: () => NOW },
    settings: { refusalReportIntervalMs: 5, ...settings },
  }));
afterEach(() => edge.stop());

/** Only the report that is sent when the edge stops. */
const onlyAtStop = { refusalReportIntervalMs: 3_600_000 };

const failingRouter = (error: Error) => {
  edge.router.script = async function* () {
    throw error;
    yield finished({} as GenerateRequest);
  };
};
const countsOf = ({ reports }: TestEdge) =>
  reports.flatMap(({ counts }) =>
    counts.map(({ errorCode, modelId, requests }) => [errorCode, modelId, Number(requests)]),
  );

it('reports refused requests by organization, key, model, error code and hour, with the latest of them', async () => {
  await start();
  edge.limiter.refuse = {
    limitType: LimitType.LIMIT_TYPE_REQUESTS,
    scope: LimitScope.LIMIT_SCOPE_KEY,
    limit: 7,
    retryAfterMs: 1_000,
  };
  const response = await edge.chat();
  expect(response.status).toBe(429);
  await until(() => edge.reports.length > 0);
  const { error } = (await response.json()) as { error: { message: string } };
  expect(edge.reports).toEqual([
    {
      reporterId: expect.stringMatching(/^edge-/),
      reportNumber: 1n,
      counts: [
        {
          organizationId: 'org_1',
          keyId: 'key_1',
          projectId: '',
          modelId: 'acme/m-1',
          apiType: 'completions',
          errorCode: 'rpm_exceeded',
          hourUnixMs: HOUR,
          requests: 1n,
        },
      ],
      latest: [
        {
          requestId: response.headers.get('x-request-id'),
          organizationId: 'org_1',
          keyId: 'key_1',
          model: 'acme/m-1',
          apiType: 'completions',
          errorCode: 'rpm_exceeded',
          errorMessage: error.message,
          refusedUnixMs: BigInt(NOW),
        },
      ],
    },
  ]);
});

it.each([
  ['a model that does not exist', { ...BODY, model: 'no/such' }, ['model_not_found', '', 1], 'no/such'],
  ['a disabled model', { ...BODY, model: 'acme/off' }, ['model_not_found', 'acme/off', 1], 'acme/off'],
  ['a wrong field', { ...BODY, foo: 1 }, ['unknown_parameter', 'acme/m-1', 1], 'acme/m-1'],
  ['no model', { messages: BODY.messages }, ['missing_model', '', 1], ''],
  ['a model that is not text', { ...BODY, model: { a: 1 } }, ['invalid_request', '', 1], ''],
  [
    'an input that is too long',
    { ...BODY, max_tokens: 8_192 },
    ['max_tokens_exceeds_cap', 'acme/m-1', 1],
    'acme/m-1',
  ],
])('counts %s under a model of the catalogue only', async (_what, body, count, model) => {
  await start();
  await edge.chat(body);
  await until(() => edge.reports.length > 0);
  expect(countsOf(edge)).toEqual([count]);
  expect(edge.reports[0]?.latest.map((one) => one.model)).toEqual([model]);
});

it('sends one count and 20 requests for many models that do not exist', async () => {
  await start(onlyAtStop);
  for (let n = 0; n < 100; n += 1) await edge.chat({ ...BODY, model: `no/such-${n}` });
  await edge.stop();
  expect(countsOf(edge)).toEqual([['model_not_found', '', 100]]);
  expect(edge.reports[0]?.latest.map(({ model }) => model)).toEqual(
    Array.from({ length: 20 }, (_, index) => `no/such-${80 + index}`),
  );
});

it('counts a failure that the router has not recorded, and none that it has', async () => {
  await start(onlyAtStop);
  failingRouter(new GatewayError('no_capacity'));
  await edge.chat();
  failingRouter(new GatewayError('upstream_error', { generationRecorded: true }));
  await edge.chat();
  // The stream breaks after its first event, so the router settles it.
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new GatewayError('upstream_error');
  };
  await (await edge.chat({ ...BODY, stream: true })).text();
  edge.router.script = async function* (request) {
    yield finished(request);
  };
  await edge.chat();
  await edge.stop();
  expect(countsOf(edge)).toEqual([['no_capacity', 'acme/m-1', 1]]);
});

it('counts a generation whose router was lost, which may never be recorded', async () => {
  await start(onlyAtStop);
  edge.failNextGenerate(new RpcError('unavailable', 'the router was lost'));
  const response = await edge.chat();
  expect(response.status).toBe(500);
  expect(response.headers.get('x-generation-id')).toMatch(/^gen-/);
  await edge.stop();
  expect(countsOf(edge)).toEqual([['internal_error', 'acme/m-1', 1]]);
});

it('counts refused keys of an organization, but neither unknown keys nor other endpoints', async () => {
  await start(onlyAtStop);
  edge.keys.set('sk-gw-revoked', grant({ revoked: true }));
  await edge.chat(BODY, { authorization: 'Bearer sk-gw-revoked' });
  await edge.chat(BODY, { authorization: 'Bearer sk-gw-unknown' });
  await edge.get('/v1/generation?id=gen-unknown');
  await edge.get('/v1/nothing');
  await edge.stop();
  expect(countsOf(edge)).toEqual([['key_revoked', '', 1]]);
});

it('sends a report again under its number until it is recorded, and counts on meanwhile', async () => {
  await start();
  const attempts = () =>
    edge.reports.map(({ reportNumber, counts }) => [Number(reportNumber), Number(counts[0]?.requests)]);
  edge.faults.at('usage.report', () => {
    throw new GatewayError('no_capacity');
  });
  await edge.chat({ ...BODY, model: 'no/such' });
  await until(() => edge.reports.length >= 2);
  await edge.chat({ ...BODY, model: 'no/such' });
  await until(() => edge.reports.length >= 3);
  expect(attempts()).toEqual([
    [1, 1],
    [1, 1],
    [2, 1],
  ]);
});

it('drops a report that is rejected, and counts what it dropped', async () => {
  await start();
  edge.faults.at('usage.report', () => {
    throw new GatewayError('invalid_request');
  });
  await edge.chat({ ...BODY, model: 'no/such' });
  await until(() => edge.reports.length >= 1);
  await edge.chat({ ...BODY, model: 'no/other' });
  await until(() => edge.reports.length >= 2);
  expect(edge.reports.map(({ reportNumber }) => reportNumber)).toEqual([1n, 2n]);
  const dropped = await edge.metrics.getSingleMetric('gateway_edge_proxy_refusals_dropped_total')?.get();
  expect(dropped?.values[0]?.value).toBe(1);
});

it('sends no report without a refused request', async () => {
  await start(onlyAtStop);
  await edge.chat(BODY, { authorization: `Bearer ${KEY}` });
  await edge.stop();
  expect(edge.reports).toEqual([]);
});
