import { createFileSpool } from './file-spool';

it('the default spool has space for the records of more than 16,000 generations in flight, and then for no other', () => {
  const spool = createFileSpool({ directory: '/nowhere' });
  const releases = Array.from({ length: 16_384 }, () => spool.reserve());
  expect(releases).not.toContain(undefined);
  expect(spool.reserve()).toBeUndefined();
  releases[0]?.();
  expect(spool.reserve()).toBeDefined();
});
