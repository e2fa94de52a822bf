import assert from 'node:assert/strict';
import { nano, nothingReserved } from '../../src/testing/accounting';
import { eventually } from '../../src/testing/eventually';
import { assertError, body, casesOf, chat, directive, get, type Deployment } from '../framework';

interface RunUsage {
  readonly run_id: string;
  readonly run: { limit: number; spent: number; held: number; remaining: number } | null;
  readonly totals: { requests: number; total_cost: number };
}

const BAD_HEADERS: readonly [param: string, headers: Readonly<Record<string, string>>][] = [
  ...['', '0', '-1', '1e3', 'NaN', '1,5', '1.0000000001', '10000000'].flatMap(
    (amount): [string, Record<string, string>][] => [
      ['x-max-cost-usd', { 'x-max-cost-usd': amount }],
      ['x-run-budget-usd', { 'x-run-id': 'bad', 'x-run-budget-usd': amount }],
    ],
  ),
  ['x-run-id', { 'x-run-id': 'two words', 'x-run-budget-usd': '1' }],
  ['x-run-id', { 'x-run-id': 'r'.repeat(129), 'x-run-budget-usd': '1' }],
  ['x-run-id', { 'x-run-budget-usd': '1' }],
  ['x-run-budget-usd', { 'x-run-id': 'without-a-budget' }],
];

/** Maximum costs of requests, and budgets of runs. */
export const runCases = casesOf('8', [
  {
    title: 'bad headers of spend limits are invalid_request with the name of the header',
    async verify(deployment) {
      for (const [param, headers] of BAD_HEADERS) {
        const response = await chat(deployment, body(deployment), { headers });
        assertError(response, 'invalid_request', { param });
      }
    },
  },
  {
    title: 'x-max-cost-usd lowers the output limit; only a request whose input alone costs more is refused',
    needs: ['emulator'],
    async verify(deployment) {
      const request = body(deployment, { max_tokens: 1_000, ...directive('[[tokens:1000]]') });
      const poor = await deployment.tenant({ credit: '0' });
      const refused = await chat(deployment, request, { apiKey: poor.apiKey });
      const { metadata } = assertError(refused, 'insufficient_credits');
      const maxCost = ((metadata.estimated_cost as number) / 10).toFixed(9);

      const { apiKey } = await deployment.tenant();
      const lowered = await chat(deployment, request, { apiKey, headers: { 'x-max-cost-usd': maxCost } });
      assert.equal(lowered.status, 200);
      const { usage, choices } = lowered.json<{
        usage: { completion_tokens: number; cost: number };
        choices: { finish_reason: string }[];
      }>();
      assert.equal(choices[0]?.finish_reason, 'length');
      assert.ok(usage.completion_tokens > 0 && usage.completion_tokens < 1_000);
      assert.ok(usage.cost <= Number(maxCost));

      const tooLow = await chat(deployment, request, {
        apiKey,
        headers: { 'x-max-cost-usd': '0.000000001' },
      });
      assertError(tooLow, 'insufficient_credits', {
        metadata: { scope: 'request', limit_type: 'max_cost', max_affordable_output_tokens: 0 },
      });
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
  {
    title: "a run's first request fixes its budget; usage by run has its charges and what remains",
    async verify(deployment) {
      const { createKey, createProject } = await deployment.tenant();
      // Keys of a project share the run.
      const project_id = await createProject();
      const { apiKey } = await createKey({ project_id });
      const other = await createKey({ project_id });
      const first = { 'x-run-id': 'report', 'x-run-budget-usd': '0.5' };
      assert.equal((await chat(deployment, body(deployment), { apiKey, headers: first })).status, 200);
      for (const headers of [{ 'x-run-id': 'report' }, { ...first, 'x-run-budget-usd': '9' }]) {
        const response = await chat(deployment, body(deployment), { apiKey: other.apiKey, headers });
        assert.equal(response.status, 200);
      }
      const outside = await createKey();
      const unknown = { apiKey: outside.apiKey, headers: { 'x-run-id': 'report' } };
      assertError(await chat(deployment, body(deployment), unknown), 'invalid_request', {
        param: 'x-run-budget-usd',
      });
      // A run of its own, with the same id.
      const own = { apiKey: outside.apiKey, headers: { ...first, 'x-run-budget-usd': '0.4' } };
      assert.equal((await chat(deployment, body(deployment), own)).status, 200);
      assert.equal((await usageOf(deployment, outside.apiKey, 'report')).run?.limit, 0.4);
      assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
      await nothingReserved(deployment.baseUrl, apiKey);
      const { run, totals, run_id } = await eventually('usage has all requests of the run', async () => {
        const usage = await usageOf(deployment, apiKey, 'report');
        return usage.totals.requests < 3 ? undefined : usage;
      });
      assert.equal(run_id, 'report');
      assert.equal(run?.limit, 0.5);
      assert.equal(totals.requests, 3);
      assert.ok(totals.total_cost > 0);
      assert.equal(nano(run.spent), nano(totals.total_cost));
      assert.equal(nano(run.remaining), nano(0.5) - nano(run.spent));
    },
  },
  {
    title: 'runs of two organizations with the same id do not share a budget, and an unknown run has none',
    async verify(deployment) {
      const [one, two] = [await deployment.tenant(), await deployment.tenant()];
      const headers = { 'x-run-id': 'same', 'x-run-budget-usd': '0.5' };
      assert.equal((await chat(deployment, body(deployment), { apiKey: one.apiKey, headers })).status, 200);
      const foreign = await chat(deployment, body(deployment), {
        apiKey: two.apiKey,
        headers: { 'x-run-id': 'same' },
      });
      assertError(foreign, 'invalid_request', { param: 'x-run-budget-usd' });
      const { run, totals } = await usageOf(deployment, two.apiKey, 'same');
      assert.equal(run, null);
      assert.equal(totals.requests, 0);
    },
  },
]);

async function usageOf(deployment: Deployment, apiKey: string, runId: string): Promise<RunUsage> {
  const response = await get(deployment, `/v1/usage?run_id=${runId}`, { apiKey });
  assert.equal(response.status, 200);
  return response.json<RunUsage>();
}
