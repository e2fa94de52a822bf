import { startPostgres, startPostgresStandby, type PostgresServer } from './postgres';

const CREATE = 'create table things (id int primary key)';

describe('PostgreSQL with a standby', () => {
  let primary: PostgresServer;
  let standby: PostgresServer;

  beforeAll(async () => {
    primary = await startPostgres();
    await primary.query(CREATE);
    standby = await startPostgresStandby(primary, 'standby');
  });
  afterAll(() => Promise.all([primary?.stop(), standby?.stop()]));

  it('switches over and back: each server follows the other with everything that it wrote', async () => {
    await expect(standby.query('insert into things values (1)')).rejects.toThrow(/read-only/);
    await primary.query('insert into things values (1)');
    await primary.shutDown();
    await standby.promote();
    await standby.query('insert into things values (2)');
    await primary.startAsStandbyOf(standby);
    await standby.query('insert into things values (3)');
    await standby.shutDown();
    await primary.promote();
    expect(await primary.query('select id from things order by id')).toEqual([
      { id: 1 },
      { id: 2 },
      { id: 3 },
    ]);
    await standby.startAsStandbyOf(primary);
  });

  it('starts again after a crash', async () => {
    await primary.kill();
    await primary.start();
    await primary.query('insert into things values (4)');
  });
});
