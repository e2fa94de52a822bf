import { startNodeClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';

/** Covers some of the calls of a run, and not all. */
const RUN_BUDGET = '0.002';

const once = (name: string): Reaction => ({ calls: 1, failure: { class: name } });
const thrice = (name: string, retryDelays: Reaction['retryDelays']): Reaction => ({
  calls: 3,
  retryDelays,
  failure: { class: name },
});

describeClient({
  name: 'the official openai Node SDK',
  start: () => startNodeClient('openai.mjs'),
  reactions: {
    context_length_exceeded: once('BadRequestError'),
    invalid_api_key: once('AuthenticationError'),
    // 402 has no class of its own: programs check the status or the code.
    insufficient_credits: once('APIError'),
    missing_scope: once('PermissionDeniedError'),
    model_not_found: once('NotFoundError'),
    idempotency_key_in_flight: thrice('ConflictError', 'retry-after'),
    idempotency_key_reused: once('UnprocessableEntityError'),
    rpm_exceeded: thrice('RateLimitError', 'retry-after'),
    tpm_exceeded: thrice('RateLimitError', 'retry-after'),
    concurrency: thrice('RateLimitError', 'retry-after'),
    // Without x-should-retry it would sleep until midnight.
    daily_budget_exceeded: once('RateLimitError'),
    upstream_config_error: once('InternalServerError'),
    upstream_error: thrice('InternalServerError', 'own backoff'),
    no_capacity: thrice('InternalServerError', 'retry-after'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
  ownTests(it, client) {
    it('keeps a run of parallel calls within the budget in its defaultHeaders', async () => {
      const { apiKey } = await client.testEnv.testEnv.tenant();
      const headers = { 'x-run-id': 'agent/42', 'x-run-budget-usd': RUN_BUDGET };
      // The output is as long as its limit, so that each call costs nearly what it holds.
      const prompt = '[[tokens:200]] Hello';
      const { value } = await client.run('runAgent', { apiKey, headers, prompt });
      const { completed, refusals } = value as { completed: number; refusals: { metadata: unknown }[] };
      expect(completed).toBeGreaterThan(0);
      expect(refusals.length).toBeGreaterThan(0);
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({
          status: 402,
          code: 'insufficient_credits',
          metadata: { scope: 'run', limit_type: 'run_budget', limit: Number(RUN_BUDGET) },
        });
      }
      const usage = await fetch(`${client.testEnv.testEnv.gateway.baseUrl}/usage?run_id=agent%2F42`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const { run } = (await usage.json()) as { run: { limit: number; spent: number; held: number } };
      expect(run.limit).toBe(Number(RUN_BUDGET));
      expect(run.spent + run.held).toBeLessThanOrEqual(run.limit);
      expect(run.spent + run.held).toBeGreaterThan(0);
    });

    it('sends no header for its option idempotencyKey, so only an explicit header prevents a second charge', async () => {
      const { calls } = await client.run('completeWithKeyOption');
      expect(calls[0]?.requestHeaders).not.toHaveProperty('idempotency-key');
    });
  },
});
