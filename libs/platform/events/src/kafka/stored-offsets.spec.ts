import { createMetrics, createSilentLogger } from '@gateway/runtime';
import type { Pool } from 'pg';
import { createInstruments } from '../delivery/instruments';
import { createStoredOffsets, type StoredOffsets } from './stored-offsets';

const PARTITION = 0;
const START = 5n;

let offsets: StoredOffsets;
let sought: bigint[];

beforeEach(async () => {
  sought = [];
  const stored = [{ partition: PARTITION, next_offset: START }];
  offsets = createStoredOffsets(
    { topic: 'topic', group: 'group' },
    {
      pool: { query: async () => ({ rows: stored }) } as unknown as Pool,
      readCommitted: async () => new Map([[PARTITION, START]]),
      readRanges: async () => new Map([[PARTITION, { first: 0n, end: 100n }]]),
      seek: (_partition, offset) => sought.push(offset),
      instruments: createInstruments(createMetrics({ processMetrics: false })),
      log: createSilentLogger(),
    },
  );
  await offsets.assign([PARTITION]);
});

it('expects the first batch of an assignment where the partition was sought', () => {
  expect(sought).toEqual([START]);
  expect(offsets.isOutOfPlace(PARTITION, START)).toBe(false);
});

it.each([
  ['after events that were never handled', 7n],
  ['before the end of the previous one', 3n],
])('recognizes a batch that starts %s', (_where, firstOffset) => {
  expect(offsets.isOutOfPlace(PARTITION, firstOffset)).toBe(true);
});

it('accepts a gap that Kafka returns again after each seek', async () => {
  const results: boolean[] = [];
  for (let attempt = 0; attempt < 4; attempt += 1) {
    results.push(offsets.isOutOfPlace(PARTITION, 7n));
    await offsets.realign();
  }
  expect(results).toEqual([true, true, true, false]);
});

it('does not take different batches out of place for a gap', () => {
  const firstOffsets = [7n, 8n, 7n, 8n, 7n];
  expect(firstOffsets.map((offset) => offsets.isOutOfPlace(PARTITION, offset))).not.toContain(false);
});
