import { Cancellation } from '@gateway/base';
import { bundleProgram } from '@gateway/test-support';
import type { EncodeCall } from '../../core/dialects/dialect';
import { dialects, type DialectName } from '../../core/dialects/registry';
import type { EncodeJob, EncodeThreads } from '../../core/ports';
import { UpstreamFailure } from '../../core/failure/upstream-failure';
import { TARGET_OPTIONS } from '../../testing/router-under-test';
import { createEncodeThreads, type EncodeThreadsOptions } from './encode-threads';

const program = bundleProgram('libs/domains/inference-router/src/adapters/worker-threads/encode-worker.ts');

const call: EncodeCall = {
  providerModel: 'claude-x',
  stream: true,
  maxOutputTokens: 100,
  n: 1,
  exactSeed: undefined,
  signer: 'aaaaaaaaaaaa',
  ownsUntagged: true,
  options: TARGET_OPTIONS,
};

const opened: EncodeThreads[] = [];
function open(options: EncodeThreadsOptions = {}): EncodeThreads {
  const threads = createEncodeThreads({ program: () => program, ...options });
  opened.push(threads);
  return threads;
}
afterEach(async () => {
  for (const threads of opened.splice(0)) await threads.close();
});

function job(fields: object = {}, changes: Partial<EncodeJob> = {}): EncodeJob {
  const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...fields }));
  return { dialect: 'anthropic', body, call, owner: 'org-1', signal: new Cancellation(), ...changes };
}

it.each<DialectName>(['anthropic', 'gemini', 'converse'])(
  'a request is encoded as on the event loop: %s',
  async (dialect) => {
    const messages = [{ role: 'user', content: 'x'.repeat(1_000_000) }];
    const large = job({ messages }, { dialect });
    const encoded = await open().encode(large);
    const expected = await dialects[dialect].encodeRequest(large.body, call, () => Promise.resolve());
    expect(Buffer.from(encoded).equals(Buffer.from(expected))).toBe(true);
    // Still there for the next target.
    expect(large.body.length).toBeGreaterThan(1_000_000);
  },
);

it('a refusal of the dialect arrives with its message and field', async () => {
  const refused = open().encode(job({ logit_bias: { 1: 2 } }));
  await expect(refused).rejects.toBeInstanceOf(UpstreamFailure);
  await expect(refused).rejects.toMatchObject({
    kind: 'rejected',
    param: 'logit_bias',
    publicMessage: 'This model does not support logit_bias.',
  });
});

it('a request that no dialect could have received is an internal error', async () => {
  const body = Buffer.from('[]');
  await expect(open().encode(job({}, { body }))).rejects.toMatchObject({ code: 'internal_error' });
});

it('a full queue refuses, and a cancelled request leaves it', async () => {
  const threads = open({ threads: 1, maxQueued: 2 });
  const running = threads.encode(job());
  const caller = new Cancellation();
  const queued = threads.encode(job({}, { signal: caller }));
  const other = threads.encode(job({}, { owner: 'org-2' }));
  await expect(threads.encode(job())).rejects.toMatchObject({ kind: 'bulkhead_full' });
  caller.abort(new UpstreamFailure('cancelled', { detail: 'cancelled' }));
  await expect(queued).rejects.toMatchObject({ kind: 'cancelled' });
  const next = threads.encode(job());
  await expect(Promise.all([running, other, next])).resolves.toHaveLength(3);
  await expect(threads.encode(job({}, { signal: caller }))).rejects.toMatchObject({ kind: 'cancelled' });
});

it('a thread that ends fails its request only', async () => {
  const broken = open({ program: () => '/nowhere/encode-worker.js' });
  await expect(broken.encode(job())).rejects.toMatchObject({ code: 'internal_error' });
});
