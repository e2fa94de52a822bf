import { GenerationFinished } from '@gateway/contracts/events';
import type { SettleGenerationsRequest } from '@gateway/contracts/billing-ledger';
import { settleFromLog } from './settle-from-log';

const lineOf = (generationId: string): string => {
  const generation = GenerationFinished.fromPartial({ generationId, organizationId: 'org-1' });
  const encoded = Buffer.from(GenerationFinished.encode(generation).finish()).toString('base64');
  return JSON.stringify({
    level: 'fatal',
    generation: encoded,
    msg: 'a finished generation could not be stored',
  });
};

async function* linesOf(...lines: string[]): AsyncGenerator<string> {
  yield* lines;
}

describe('generations in log lines', () => {
  const settled: string[] = [];
  const ledger = {
    settleGenerations: async ({ generations }: SettleGenerationsRequest) => {
      settled.push(...generations.map(({ generationId }) => generationId));
      return { outcomes: [] } as never;
    },
  };
  beforeEach(() => settled.splice(0));

  it('are settled; other lines are skipped', async () => {
    const lines = linesOf('', 'not JSON', '{"msg":"request"}', 'null', lineOf('gen-1'), lineOf('gen-2'));
    expect(await settleFromLog(lines, ledger)).toEqual({ settled: 2, unreadableLines: [] });
    expect(settled).toEqual(['gen-1', 'gen-2']);
  });

  it('are reported by line when they are unreadable', async () => {
    const lines = linesOf(lineOf('gen-1'), '{"generation":"////"}', '{"generation":""}', lineOf('gen-2'));
    expect(await settleFromLog(lines, ledger)).toEqual({ settled: 2, unreadableLines: [2, 3] });
  });

  it('stop at the first that the ledger does not accept, so that the command can run again', async () => {
    const unavailable = { settleGenerations: () => Promise.reject(new Error('unavailable')) };
    await expect(settleFromLog(linesOf(lineOf('gen-1')), unavailable)).rejects.toThrow('unavailable');
  });
});
