import type { Catalogue } from '../core/catalogue/model-catalogue';
import type { CatalogueSource } from '../core/ports';
import { catalogueOf, model, PRICES, provider } from '../testing/router-under-test';
import { watchCatalogue } from './catalogue-watch';
import { toWatchCatalogueResponse } from './messages';

const catalogue = (version: number): Catalogue => ({ version, models: new Map(), providers: new Map() });

it('a slow reader gets ascending versions, each at most once, and always the last one', async () => {
  let current = catalogue(1);
  let change: () => void = () => undefined;
  const source = {
    current: () => current,
    onChange(listener: () => void) {
      change = listener;
      return () => undefined;
    },
  } as unknown as CatalogueSource;
  const load = (version: number): void => {
    current = catalogue(version);
    change();
  };
  const stopping = new AbortController();
  const seen: bigint[] = [];
  const watch = watchCatalogue(source, stopping.signal);
  const read = async (): Promise<void> => {
    const { value } = await watch.next();
    if (value) seen.push(value.version);
  };
  await read();
  load(2);
  load(3);
  await read();
  const pending = read();
  load(3);
  load(4);
  await pending;
  stopping.abort();
  await watch.return(undefined);
  expect(seen).toEqual([1n, 3n, 4n]);
});

it('edges get the prices of a model, and whether it writes to the prompt cache without cache points', () => {
  const tiers = [{ ...PRICES, abovePromptTokens: 200_000 }];
  const writing = model([provider('acme', 'https://acme.example')], { prices: { ...PRICES, tiers } });
  const message = toWatchCatalogueResponse(catalogueOf([writing, model([], { id: 'acme/no-target' })]));
  expect(message.models).toMatchObject([
    { prices: { ...PRICES, tiers }, writesCacheImplicitly: true },
    { prices: PRICES, writesCacheImplicitly: false },
  ]);
});
