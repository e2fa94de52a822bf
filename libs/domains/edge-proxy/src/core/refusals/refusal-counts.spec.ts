import { HOUR_MS, type UnixMs } from '@gateway/base';
import { RefusalCounts, type RefusedRequest } from './refusal-counts';

const NOON = Date.UTC(2026, 10, 20, 12) as UnixMs;
const bounds = { maxCounts: 5, maxLatest: 2, maxLatestTotal: 3, maxModelLength: 8, maxMessageLength: 10 };

let requests = 0;
function refused(changes: Partial<RefusedRequest> = {}): RefusedRequest {
  requests += 1;
  return {
    requestId: `req_${requests}`,
    organizationId: 'org-1',
    keyId: 'key-1',
    projectId: '',
    apiType: 'completions',
    modelId: '',
    model: '',
    errorCode: 'model_not_found',
    errorMessage: 'No model.',
    at: NOON,
    ...changes,
  };
}

it('counts by organization, key, model, API, error code and hour', () => {
  const counts = new RefusalCounts({ ...bounds, maxCounts: 10 });
  counts.add(refused());
  counts.add(refused({ at: (NOON + HOUR_MS - 1) as UnixMs }));
  const others: readonly Partial<RefusedRequest>[] = [
    { at: (NOON + HOUR_MS) as UnixMs },
    { organizationId: 'org-2' },
    { keyId: 'key-2' },
    { modelId: 'acme/m-1' },
    { apiType: 'messages' },
    { errorCode: 'rpm_exceeded' },
  ];
  for (const other of others) counts.add(refused(other));
  expect(counts.take()?.counts.map((count) => count.requests)).toEqual([2, 1, 1, 1, 1, 1, 1]);
});

it('is empty after the counts were taken', () => {
  const counts = new RefusalCounts(bounds);
  expect(counts.take()).toBeUndefined();
  counts.add(refused());
  expect(counts.take()?.counts).toMatchObject([{ requests: 1, hour: NOON }]);
  expect(counts.take()).toBeUndefined();
});

it('has one count for 10,000 models that do not exist', () => {
  const counts = new RefusalCounts(bounds);
  for (let n = 0; n < 10_000; n += 1) expect(counts.add(refused({ model: `model-${n}` }))).toBe(true);
  const batch = counts.take();
  expect(batch?.counts).toMatchObject([{ requests: 10_000 }]);
  expect(batch?.latest.map(({ model }) => model)).toEqual(['model-99', 'model-99']);
});

it('counts no further keys once it is full, and still counts the known ones', () => {
  const counts = new RefusalCounts(bounds);
  for (let n = 0; n < bounds.maxCounts; n += 1) counts.add(refused({ keyId: `key-${n}` }));
  expect(counts.add(refused({ keyId: 'key-9' }))).toBe(false);
  expect(counts.add(refused({ keyId: 'key-0' }))).toBe(true);
  expect(counts.take()?.counts).toHaveLength(bounds.maxCounts);
});

it('keeps the latest requests of each organization and error code, up to a total, and shortens their texts', () => {
  const counts = new RefusalCounts(bounds);
  const ids = ['a', 'b', 'c'].map((requestId) => refused({ requestId, errorMessage: 'x'.repeat(20) }));
  for (const one of ids) counts.add(one);
  for (const requestId of ['d', 'e']) counts.add(refused({ requestId, errorCode: 'rpm_exceeded' }));
  const latest = counts.take()?.latest;
  expect(latest?.map(({ requestId }) => requestId)).toEqual(['b', 'c', 'd']);
  expect(latest?.[0]?.errorMessage).toBe('x'.repeat(10));
});
