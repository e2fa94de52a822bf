import { parseCoreList } from './machine';
import { quantile, type Row } from './measure';
import { checkCharges } from './check-charges';
import { evaluateTargets, renderReport } from './report';

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
  row('express', 'non-streaming, c=1', 1_000, 1),
  row('gateway', 'non-streaming, c=1', 300, 3.5),
  row('express', 'non-streaming, c=32', 8_000, 3),
  { ...row('lean', 'non-streaming, c=32', 8_000, 3), cpuMicrosecondsPerRequest: 200 },
  { ...row('gateway', 'non-streaming, c=32', 4_000, 8), cpuMicrosecondsPerRequest: 300 },
];

describe('figures', () => {
  it('computes nearest-rank quantiles', () => {
    const sorted = Float64Array.from([1, 2, 3, 4]);
    expect([quantile(sorted, 0.5), quantile(sorted, 0.99), quantile(sorted.slice(0, 1), 0.5)]).toEqual([
      2, 4, 1,
    ]);
    expect(quantile(new Float64Array(), 0.5)).toBeNaN();
  });

  it('parses core lists', () => {
    expect(parseCoreList('0-2,5')).toEqual([0, 1, 2, 5]);
  });

  it('evaluates the targets for which it has figures', () => {
    const slow = {
      target: 'gateway' as const,
      streams: 1000,
      seconds: 1,
      initialResidentMiB: 1,
      peakResidentMiB: 500,
    };
    expect(evaluateTargets(ROWS, [slow]).map(({ measured, met }) => [measured, met])).toEqual([
      ['0.50', true],
      ['2.50 ms', false],
      ['1.50', false],
      ['500 MiB', false],
    ]);
    expect(evaluateTargets([], [])).toEqual([]);
  });

  it('allows more memory for 5,000 slow streams than for 1,000, and reports memory per stream', () => {
    const slow = {
      target: 'gateway',
      streams: 5_000,
      seconds: 1,
      initialResidentMiB: 100,
      peakResidentMiB: 590,
    };
    expect(evaluateTargets([], [slow])).toMatchObject([{ measured: '590 MiB', met: true }]);
    expect(evaluateTargets([], [{ ...slow, peakResidentMiB: 600 }])).toMatchObject([{ met: false }]);
    const machine = { cpu: 'cpu', cores: 2, memoryGiB: 8, node: 'v20', platform: 'linux', pinned: 'no' };
    const results = {
      machine,
      startedAt: '',
      rows: [],
      slowStreams: [slow],
      paced: [],
      charges: null,
      performanceTargets: [],
    };
    expect(renderReport(results)).toMatch(/5,000 slow streams +gateway +1\.0 +100 +590 +100$/m);
  });

  it('compares the CPU time per chunk with that of a relay', () => {
    const paced = (target: string, cpuMicrosecondsPerChunk: number | null) => ({
      ...{ target, streams: 200, chunks: 100, cpuMicrosecondsPerChunk, cpuMicrosecondsPerStream: 1 },
    });
    const evaluated = (gateway: number | null) =>
      evaluateTargets([], [], [paced('relay', 10), paced('gateway', gateway)]);
    expect(evaluated(20)).toMatchObject([{ measured: '2.00', met: true }]);
    expect(evaluated(21)).toMatchObject([{ measured: '2.10', met: false }]);
    expect(evaluated(null)).toEqual([]);
  });

  it('shows ratios to the baselines of the same scenario', () => {
    const machine = { cpu: 'cpu', cores: 2, memoryGiB: 8, node: 'v20', platform: 'linux', pinned: 'no' };
    const text = renderReport({
      machine,
      startedAt: '',
      rows: ROWS,
      slowStreams: [],
      paced: [],
      charges: null,
      performanceTargets: [],
    });
    expect(text).toMatch(/gateway +300 .* 0\.30 *$/m);
    expect(text).toMatch(/gateway +4,000 .* 0\.50 +1\.50$/m);
  });
});

describe('checkCharges', () => {
  const check = (usedNanoUsd: bigint, heldNanoUsd: bigint, priced = 2) =>
    checkCharges(
      { finalBalance: () => Promise.resolve({ usedNanoUsd, heldNanoUsd }) },
      { responses: 2, priced, costNanoUsd: 140 },
    );

  it('is exact to the nano-dollar', async () => {
    expect((await check(140n, 0n)).exact).toBe(true);
    expect((await check(141n, 0n)).text).toContain('charged 141');
    expect((await check(140n, 1n)).text).toContain('still held');
    expect((await check(140n, 0n, 1)).text).toContain('without a cost');
  });
});
