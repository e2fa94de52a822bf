import { rm } from 'node:fs/promises';
import path from 'node:path';
import { databaseProcessesOf, freezeDatabaseOf } from '@gateway/dev-infra';
import { eventually, startGateway, type GatewayProcess } from '@gateway/test-support';

jest.setTimeout(120_000);

describe('a gateway whose database does not respond', () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.kill());

  const readiness = async () => (await fetch(`${gateway.adminUrl}/readyz`)).status;

  it('is not ready until the database responds again', async () => {
    expect(await readiness()).toBe(200);
    const unfreeze = freezeDatabaseOf(gateway.pid);
    try {
      await eventually('not ready', async () => ((await readiness()) === 503 ? true : undefined));
    } finally {
      unfreeze();
    }
    await eventually('it is ready again', async () => ((await readiness()) === 200 ? true : undefined));
  });

  it('exits with a clear message when its embedded PostgreSQL cannot be restarted', async () => {
    await rm(path.join(gateway.stateDirectory, 'postgres/postgres/data/global/pg_control'));
    process.kill(databaseProcessesOf(gateway.pid).postmaster, 'SIGKILL');
    expect(await gateway.exited).toBe(1);
    expect(gateway.output()).toMatch(/the process cannot continue/);
    expect(gateway.output()).toMatch(
      /PostgreSQL failed 6 times without running for a minute; last failure: .*pg_control/,
    );
  });
});
