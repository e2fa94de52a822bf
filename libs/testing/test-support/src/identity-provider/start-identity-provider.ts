import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** What the provider answered, on its way to whoever asked. */
export interface ProviderAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly setCookies: readonly string[];
  readonly body: string;
}

/** Changes an answer; "silence" leaves the asker without any. */
export type Meddle = (path: string, answer: ProviderAnswer) => ProviderAnswer | 'silence';

/** A real OpenID provider (oidc-provider) with one client, behind a proxy of the test's own that can meddle. */
export interface IdentityProviderUnderTest {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** With what the gateway is configured by it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whoever signs in as this has this email from now on. */
  giveEmail(login: string, email: string): Promise<void>;
  /** From now on; undefined: no more. */
  meddle(meddle: Meddle | undefined): void;
  /** Nobody answers at its address from now on. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const CLIENT = { clientId: 'the-gateway', clientSecret: 'a secret between the two of them' };
/** The dashboard's on any port of this machine, as RFC 8252 has it for programs that pick one. */
const REDIRECT_URIS = ['http://127.0.0.1/api/oidc/callback'];

/**
 * Whoever signs in there is who they say. The login is the provider's name of
 * the person, and their email; nobody has verified "unverified ada@example.com".
 */
export async function startIdentityProvider(): Promise<IdentityProviderUnderTest> {
  let meddle: Meddle | undefined;
  let upstreamPort = 0;
  const create = () =>
    createServer((request, response) => {
      void forward(request, upstreamPort).then(
        (answer) => {
          const { pathname } = new URL(request.url ?? '/', 'http://provider');
          const given = meddle ? meddle(pathname, answer) : answer;
          if (given === 'silence') return;
          response.writeHead(given.status, { ...given.headers, 'set-cookie': [...given.setCookies] });
          response.end(given.body);
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
    async giveEmail(login, email) {
      const noted = new Promise((resolve) => child.once('message', resolve));
      child.send({ login, email });
      await noted;
    },
    meddle: (next) => (meddle = next),
    goAway: () => closed(server),
    async comeBack() {
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
    child.once('exit', (code) => reject(new Error(`the provider ended with ${code}:\n${printed}`)));
  });
}

async function forward(request: IncomingMessage, port: number): Promise<ProviderAnswer> {
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
  const answered = Object.fromEntries(
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
  return { status: response.status, headers: answered, setCookies, body: await response.text() };
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
