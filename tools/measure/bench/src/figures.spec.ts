import { parseCoreList } from './machine';
import { quantile, type Row } from './measure';
import { checkMoney } from './money-check';
import { judge, renderReport } from './report';

const row = (target: Row['target'], scenario: string, requestsPerSecond: number, p50Ms: number): Row => ({
  scenario,
  target,
  requests: 100,
  requestsPerSecond,
  chunksPerSecond: 0,
  p50Ms,
  p99Ms: p50Ms * 2,
  firstByteP50Ms: null,
  cpuMicrosecondsPerRequest: null,
  databaseCpuMicrosecondsPerRequest: null,
  residentMiB: null,
});

const ROWS = [
  row('express', 'whole answer, c=1', 1_000, 1),
  row('gateway', 'whole answer, c=1', 300, 3.5),
  row('express', 'whole answer, c=32', 8_000, 3),
  row('gateway', 'whole answer, c=32', 4_000, 8),
];

describe('figures', () => {
  it('takes quantiles by nearest rank', () => {
    const sorted = Float64Array.from([1, 2, 3, 4]);
    expect([quantile(sorted, 0.5), quantile(sorted, 0.99), quantile(sorted.slice(0, 1), 0.5)]).toEqual([
      2, 4, 1,
    ]);
    expect(quantile(new Float64Array(), 0.5)).toBeNaN();
  });

  it('reads core lists', () => {
    expect(parseCoreList('0-2,5')).toEqual([0, 1, 2, 5]);
  });

  it('judges the aims it has figures for', () => {
    const slow = {
      target: 'gateway' as const,
      streams: 1000,
      seconds: 1,
      residentBeforeMiB: 1,
      residentPeakMiB: 500,
    };
    expect(judge(ROWS, [slow]).map(({ measured, reached }) => [measured, reached])).toEqual([
      ['0.50', true],
      ['2.50 ms', false],
      ['500 MiB', false],
    ]);
    expect(judge([], [])).toEqual([]);
  });

  it('allows five thousand slow streams more memory than one thousand, and tells what each took', () => {
    const slow = {
      target: 'gateway',
      streams: 5_000,
      seconds: 1,
      residentBeforeMiB: 100,
      residentPeakMiB: 590,
    };
    expect(judge([], [slow])).toMatchObject([{ measured: '590 MiB', reached: true }]);
    expect(judge([], [{ ...slow, residentPeakMiB: 600 }])).toMatchObject([{ reached: false }]);
    const machine = { cpu: 'cpu', cores: 2, memoryGiB: 8, node: 'v20', platform: 'linux', pinned: 'no' };
    const results = {
      machine,
      startedAt: '',
      rows: [],
      slowStreams: [slow],
      paced: [],
      money: null,
      aims: [],
    };
    expect(renderReport(results)).toMatch(/5,000 slow streams +gateway +1\.0 +100 +590 +100$/m);
  });

  it('compares what a chunk costs with what it costs a relay', () => {
    const paced = (target: string, cpuMicrosecondsPerChunk: number | null) => ({
      ...{ target, streams: 200, chunks: 100, cpuMicrosecondsPerChunk, cpuMicrosecondsPerStream: 1 },
    });
    const judged = (gateway: number | null) => judge([], [], [paced('relay', 10), paced('gateway', gateway)]);
    expect(judged(20)).toMatchObject([{ measured: '2.00', reached: true }]);
    expect(judged(21)).toMatchObject([{ measured: '2.10', reached: false }]);
    expect(judged(null)).toEqual([]);
  });

  it('prints ratios to the baselines of the same scenario', () => {
    const machine = { cpu: 'cpu', cores: 2, memoryGiB: 8, node: 'v20', platform: 'linux', pinned: 'no' };
    const text = renderReport({
      machine,
      startedAt: '',
      rows: ROWS,
      slowStreams: [],
      paced: [],
      money: null,
      aims: [],
    });
    expect(text).toMatch(/gateway +300 .* 0\.30$/m);
    expect(text).toMatch(/gateway +4,000 .* 0\.50$/m);
  });
});

describe('the money check', () => {
  const check = (usedNanoUsd: bigint, heldNanoUsd: bigint, priced = 2) =>
    checkMoney(
      { settled: () => Promise.resolve({ usedNanoUsd, heldNanoUsd }) },
      { answers: 2, priced, costNanoUsd: 140 },
    );

  it('is exact to the nano-dollar', async () => {
    expect((await check(140n, 0n)).exact).toBe(true);
    expect((await check(141n, 0n)).text).toContain('charged 141');
    expect((await check(140n, 1n)).text).toContain('still held');
    expect((await check(140n, 0n, 1)).text).toContain('name no cost');
  });
});
