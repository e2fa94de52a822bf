import { createWritableServers } from './writable-servers';

/** Servers that accept writes only if they are in `writable`. Records which were tried. */
function serversWith(writable: Set<string>) {
  const tried: string[] = [];
  const servers = createWritableServers(['a', 'b', 'c'], async (url) => {
    tried.push(url);
    if (!writable.has(url)) throw new Error(`${url} is read-only`);
  });
  return { servers, tried };
}

it('the first writable server in order is found', async () => {
  const { servers, tried } = serversWith(new Set(['b', 'c']));
  expect(await servers.find()).toBe('b');
  expect(tried).toEqual(['a', 'b']);
});

it('a server that was found stays the first choice while it is writable', async () => {
  const writable = new Set(['b']);
  const { servers } = serversWith(writable);
  await servers.find();
  writable.add('a');
  expect(await servers.find()).toBe('b');
  writable.delete('b');
  expect(await servers.find()).toBe('a');
});

it('a server that is skipped is tried last', async () => {
  const { servers, tried } = serversWith(new Set(['a']));
  servers.skip();
  expect(await servers.find()).toBe('a');
  expect(tried).toEqual(['b', 'c', 'a']);
});

it('concurrent calls share one search', async () => {
  const { servers, tried } = serversWith(new Set(['c']));
  expect(await Promise.all([servers.find(), servers.find()])).toEqual(['c', 'c']);
  expect(tried).toEqual(['a', 'b', 'c']);
});

it('without a writable server, the search fails with the last reason, and the next one starts again', async () => {
  const writable = new Set<string>();
  const { servers } = serversWith(writable);
  await expect(servers.find()).rejects.toThrow('c is read-only');
  writable.add('a');
  expect(await servers.find()).toBe('a');
});
