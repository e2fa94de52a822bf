import type { UnixMs } from '@gateway/base';
import { nodeTimers } from '../adapters/node/timers';
import { catalogueOf, FixedCatalogue, model, PRICES } from '../testing/router-under-test';
import { createEffectiveCatalogue } from './effective-catalogue';

const DAY_MS = 86_400_000;
const inputPrice = (inputNanoUsdPerMillion: bigint) => ({ ...PRICES, inputNanoUsdPerMillion });

describe('planned price changes', () => {
  beforeEach(() => jest.useFakeTimers({ now: 0 }));
  afterEach(() => jest.useRealTimers());

  async function start(source: FixedCatalogue) {
    const catalogue = createEffectiveCatalogue(source, {
      disabledModels: { of: () => undefined, onChange: () => () => undefined },
      clock: { now: () => Date.now() as UnixMs },
      timers: nodeTimers,
    });
    await catalogue.start();
    const read = () => catalogue.current().models.get('acme/m-1')?.prices.inputNanoUsdPerMillion;
    return { catalogue, read };
  }

  it('apply at their time, also after more days than a timer can wait, and notify watchers with a later version', async () => {
    const changes = [
      { from: (40 * DAY_MS) as UnixMs, prices: inputPrice(7n) },
      { from: (41 * DAY_MS) as UnixMs, prices: inputPrice(8n) },
    ];
    const { catalogue, read } = await start(
      new FixedCatalogue(catalogueOf([model([], { priceChanges: changes })])),
    );
    const versions: number[] = [];
    catalogue.onChange(() => versions.push(catalogue.current().version));
    expect(read()).toBe(PRICES.inputNanoUsdPerMillion);
    jest.advanceTimersByTime(40 * DAY_MS - 1);
    expect(read()).toBe(PRICES.inputNanoUsdPerMillion);
    const before = catalogue.current().version;
    jest.advanceTimersByTime(1);
    expect(read()).toBe(7n);
    expect(versions.at(-1)).toBeGreaterThan(before);
    jest.advanceTimersByTime(DAY_MS);
    expect(read()).toBe(8n);
    await catalogue.stop();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('that are in the past apply at once, the latest one', async () => {
    jest.setSystemTime(10);
    const changes = [
      { from: 5 as UnixMs, prices: inputPrice(7n) },
      { from: 10 as UnixMs, prices: inputPrice(8n) },
    ];
    const { catalogue, read } = await start(
      new FixedCatalogue(catalogueOf([model([], { priceChanges: changes })])),
    );
    expect(read()).toBe(8n);
    await catalogue.stop();
  });

  it('of a replaced catalogue no longer apply', async () => {
    const source = new FixedCatalogue(
      catalogueOf([model([], { priceChanges: [{ from: 100 as UnixMs, prices: inputPrice(7n) }] })]),
    );
    const { catalogue, read } = await start(source);
    expect(read()).toBe(PRICES.inputNanoUsdPerMillion);
    source.change(catalogueOf([model([])], 2));
    jest.advanceTimersByTime(200);
    expect(read()).toBe(PRICES.inputNanoUsdPerMillion);
    await catalogue.stop();
  });
});
