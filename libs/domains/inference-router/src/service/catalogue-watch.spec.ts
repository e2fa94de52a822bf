import type { Catalogue } from '../core/catalogue/model-catalogue';
import type { CatalogueSource } from '../core/ports';
import { watchCatalogue } from './catalogue-watch';

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
