import { worstCaseCost } from '@gateway/base';
import type { HoldResult } from '@gateway/contracts/billing-ledger';
import { BODY, grant, KEY, model, startEdge, type TestEdge } from '../../testing/start-edge';

const SLICE = 128;
const STREAM = { ...BODY, stream: true, max_tokens: 2_000 };
const { prices } = model();

let edge: TestEdge;

beforeEach(async () => {
  const models = [model(), model({ id: 'acme/thinks', capabilities: ['reasoning', 'prediction'] })];
  edge = await startEdge({ models, settings: { elasticHoldTokens: SLICE, holdWaitMs: 0 } });
  edge.keys.set(KEY, grant({ elasticHolds: true }));
});

afterEach(() => edge.stop());

/** The amount for an output of this length. */
async function amountOf(outputTokens: number): Promise<bigint> {
  const { estimatedInputTokens = 0 } = edge.router.requests.at(-1) ?? {};
  if (!prices) throw new Error('the model has no prices');
  return worstCaseCost(Math.ceil(estimatedInputTokens * 1.1), outputTokens, prices, '5m');
}

async function send(body: object): Promise<Response> {
  const response = await edge.chat(body);
  await response.text();
  return response;
}

const lastRequest = () => edge.router.requests.at(-1);

/** Refuses holds above this amount. */
function limitTo(availableNanoUsd: bigint): void {
  edge.ledger.decide = ({ amountNanoUsd }): HoldResult['outcome'] =>
    amountNanoUsd <= availableNanoUsd
      ? { $case: 'held', value: {} }
      : {
          $case: 'insufficientCredits',
          value: { availableNanoUsd, heldNanoUsd: 0n, estimatedCostNanoUsd: amountNanoUsd },
        };
}

it('holds the input and a slice of the output, and the router gets what it needs to extend it', async () => {
  expect((await send(STREAM)).status).toBe(200);
  expect(edge.ledger.amounts).toEqual([await amountOf(SLICE)]);
  expect(lastRequest()).toMatchObject({
    maxOutputTokens: 2_000,
    elasticHold: {
      hold: { holdId: lastRequest()?.generationId, amountNanoUsd: await amountOf(SLICE) },
      outputTokens: SLICE,
      sliceTokens: SLICE,
      fullAmountNanoUsd: await amountOf(2_000),
    },
  });
});

it.each<[what: string, body: object]>([
  ['is not a stream', { ...STREAM, stream: false }],
  ['is for a model with reasoning', { ...STREAM, model: 'acme/thinks' }],
  ['has a prediction', { ...STREAM, model: 'acme/thinks', prediction: { type: 'content', content: 'x' } }],
])('holds the whole output of a request that %s', async (_what, body) => {
  expect((await send(body)).status).toBe(200);
  expect(edge.ledger.amounts).toEqual([await amountOf(2_000)]);
  expect(lastRequest()?.elasticHold).toBeUndefined();
});

it('holds the whole output of several completions', async () => {
  const { organizationLimits } = grant();
  const limits = { ...organizationLimits, multipleCompletions: true };
  edge.keys.set(KEY, grant({ elasticHolds: true, organizationLimits: limits }));
  expect((await send({ ...STREAM, n: 2 })).status).toBe(200);
  expect(edge.ledger.amounts).toEqual([await amountOf(4_000)]);
});

it('holds the whole output in organizations without elastic holds', async () => {
  edge.keys.set(KEY, grant());
  expect((await send(STREAM)).status).toBe(200);
  expect(edge.ledger.amounts).toEqual([await amountOf(2_000)]);
  expect(lastRequest()?.elasticHold).toBeUndefined();
});

it('needs no extension for an output of one slice', async () => {
  expect((await send({ ...STREAM, max_tokens: SLICE })).status).toBe(200);
  expect(lastRequest()?.elasticHold).toBeUndefined();
});

it.each([
  ['a long one', 2_000],
  ['one that a slice would cover', 100],
])('holds what the balance covers, of %s', async (_what, max_tokens) => {
  await send(STREAM);
  limitTo(await amountOf(50));
  expect((await send({ ...STREAM, max_tokens })).status).toBe(200);
  expect(edge.ledger.amounts.at(-1)).toBe(await amountOf(50));
  expect(lastRequest()?.elasticHold).toMatchObject({
    outputTokens: 50,
    hold: { amountNanoUsd: await amountOf(50) },
  });
});

it('refuses a request whose input and a few tokens the balance does not cover', async () => {
  await send(STREAM);
  const requests = edge.router.requests.length;
  limitTo(await amountOf(15));
  const response = await edge.chat(STREAM);
  expect(response.status).toBe(402);
  expect(((await response.json()) as { error: object }).error).toMatchObject({
    code: 'insufficient_credits',
    metadata: { max_affordable_output_tokens: 15 },
  });
  expect(edge.router.requests).toHaveLength(requests);
  expect(edge.ledger.held.size).toBe(0);
});
