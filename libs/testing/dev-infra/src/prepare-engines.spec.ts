import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findDocker } from './find-docker';
import { prepareEngines } from './prepare-engines';
import { DOCKER_ENGINES, ENGINE_IMAGES } from './test-engines';

const QUICKLY_MS = 300;

let folder: string;
let server: Server | TcpServer | undefined;
let said: string[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-docker-'));
  said = [];
});
afterEach(async () => {
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const environment = (more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  DOCKER_HOST: `unix://${folder}/docker.sock`,
  ...more,
});

async function listen(created: Server | TcpServer): Promise<void> {
  server = created;
  await new Promise<void>((resolve) => created.listen(path.join(folder, 'docker.sock'), resolve));
}

/** A Docker engine that has these images. */
async function startEngine(images: Set<string>): Promise<void> {
  const respond: RequestListener = (request, response) => {
    const image = /^\/images\/(.*)\/json$/.exec(request.url ?? '')?.[1];
    response.statusCode = image === undefined || images.has(image) ? 200 : 404;
    response.end();
  };
  await listen(createServer(respond));
}

const prepare = (env: NodeJS.ProcessEnv, pull: (image: string) => Promise<void> = noRegistry) =>
  prepareEngines({ env, say: (message) => void said.push(message), pull });
const noRegistry = async (): Promise<void> => {
  throw new Error('no registry');
};

const ALL = Object.values(ENGINE_IMAGES);

describe('the engines of a test run', () => {
  it('run in Docker where it responds and has their images', async () => {
    await startEngine(new Set(ALL));
    const env = environment();
    await prepare(env);
    expect(env[DOCKER_ENGINES]).toBe('postgres,redis,kafka');
    expect(said).toEqual([]);
  });

  it('run in Docker after their images were pulled', async () => {
    const images = new Set(['redis:7']);
    await startEngine(images);
    const env = environment();
    await prepare(env, async (image) => void images.add(image));
    expect(env[DOCKER_ENGINES]).toBe('postgres,redis,kafka');
    expect(said).toEqual([
      expect.stringContaining('Pulling postgres:18'),
      expect.stringContaining(`Pulling ${ENGINE_IMAGES.kafka}`),
    ]);
  });

  it('are local if their images cannot be pulled, after one attempt', async () => {
    await startEngine(new Set(['redis:7']));
    const env = environment();
    const pull = jest.fn(noRegistry);
    await prepare(env, pull);
    expect(env[DOCKER_ENGINES]).toBe('redis');
    expect(pull).toHaveBeenCalledTimes(1);
    expect(said.at(-1)).toContain('postgres:18 cannot be pulled: no registry');
  });

  it('are local, with a message, if Docker does not respond', async () => {
    const env = environment();
    await prepare(env);
    expect(env[DOCKER_ENGINES]).toBe('');
    expect(said).toEqual([expect.stringMatching(/Docker does not respond.*ENOENT/)]);
  });

  it('are local without a message on a machine without Docker', async () => {
    const env: NodeJS.ProcessEnv = { HOME: folder };
    // A machine with Docker has this socket.
    if ('host' in (await findDocker(env))) return;
    await prepare(env);
    expect([env[DOCKER_ENGINES], ...said]).toEqual(['']);
  });

  it('are local without a question to Docker if GATEWAY_TEST_ENGINES is local', async () => {
    await startEngine(new Set(ALL));
    const env = environment({ GATEWAY_TEST_ENGINES: 'local' });
    await prepare(env);
    expect([env[DOCKER_ENGINES], ...said]).toEqual(['']);
  });

  it('are refused if GATEWAY_TEST_ENGINES is docker and Docker or an image is missing', async () => {
    const env = environment({ GATEWAY_TEST_ENGINES: 'docker' });
    await expect(prepare(env)).rejects.toThrow(/no Docker engine: .*ENOENT/);
    await startEngine(new Set(['postgres:18']));
    await expect(prepare(env)).rejects.toThrow(/redis:7 cannot be pulled: no registry/);
  });
});

describe('a Docker engine', () => {
  it('that accepts connections and never responds is given up', async () => {
    await listen(createTcpServer((socket) => socket.on('error', () => undefined).resume()));
    expect(await findDocker(environment(), QUICKLY_MS)).toEqual({
      problem: expect.stringContaining(`no response within ${QUICKLY_MS} ms`),
    });
  });

  it('that responds one byte at a time is given up too', async () => {
    await listen(
      createTcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
        const timer = setInterval(() => socket.write('a'), 20);
        socket
          .on('error', () => undefined)
          .once('close', () => clearInterval(timer))
          .resume();
      }),
    );
    expect(await findDocker(environment(), QUICKLY_MS)).toEqual({
      problem: expect.stringContaining(`no response within ${QUICKLY_MS} ms`),
    });
  });

  it('that responds with an error is not used', async () => {
    await listen(createServer((_, response) => response.writeHead(500).end()));
    expect(await findDocker(environment())).toEqual({ problem: expect.stringContaining('status 500') });
  });
});
