import { setTimeout as delay } from 'node:timers/promises';
import { bounded } from './bounded';

export interface ContainerOptions {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  /** The server's port in the container, and the one on the host, which stays the same after a restart. */
  readonly port: { readonly container: number; readonly host: number };
  /** Whether the server responds on the host's port. */
  readonly isReady: () => Promise<boolean>;
}

/** A server in a container. Every call is bounded; the container is removed when this process exits (by Ryuk). */
export interface Container {
  /** Runs a command in the container. @returns what it printed @throws Error if it fails */
  run(command: readonly string[]): Promise<string>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** SIGKILL; the container's files are kept. */
  kill(): Promise<void>;
  /** Starts it again after a kill. */
  start(): Promise<void>;
  /** Removes it with its files. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 120_000;
const CALL_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const MAX_LAST_LINES = 50;

/** The name or address under which this process reaches published ports. */
export async function containerHost(): Promise<string> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const client = await bounded('connecting', CALL_TIMEOUT_MS, getContainerRuntimeClient);
  const { host } = client.info.containerRuntime;
  // The same as for local programs, and never IPv6.
  return host === 'localhost' ? '127.0.0.1' : host;
}

export async function startContainer(options: ContainerOptions): Promise<Container> {
  const { image, environment = {}, command = [], port, isReady } = options;
  // Loaded here, since most tests and programs need no container.
  const { GenericContainer, getContainerRuntimeClient, StartupCheckStrategy } =
    await import('testcontainers');

  /** Leaves the waiting to `untilReady`, which works after a restart too. */
  class NoWait extends StartupCheckStrategy {
    checkStartupState = async () => 'SUCCESS' as const;
  }

  const call = <Result>(what: string, work: () => Promise<Result>) =>
    bounded(`${what} the container of ${image}`, CALL_TIMEOUT_MS, work);
  const started = await bounded(`starting ${image}`, START_TIMEOUT_MS, () =>
    new GenericContainer(image)
      .withEnvironment({ ...environment })
      .withCommand([...command])
      .withExposedPorts(port)
      .withWaitStrategy(new NoWait())
      .start(),
  );
  const client = await getContainerRuntimeClient();
  const container = client.container.getById(started.getId());
  const stop = () => call('removing', async () => void (await container.remove({ force: true, v: true })));

  async function untilReady(): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await call('waiting for', isReady))) {
      const { State } = await call('inspecting', () => container.inspect());
      const problem = !State.Running ? 'exited during startup' : undefined;
      const isLate = performance.now() > deadline;
      if (problem !== undefined || isLate) {
        const lines = await call('reading the log of', () =>
          container.logs({ stdout: true, stderr: true, tail: MAX_LAST_LINES }),
        );
        throw new Error(`${image} ${problem ?? `was not ready within ${START_TIMEOUT_MS} ms`}:\n${lines}`);
      }
      await delay(POLL_MS);
    }
  }

  try {
    await untilReady();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async run(args) {
      const { exitCode, output } = await call('running a command in', () => started.exec([...args]));
      if (exitCode !== 0) throw new Error(`${args[0]} failed in ${image}: ${output.trim()}`);
      return output.trim();
    },
    pause: () => call('pausing', async () => void (await container.pause())),
    resume: () => call('resuming', async () => void (await container.unpause())),
    kill: () => call('killing', async () => void (await container.kill())),
    async start() {
      await call('restarting', async () => void (await container.start()));
      await untilReady();
    },
    stop,
  };
}
