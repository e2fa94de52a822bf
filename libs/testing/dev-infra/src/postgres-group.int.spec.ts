import { startPostgresGroup, type PostgresGroup } from './postgres-group';
import { startPostgresPrimary, startPostgresStandby, type PostgresNode } from './postgres-node';

describe('a group of PostgreSQL servers', () => {
  let group: PostgresGroup;

  beforeAll(async () => {
    group = await startPostgresGroup({ standbys: 2, synchronous: true });
    await group.primary().query('create table things (id int primary key)');
  });
  afterAll(() => group?.stop());

  const write = (id: number) => group.primary().query(`insert into things values (${id})`);
  const written = async () =>
    (await group.primary().query<{ id: number }>('select id from things order by id')).map(({ id }) => id);

  it('switches over, fails over and rejoins without a loss', async () => {
    const [first] = group.servers;
    await write(1);
    await group.switchOver();
    expect(group.primary()).not.toBe(first);
    await write(2);
    const crashed = group.primary();
    await crashed.kill();
    await group.failOver();
    await write(3);
    await group.rejoin();
    expect(await written()).toEqual([1, 2, 3]);
    await expect(crashed.query('insert into things values (4)')).rejects.toThrow(/read-only/);
  });
});

it('a server starts again after a crash', async () => {
  const server = await startPostgresPrimary();
  try {
    await server.query('create table things ()');
    await server.kill();
    await server.start();
    expect(await server.query('select from things')).toEqual([]);
  } finally {
    await server.stop();
  }
});

it('a standby that stops receiving lacks what its primary commits later', async () => {
  const servers = [await startPostgresPrimary()];
  try {
    const [primary] = servers as [PostgresNode];
    await primary.query('create table things (id int primary key)');
    const standby = await startPostgresStandby(primary, 'standby');
    servers.push(standby);
    await standby.stopReceiving();
    await primary.query('insert into things values (1)');
    await primary.kill();
    await standby.promote();
    expect(await standby.query('select id from things')).toEqual([]);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
});
