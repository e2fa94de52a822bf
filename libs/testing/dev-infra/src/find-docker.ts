import { existsSync, readFileSync } from 'node:fs';
import { request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';

const RESPONSE_TIMEOUT_MS = 5_000;

/** `host` in the form of DOCKER_HOST; otherwise the problem, if there are signs of Docker. */
export type DockerSearch = { readonly host: string } | { readonly problem: string | undefined };

/**
 * Finds a Docker engine that responds: that of DOCKER_HOST, else one behind the usual sockets. An
 * engine that accepts connections and does not respond is given up after some seconds.
 */
export async function findDocker(
  env: NodeJS.ProcessEnv = process.env,
  timeoutMs = RESPONSE_TIMEOUT_MS,
): Promise<DockerSearch> {
  const problems: string[] = [];
  for (const host of candidates(env)) {
    try {
      const status = await statusOf({ host, path: '/_ping', env, timeoutMs });
      if (status === 200) return { host };
      problems.push(`${host} responds with status ${status}`);
    } catch (error) {
      problems.push(`${host}: ${(error as Error).message}`);
    }
  }
  return { problem: problems.join('; ') || undefined };
}

/** Whether the engine has an image. */
export async function hasImage(
  host: string,
  image: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const path = `/images/${image}/json`;
  return (await statusOf({ host, path, env, timeoutMs: RESPONSE_TIMEOUT_MS })) === 200;
}

/** The sockets that testcontainers tries too. */
function candidates(env: NodeJS.ProcessEnv): string[] {
  if (env['DOCKER_HOST']) return [env['DOCKER_HOST']];
  const runtime = env['XDG_RUNTIME_DIR'];
  const home = env['HOME'] ?? homedir();
  return [
    '/var/run/docker.sock',
    ...(runtime ? [join(runtime, 'docker.sock')] : []),
    join(home, '.docker', 'run', 'docker.sock'),
    join(home, '.docker', 'desktop', 'docker.sock'),
  ]
    .filter((path) => existsSync(path))
    .map((path) => `unix://${path}`);
}

interface Question {
  readonly host: string;
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** The status of a GET request to the engine's API. */
function statusOf({ host, path, env, timeoutMs }: Question): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { isTls, options } = addressOf(host, env);
    // A timeout of the whole exchange; that of the socket restarts with every byte.
    const signal = AbortSignal.timeout(timeoutMs);
    const request = (isTls ? requestHttps : requestHttp)({ ...options, path, signal, agent: false });
    request.once('response', (response) => {
      response.destroy();
      resolve(response.statusCode);
    });
    request.once('error', (error) =>
      reject(signal.aborted ? new Error(`no response within ${timeoutMs} ms`) : error),
    );
    request.end();
  });
}

function addressOf(host: string, env: NodeJS.ProcessEnv): { isTls: boolean; options: RequestOptions } {
  const { protocol, hostname, port, pathname } = new URL(host);
  if (protocol === 'unix:') return { isTls: false, options: { socketPath: pathname } };
  if (env['DOCKER_TLS_VERIFY'] !== '1') return { isTls: false, options: { host: hostname, port } };
  const read = (file: string) => readFileSync(join(env['DOCKER_CERT_PATH'] ?? '', file));
  const certificates = { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
  return { isTls: true, options: { host: hostname, port, ...certificates } as RequestOptions };
}
