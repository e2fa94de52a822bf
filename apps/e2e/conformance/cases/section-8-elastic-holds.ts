import assert from 'node:assert/strict';
import { eventDataOf } from '@gateway/test-support';
import { expectedCostNanoUsd, nano, nothingReserved, type PublicUsage } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, directive, type Deployment } from '../framework';

/** Far more than the balances of these cases cover. */
const MAX_TOKENS = 2_000;
const CALLS = 20;

interface Chunk {
  readonly id: string;
  readonly choices: readonly { readonly finish_reason: string | null }[];
  readonly usage?: PublicUsage | null;
}

/** Holds that grow while a stream is generated. */
export const elasticHoldCases = casesOf('8', [
  {
    title:
      'with elastic holds, a stream runs until the balance is used up, ends with length and costs what was sent',
    needs: ['emulator'],
    async verify(deployment) {
      const request = longStream(deployment);
      const tenant = await deployment.tenant({ credit: await creditFor(deployment, 50) });
      const { apiKey } = tenant;
      assertError(await chat(deployment, request, { apiKey }), 'insufficient_credits');

      await tenant.setElasticHolds(true);
      const response = await chat(deployment, request, { apiKey });
      assert.equal(response.status, 200);
      const { finishReason, usage } = endOf(response.text);
      assert.equal(finishReason, 'length');
      // 50 tokens less the margin of a tenth.
      assert.ok(usage.completion_tokens >= 40 && usage.completion_tokens <= 50);
      const { available, total_usage: charged } = await nothingReserved(deployment.baseUrl, apiKey);
      assert.ok(available >= 0);
      assert.equal(nano(charged), expectedCostNanoUsd(usage, deployment.model().pricing as never));
      // Only streams can grow.
      const whole = await chat(
        deployment,
        { ...request, stream: undefined, stream_options: undefined },
        { apiKey },
      );
      assertError(whole, 'insufficient_credits');
    },
  },
  {
    title:
      'with elastic holds, streams that run side by side never spend more than the balance, or the budget of a run',
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const poor = await deployment.tenant({ credit: await creditFor(deployment, 1_000) });
      await poor.setElasticHolds(true);
      const rich = await deployment.tenant();
      await rich.setElasticHolds(true);
      const budget = await creditFor(deployment, 1_000);
      for (const [tenant, headers] of [
        [poor, {}],
        [rich, { 'x-run-id': 'elastic', 'x-run-budget-usd': budget }],
      ] as const) {
        const { apiKey } = tenant;
        const responses = await Promise.all(
          Array.from({ length: CALLS }, () => chat(deployment, longStream(deployment), { apiKey, headers })),
        );
        const ends = responses.filter(({ status }) => status === 200).map(({ text }) => endOf(text));
        assert.ok(ends.length > 0);
        for (const { finishReason } of ends) assert.ok(['length', 'stop'].includes(finishReason));
        for (const one of responses) if (one.status !== 200) assertError(one, 'insufficient_credits');
        const costs = ends.map(({ usage }) =>
          expectedCostNanoUsd(usage, deployment.model().pricing as never),
        );
        const { available, total_usage: charged } = await nothingReserved(deployment.baseUrl, apiKey);
        assert.ok(available >= 0);
        assert.equal(
          nano(charged),
          costs.reduce((sum, cost) => sum + cost, 0n),
        );
        assert.ok(nano(charged) <= nano(Number(budget)));
      }
    },
  },
  {
    title: 'with elastic holds, a stream that the balance covers is sent in full',
    needs: ['emulator'],
    async verify(deployment) {
      const tenant = await deployment.tenant();
      await tenant.setElasticHolds(true);
      const response = await chat(deployment, longStream(deployment), { apiKey: tenant.apiKey });
      const { finishReason, usage } = endOf(response.text);
      assert.equal(finishReason, 'stop');
      assert.equal(usage.completion_tokens, 1_900);
      await nothingReserved(deployment.baseUrl, tenant.apiKey);
    },
  },
]);

function longStream(deployment: Deployment): Record<string, unknown> {
  return body(deployment, {
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: MAX_TOKENS,
    ...directive('[[tokens:1900]] [[rate:0]]'),
  });
}

/** Credit that covers the input and this much output of `longStream`. */
async function creditFor(deployment: Deployment, outputTokens: number): Promise<string> {
  const { apiKey } = await deployment.tenant({ credit: '0' });
  const refused = await chat(deployment, longStream(deployment), { apiKey });
  const { metadata } = assertError(refused, 'insufficient_credits');
  const { completion = '0' } = deployment.model().pricing;
  return ((metadata.estimated_cost as number) - (MAX_TOKENS - outputTokens) * Number(completion)).toFixed(9);
}

function endOf(text: string): { readonly finishReason: string; readonly usage: PublicUsage } {
  const events = eventDataOf(text);
  assert.equal(events.pop(), '[DONE]');
  const chunks = events.map((event) => JSON.parse(event) as Chunk);
  const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
  const { usage } = chunks.at(-1) ?? {};
  assert.equal(reasons.length, 1);
  assert.ok(usage);
  return { finishReason: String(reasons[0]), usage };
}
