import type { ClientAtWork, ClientUnderTest, Reaction } from './client-suite';

const once: Reaction = { calls: 1, failure: { class: 'AI_APICallError', wrapped: false } };
const thrice = (waits: Reaction['waits']): Reaction => ({
  calls: 3,
  waits,
  failure: { class: 'AI_APICallError', wrapped: true },
});

/** What the SDK does with each situation, whatever the provider package. */
export const aiSdkReactions: ClientUnderTest['reactions'] = {
  context_length_exceeded: once,
  invalid_api_key: once,
  insufficient_credits: once,
  missing_scope: once,
  model_not_found: once,
  idempotency_key_in_flight: thrice('as told'),
  idempotency_key_reused: once,
  rpm_exceeded: thrice('as told'),
  tpm_exceeded: thrice('as told'),
  concurrency: thrice('as told'),
  // It ignores x-should-retry, and a retry-after of a minute or more.
  daily_budget_exceeded: thrice('own backoff'),
  upstream_config_error: thrice('own backoff'),
  upstream_error: thrice('own backoff'),
  no_capacity: thrice('as told'),
};

export function refusesStreamedJson(it: jest.It, work: ClientAtWork): void {
  it('is told that streamObject asks for what cannot be combined', async () => {
    const { failure, calls } = await work.run('streamJson');
    expect(failure).toMatchObject({ status: 400, code: 'json_mode_no_stream' });
    expect(calls).toHaveLength(1);
  });
}
