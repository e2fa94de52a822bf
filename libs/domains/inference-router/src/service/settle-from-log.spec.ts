import { GenerationFinished } from '@gateway/contracts/events';
import type { SettleGenerationsRequest } from '@gateway/contracts/billing-ledger';
import { GatewayError } from '@gateway/errors';
import { settleFromLog } from './settle-from-log';

const lineOf = (generationId: string, providerCostNanoUsd?: bigint): string => {
  const generation = GenerationFinished.fromPartial({
    generationId,
    organizationId: 'org-1',
    providerCostNanoUsd,
  });
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
    expect(await settleFromLog(lines, ledger)).toEqual({ settled: 2, unsettledLines: [] });
    expect(settled).toEqual(['gen-1', 'gen-2']);
  });

  it('keep their provider cost', async () => {
    const requests: SettleGenerationsRequest[] = [];
    const recording = {
      settleGenerations: async (request: SettleGenerationsRequest) => {
        requests.push(request);
        return ledger.settleGenerations(request);
      },
    };
    await settleFromLog(linesOf(lineOf('gen-1', 4_000n)), recording);
    expect(requests.map(({ generations }) => generations[0]?.providerCostNanoUsd)).toEqual([4_000n]);
  });

  it('are reported by line when they are unreadable', async () => {
    const lines = linesOf(lineOf('gen-1'), '{"generation":"////"}', '{"generation":""}', lineOf('gen-2'));
    expect(await settleFromLog(lines, ledger)).toEqual({ settled: 2, unsettledLines: [2, 3] });
  });

  it('are reported by line when the line is not JSON: truncated, or behind a prefix', async () => {
    const lines = linesOf(lineOf('gen-1').slice(0, -60), `router-1 | ${lineOf('gen-2')}`, lineOf('gen-3'));
    expect(await settleFromLog(lines, ledger)).toEqual({ settled: 1, unsettledLines: [1, 2] });
    expect(settled).toEqual(['gen-3']);
  });

  it('are reported by line when the ledger rejects them, and the others are settled', async () => {
    const rejecting = {
      settleGenerations: async (request: SettleGenerationsRequest) => {
        if (request.generations[0]?.generationId === 'gen-1') throw new GatewayError('invalid_request');
        return ledger.settleGenerations(request);
      },
    };
    const lines = linesOf(lineOf('gen-1'), lineOf('gen-2'));
    expect(await settleFromLog(lines, rejecting)).toEqual({ settled: 1, unsettledLines: [1] });
    expect(settled).toEqual(['gen-2']);
  });

  it('stop at the first that the ledger does not accept, so that the command can run again', async () => {
    const unavailable = { settleGenerations: () => Promise.reject(new Error('unavailable')) };
    await expect(settleFromLog(linesOf(lineOf('gen-1')), unavailable)).rejects.toThrow('unavailable');
  });
});
