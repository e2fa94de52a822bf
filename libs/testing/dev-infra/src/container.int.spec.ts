import { findFreePort } from '@gateway/database';
import { getContainerRuntimeClient } from 'testcontainers';
import { startContainer } from './container';
import { containerOf } from './container-server';
import { describeWith } from './describe-with';
import { startRedisContainer } from './redis-container';
import { ENGINE_IMAGES } from './test-engines';

/** The states of all containers that publish, or published, this port of the host. */
async function containersOf(port: number): Promise<string[]> {
  const { container } = await getContainerRuntimeClient();
  const all = await container.dockerode.listContainers({ all: true });
  const details = await Promise.all(
    all.map(({ Id }) =>
      container.dockerode
        .getContainer(Id)
        .inspect()
        .catch(() => undefined),
    ),
  );
  return details
    .filter((each) => JSON.stringify(each?.HostConfig.PortBindings ?? {}).includes(`"${port}"`))
    .map((each) => each?.State.Status ?? '');
}

describeWith(containerOf('redis'), 'a container', () => {
  it('that exits during startup is reported with the last lines of its log, and removed', async () => {
    const port = await findFreePort();
    const failed = startContainer({
      image: ENGINE_IMAGES.redis,
      command: ['redis-server', '--maxmemory', 'lots'],
      port: { container: 6379, host: port },
      isReady: async () => false,
    });
    await expect(failed).rejects.toThrow(/redis:7 exited during startup:[^]*argument/);
    expect(await containersOf(port)).toEqual([]);
  });

  it.each(['running', 'paused', 'exited'] as const)('that is %s is removed by a stop', async (state) => {
    const server = await startRedisContainer();
    if (state === 'paused') await server.pause();
    if (state === 'exited') await server.kill();
    expect(await containersOf(server.port)).toEqual([state]);
    await server.stop();
    expect(await containersOf(server.port)).toEqual([]);
  });
});
