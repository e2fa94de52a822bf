import { bisectBatch } from './bisect-batch';

class BadItem extends Error {}
const isItemError = (error: unknown): error is BadItem => error instanceof BadItem;

function squaring() {
  const batches: number[][] = [];
  const run = async (items: readonly number[]) => {
    batches.push([...items]);
    if (items.some((item) => item < 0)) throw new BadItem('negative');
    return items.map((item) => item * item);
  };
  return { batches, run };
}

it('a batch without a bad item runs once', async () => {
  const { batches, run } = squaring();
  expect(await bisectBatch([1, 2, 3], run, isItemError, () => [-1])).toEqual([1, 4, 9]);
  expect(batches).toHaveLength(1);
});

it('bad items are rejected individually and the others succeed, in order', async () => {
  const { batches, run } = squaring();
  const rejected: number[] = [];
  const rejectItem = (item: number) => {
    rejected.push(item);
    return [-1];
  };
  expect(await bisectBatch([1, -2, 3, 4, -5], run, isItemError, rejectItem)).toEqual([1, -1, 9, 16, -1]);
  expect(rejected).toEqual([-2, -5]);
  expect(batches.map(({ length }) => length)).toEqual([5, 3, 2, 1, 1, 1, 2, 1, 1]);
});

it('any other error rejects without a retry', async () => {
  let runs = 0;
  const run = async () => {
    runs += 1;
    throw new Error('unavailable');
  };
  await expect(bisectBatch([1, 2], run, isItemError, () => [])).rejects.toThrow('unavailable');
  expect(runs).toBe(1);
});
