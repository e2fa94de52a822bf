import { createWritableServers } from './writable-servers';

/** Servers of which those in `writable` accept writes. Records which were asked. */
function serversWith(writable: Set<string>) {
  const asked: string[] = [];
  const servers = createWritableServers(['a', 'b', 'c'], async (url) => {
    asked.push(url);
    if (!writable.has(url)) throw new Error(`${url} is read-only`);
  });
  return { servers, asked };
}

it('the first writable server in order is found', async () => {
  const { servers, asked } = serversWith(new Set(['b', 'c']));
  expect(await servers.find()).toBe('b');
  expect(asked).toEqual(['a', 'b']);
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

it('a server that is skipped is asked last', async () => {
  const { servers, asked } = serversWith(new Set(['a']));
  servers.skip();
  expect(await servers.find()).toBe('a');
  expect(asked).toEqual(['b', 'c', 'a']);
});

it('concurrent calls share one search', async () => {
  const { servers, asked } = serversWith(new Set(['c']));
  expect(await Promise.all([servers.find(), servers.find()])).toEqual(['c', 'c']);
  expect(asked).toEqual(['a', 'b', 'c']);
});

it('without a writable server, the search fails with the last reason, and the next one starts again', async () => {
  const writable = new Set<string>();
  const { servers } = serversWith(writable);
  await expect(servers.find()).rejects.toThrow('c is read-only');
  writable.add('a');
  expect(await servers.find()).toBe('a');
});
