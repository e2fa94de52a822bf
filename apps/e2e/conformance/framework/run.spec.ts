import type { ConformanceCase } from './case';
import type { Deployment } from './deployment';
import { caseRunner, type CaseResult } from './run';

const deployment = { has: () => true } as unknown as Deployment;

/** Runs a case that throws these errors, one per attempt, and then passes. */
async function runFailing(errors: readonly Error[], connectionRetries: number): Promise<CaseResult> {
  const remaining = [...errors];
  const failing: ConformanceCase = {
    section: '1',
    title: 'fails first',
    verify: async () => {
      const error = remaining.shift();
      if (error) throw error;
    },
  };
  return caseRunner([failing], deployment, { connectionRetries })(failing);
}

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const fetchFailed = new TypeError('fetch failed', {
  cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
});

describe('a conformance case', () => {
  it('runs again after a broken connection, as often as configured', async () => {
    expect(await runFailing([reset, fetchFailed], 2)).toMatchObject({ outcome: 'passed' });
    expect(await runFailing([reset, fetchFailed], 1)).toMatchObject({
      outcome: 'failed',
      error: fetchFailed,
    });
    expect(await runFailing([reset], 0)).toMatchObject({ outcome: 'failed', error: reset });
  });

  it('fails immediately if the deployment violates the statement', async () => {
    expect(await runFailing([new Error('status 500')], 2)).toMatchObject({ outcome: 'failed' });
  });
});
