import type { UnixMs } from '@gateway/base';
import type { Model } from './model-catalogue';

/** The model with the prices that apply at a time. */
export function withPricesAt(model: Model, now: UnixMs): Model {
  const applied = model.priceChanges?.findLast(({ from }) => from <= now);
  return applied ? { ...model, prices: applied.prices } : model;
}

/** When the prices of a model change next; undefined when no change is planned. */
export function nextPriceChange(models: Iterable<Model>, now: UnixMs): UnixMs | undefined {
  const times = [...models].flatMap(({ priceChanges = [] }) =>
    priceChanges.map(({ from }) => from).filter((from) => from > now),
  );
  return times.length === 0 ? undefined : (times.reduce((a, b) => (a < b ? a : b)) as UnixMs);
}
