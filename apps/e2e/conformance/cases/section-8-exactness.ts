import assert from 'node:assert/strict';
import { nothingReserved } from '../../src/testing/accounting';
import { eventually } from '../../src/testing/eventually';
import { assertError, body, casesOf, chat, directive, type Deployment, type RawResponse } from '../framework';

const AT_ONCE = 200;
/** Begins at once and goes on until its caller hangs up, so it runs for as long as others are still on their way. */
const RUNNING = { stream: true, ...directive('[[tokens:100]] [[rate:1]]') };

/** Limits to the last request, token and nano-dollar. */
export const exactnessCases = casesOf('8', [
  {
    line: 'retry-after counts down to the end of the minute, exactly in retry-after-ms; then requests are let through',
    waits: true,
    async prove(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { requests_per_minute: 1 } });
      const ask = () => chat(deployment, body(deployment), { apiKey });
      await untilSecondsAreLeft(8);
      assert.equal((await ask()).status, 200);
      const first = waitOf(await ask());
      await sleep(1_500);
      const second = waitOf(await ask());
      assert.ok(second.ms < first.ms && second.seconds < first.seconds, 'it counts down');
      await sleep(second.ms + 100);
      assert.equal((await ask()).status, 200, 'the next minute');
    },
  },
  {
    line: 'an empty window admits a request above the token cap, which then fills it',
    waits: true,
    async prove(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { tokens_per_minute: 1 } });
      await untilSecondsAreLeft(10);
      const ask = () => chat(deployment, body(deployment), { apiKey });
      assert.equal((await ask()).status, 200);
      waitOf(await ask(), 'tpm_exceeded');
    },
  },
  {
    line: 'tokens that were reserved and not used are released at the end of a request',
    waits: true,
    needs: ['emulator'],
    async prove(deployment) {
      // Each request may use a thousand tokens and uses some thirty.
      const { apiKey } = await deployment.tenant({ limits: { tokens_per_minute: 1_500 } });
      await untilSecondsAreLeft(15);
      const request = body(deployment, { max_tokens: 1_000, ...directive('[[tokens:5]]') });
      const left = [];
      for (let index = 0; index < 5; index += 1) {
        // The tokens of the request before are released just after its response.
        const response = await eventually('the unused tokens are released', async () => {
          const answer = await chat(deployment, request, { apiKey });
          return answer.status === 200 ? answer : undefined;
        });
        left.push(Number(response.headers['x-ratelimit-remaining-tokens']));
      }
      assert.ok(left.at(-1)! > 250, `after four small answers there is room: ${left.join()}`);
    },
  },
  {
    line: 'of two hundred requests at once exactly as many as the rpm limit run',
    waits: true,
    async prove(deployment) {
      const limit = 77;
      const { apiKey } = await deployment.tenant({ limits: { requests_per_minute: limit } });
      await untilSecondsAreLeft(20);
      const answers = await allAtOnce(() => chat(deployment, body(deployment), { apiKey }));
      assertExactly(answers, limit, 'rpm_exceeded', 'rpm');
    },
  },
  {
    line: 'of two hundred requests at once exactly as many as the tpm limit covers run',
    needs: ['emulator'],
    waits: true,
    async prove(deployment) {
      const request = { max_tokens: 100, ...RUNNING };
      const probe = await deployment.tenant({ limits: { tokens_per_minute: 1_000_000 } });
      const [first] = await streamAtOnce(deployment, request, { apiKey: probe.apiKey, count: 1 });
      const charge = 1_000_000 - Number(first?.headers['x-ratelimit-remaining-tokens']);
      assert.ok(charge > 100);
      const { apiKey } = await deployment.tenant({ limits: { tokens_per_minute: charge * 9 + charge - 1 } });
      await untilSecondsAreLeft(20);
      const answers = await streamAtOnce(deployment, request, { apiKey });
      assertExactly(answers, 9, 'tpm_exceeded', 'tpm');
    },
  },
  {
    line: 'of two hundred requests at once exactly as many as there are slots run; then the slots are free',
    needs: ['emulator'],
    waits: true,
    async prove(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { concurrency: 7 } });
      const answers = await streamAtOnce(deployment, { max_tokens: 100, ...RUNNING }, { apiKey });
      assertExactly(answers, 7, 'rpm_exceeded', 'concurrency');
      for (const { headers, status } of answers)
        if (status === 429) assert.equal(headers['retry-after'], '1');
      await eventually('the slots are free', async () => {
        const { status } = await chat(deployment, body(deployment), { apiKey });
        return status === 200 ? true : undefined;
      });
    },
  },
  {
    line: 'of two hundred requests at once exactly as many as the daily budget covers run',
    needs: ['emulator'],
    waits: true,
    async prove(deployment) {
      const request = { max_tokens: 100, ...RUNNING };
      const estimate = await estimateOf(deployment, body(deployment, request));
      const budget = (estimate * 5.5).toFixed(9);
      const { apiKey } = await deployment.tenant({ limits: { daily_budget_usd: budget } });
      const answers = await streamAtOnce(deployment, request, { apiKey });
      assertExactly(answers, 5, 'daily_budget_exceeded', 'daily_budget');
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
  {
    line: 'of two hundred requests at once exactly as many as the balance covers run',
    needs: ['emulator'],
    waits: true,
    async prove(deployment) {
      const request = { max_tokens: 100, ...RUNNING };
      const estimate = await estimateOf(deployment, body(deployment, request));
      const { apiKey } = await deployment.tenant({ credit: (estimate * 6.5).toFixed(9) });
      const answers = await streamAtOnce(deployment, request, { apiKey });
      assertExactly(answers, 6, 'insufficient_credits');
      const { available } = await nothingReserved(deployment.baseUrl, apiKey);
      assert.ok(available >= 0);
    },
  },
  {
    line: 'a balance of exactly the estimate is enough, one nano-dollar less is not',
    async prove(deployment) {
      const request = body(deployment, { max_tokens: 100 });
      const estimate = await estimateOf(deployment, request);
      const enough = await deployment.tenant({ credit: estimate.toFixed(9) });
      assert.equal((await chat(deployment, request, { apiKey: enough.apiKey })).status, 200);
      const short = await deployment.tenant({ credit: (estimate - 1e-9).toFixed(9) });
      assertError(await chat(deployment, request, { apiKey: short.apiKey }), 'insufficient_credits', {
        metadata: { estimated_cost: estimate },
      });
    },
  },
  {
    line: 'the context window is exact: input and max_tokens may fill it to the last token',
    async prove(deployment) {
      const model = deployment.model([], ['tools', 'vision', 'json_mode', 'reasoning']);
      // Many short messages, which every tokenizer counts alike; how many, the estimate of too many tells.
      const words = 'a '.repeat(Math.ceil(model.context_length / 1_000));
      const messages = (count: number) =>
        Array.from({ length: count }, () => ({ role: 'user', content: words }));
      const tooMany = await chat(
        deployment,
        body(deployment, { model: model.id, messages: messages(2_000), max_tokens: 1 }),
      );
      const each =
        (assertError(tooMany, 'context_length_exceeded').metadata.estimated_tokens as number) / 2_000;
      const filling = messages(Math.ceil((model.context_length - model.max_output_tokens / 2) / each));
      const request = (max_tokens: number) =>
        body(deployment, { model: model.id, messages: filling, max_tokens });
      const over = await chat(deployment, request(model.max_output_tokens));
      const { metadata } = assertError(over, 'context_length_exceeded');
      const input = (metadata.estimated_tokens as number) - model.max_output_tokens;
      const room = model.context_length - input;
      assertError(await chat(deployment, request(room + 1)), 'context_length_exceeded', {
        metadata: { estimated_tokens: model.context_length + 1 },
      });
      const fits = await chat(deployment, request(room));
      assert.equal(fits.status, 200, fits.text.slice(0, 300));
    },
  },
  {
    line: "max_tokens above the model's own maximum is lowered to it, and above the context window refused",
    async prove(deployment) {
      const model = deployment.model([], ['tools', 'vision', 'json_mode', 'reasoning']);
      const asking = (max_tokens: number) => body(deployment, { model: model.id, max_tokens });
      // What the lowered limit costs is held, and no more.
      const lowered = asking(model.context_length - 1_000);
      assert.ok(model.context_length - 1_000 > model.max_output_tokens);
      const estimate = await estimateOf(deployment, lowered);
      assert.equal(estimate, await estimateOf(deployment, asking(model.max_output_tokens)));
      assert.equal((await chat(deployment, lowered)).status, 200);
      assertError(await chat(deployment, asking(model.context_length)), 'context_length_exceeded', {
        metadata: { limit: model.context_length },
      });
    },
  },
  {
    line: 'a request that could cost more than a whole daily budget is told so',
    async prove(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { daily_budget_usd: '0.000000002' } });
      assertError(await chat(deployment, body(deployment), { apiKey }), 'daily_budget_exceeded', {
        messageHas: [/alone/],
      });
    },
  },
  {
    line: 'a caller that cancels frees its slot and its tokens',
    needs: ['emulator'],
    async prove(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { concurrency: 1 } });
      const caller = new AbortController();
      const response = await fetch(`${deployment.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(
          body(deployment, { stream: true, max_tokens: 500, ...directive('[[tokens:500]] [[rate:5]]') }),
        ),
        signal: caller.signal,
      });
      assert.equal(response.status, 200);
      caller.abort();
      await response.text().catch(() => undefined);
      await eventually('the slot is free', async () => {
        const { status } = await chat(deployment, body(deployment), { apiKey });
        return status === 200 ? true : undefined;
      });
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
]);

function allAtOnce(ask: () => Promise<RawResponse>): Promise<RawResponse[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, ask));
}

/** The heads of all answers, and what refusals say; the streams that run are cancelled once all are there. */
async function streamAtOnce(
  deployment: Deployment,
  request: Record<string, unknown>,
  { apiKey, count = AT_ONCE }: { readonly apiKey: string; readonly count?: number },
): Promise<RawResponse[]> {
  const callers = new AbortController();
  // A response that nobody holds is collected as garbage, and its stream cancelled with it.
  const held: Response[] = [];
  const ask = async (): Promise<RawResponse> => {
    const response = await fetch(`${deployment.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(deployment, request)),
      signal: callers.signal,
    });
    held.push(response);
    const text = response.ok ? '' : await response.text();
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, text, json: <Body>() => JSON.parse(text) as Body };
  };
  try {
    return await Promise.all(Array.from({ length: count }, ask));
  } finally {
    callers.abort();
    await Promise.allSettled(held.map((response) => response.body?.cancel()));
  }
}

function assertExactly(
  answers: readonly RawResponse[],
  admitted: number,
  code: Parameters<typeof assertError>[1],
  limitType?: string,
): void {
  assert.equal(answers.filter(({ status }) => status === 200).length, admitted);
  for (const answer of answers) {
    if (answer.status === 200) continue;
    assertError(answer, code, limitType ? { metadata: { limit_type: limitType } } : {});
  }
}

/** What a request is estimated to cost, as the refusal of it says. */
async function estimateOf(deployment: Deployment, request: unknown): Promise<number> {
  const { apiKey } = await deployment.tenant({ credit: '0' });
  const { metadata } = assertError(await chat(deployment, request, { apiKey }), 'insufficient_credits');
  return metadata.estimated_cost as number;
}

function waitOf(
  response: RawResponse,
  code: 'rpm_exceeded' | 'tpm_exceeded' = 'rpm_exceeded',
): { seconds: number; ms: number } {
  assertError(response, code);
  const seconds = Number(response.headers['retry-after']);
  const ms = Number(response.headers['retry-after-ms']);
  assert.ok(Number.isInteger(ms) && ms >= 1 && ms <= 59_999, `retry-after-ms ${ms}`);
  assert.equal(seconds, Math.ceil(ms / 1000), 'whole seconds, rounded up');
  return { seconds, ms };
}

/** Windows are UTC minutes; a case that counts within one waits for the next when little of it is left. */
async function untilSecondsAreLeft(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await sleep(leftMs + 50);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
