import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** A response of the provider, before the proxy forwards it. */
export interface IdentityProviderResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly setCookies: readonly string[];
  readonly body: string;
}

/** Changes a response; 'no response' leaves the request without one. */
export type AlterResponse = (
  path: string,
  response: IdentityProviderResponse,
) => IdentityProviderResponse | 'no response';

/** A real OpenID provider (oidc-provider) with one client, behind a proxy that can alter its responses. */
export interface IdentityProviderUnderTest {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The gateway settings for this provider. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the email of a login. */
  setEmail(login: string, email: string): Promise<void>;
  /** Alters responses from now on; undefined stops altering them. */
  alterResponses(alter: AlterResponse | undefined): void;
  /** Refuses connections until `resume`. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

const CLIENT = { clientId: 'the-gateway', clientSecret: 'a secret between the two of them' };
/** The dashboard's callback on any loopback port (RFC 8252). */
const REDIRECT_URIS = ['http://127.0.0.1/api/oidc/callback'];

/**
 * Starts a provider that accepts any login. The login is the subject and the email;
 * the prefix "unverified ", as in "unverified ada@example.com", makes the email unverified.
 */
export async function startIdentityProvider(): Promise<IdentityProviderUnderTest> {
  let alter: AlterResponse | undefined;
  let upstreamPort = 0;
  const create = () =>
    createServer((request, response) => {
      void forward(request, upstreamPort).then(
        (original) => {
          const { pathname } = new URL(request.url ?? '/', 'http://provider');
          const altered = alter ? alter(pathname, original) : original;
          if (altered === 'no response') return;
          response.writeHead(altered.status, { ...altered.headers, 'set-cookie': [...altered.setCookies] });
          response.end(altered.body);
        },
        () => response.destroy(),
      );
    });
  let server = create();
  const port = await listen(server, 0);
  const issuer = `http://127.0.0.1:${port}`;
  const child = spawnProvider({ issuer, ...CLIENT, redirectUris: REDIRECT_URIS });
  upstreamPort = await portOf(child).catch(async (error: unknown) => {
    await closed(server);
    throw error;
  });
  return {
    issuer,
    ...CLIENT,
    environment: {
      GATEWAY_OIDC_ISSUER: issuer,
      GATEWAY_OIDC_CLIENT_ID: CLIENT.clientId,
      GATEWAY_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    },
    async setEmail(login, email) {
      const saved = new Promise((resolve) => child.once('message', resolve));
      child.send({ login, email });
      await saved;
    },
    alterResponses: (next) => (alter = next),
    suspend: () => closed(server),
    async resume() {
      server = create();
      await listen(server, port);
    },
    async close() {
      await closed(server);
      const exited = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        await exited;
      }
    },
  };
}

function spawnProvider(options: object): ChildProcess {
  const script = path.resolve(__dirname, 'provider.mjs');
  return spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

function portOf(child: ChildProcess): Promise<number> {
  let printed = '';
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [, port] = /^listening on (\d+)$/m.exec(printed) ?? [];
        if (port !== undefined) resolve(Number(port));
      });
    }
    child.once('exit', (code) => reject(new Error(`the provider exited with code ${code}:\n${printed}`)));
  });
}

async function forward(request: IncomingMessage, port: number): Promise<IdentityProviderResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' && !['connection', 'content-length'].includes(name) ? [[name, value]] : [],
  );
  const forwarded = { 'x-forwarded-proto': 'http', 'x-forwarded-host': request.headers.host ?? '' };
  const response = await fetch(`http://127.0.0.1:${port}${request.url}`, {
    method: request.method ?? 'GET',
    headers: { ...(Object.fromEntries(headers) as Record<string, string>), ...forwarded },
    redirect: 'manual',
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  });
  const responseHeaders = Object.fromEntries(
    [...response.headers].filter(
      ([name]) =>
        ![
          'set-cookie',
          'content-length',
          'content-encoding',
          'connection',
          'keep-alive',
          'transfer-encoding',
        ].includes(name),
    ),
  );
  const setCookies = response.headers.getSetCookie();
  return { status: response.status, headers: responseHeaders, setCookies, body: await response.text() };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
}
