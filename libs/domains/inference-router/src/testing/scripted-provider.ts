import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenCall {
  readonly body: Record<string, unknown>;
  /** The body as received. */
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
  /** Resolves when the connection is closed before the response is complete. */
  readonly cut: Promise<void>;
}

export type Script = (response: ServerResponse, call: SeenCall) => void | Promise<void>;

/** An HTTP server that runs a script for each call, for tests of the provider adapter. */
export class ScriptedProvider {
  readonly calls: SeenCall[] = [];
  private constructor(
    private readonly server: Server,
    private script: Script,
  ) {}

  static async start(): Promise<ScriptedProvider> {
    const server = createServer();
    const provider = new ScriptedProvider(server, (response) => void response.writeHead(500).end());
    server.on('request', (request, response) => void provider.respond(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Runs one script per call; the last one is repeated. */
  play(...scripts: Script[]): void {
    this.calls.length = 0;
    const queue = [...scripts];
    this.script = (response, call) => {
      const next = queue.length > 1 ? queue.shift() : queue[0];
      return next?.(response, call);
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const call: SeenCall = {
      body: JSON.parse(text) as Record<string, unknown>,
      text,
      headers: request.headers,
      path: request.url ?? '',
      cut: new Promise((resolve) => {
        response.once('close', () => {
          if (!response.writableFinished) resolve();
        });
      }),
    };
    this.calls.push(call);
    await this.script(response, call);
  }
}

export const chunk = (delta: object, finish: string | null = null, index = 0): object => ({
  id: 'chatcmpl-upstream',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-model',
  system_fingerprint: 'fp_1',
  choices: [{ index, delta, logprobs: null, finish_reason: finish }],
});

export const usageChunk = (prompt: number, completion: number, more: object = {}): object => ({
  id: 'chatcmpl-upstream',
  object: 'chat.completion.chunk',
  choices: [],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...more,
  },
});

export const DONE = 'data: [DONE]\n\n';

export const sse = (...payloads: object[]): string =>
  payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join('');

export const startStream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
};

/** A complete stream in a single write. */
export const stream =
  (...payloads: object[]): Script =>
  (response) => {
    startStream(response);
    response.end(sse(...payloads) + DONE);
  };

export const helloStream = stream(
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Hello' }),
  chunk({ content: ' world' }),
  chunk({}, 'stop'),
  usageChunk(10, 2),
);

export const json =
  (body: object, status = 200, headers: Record<string, string> = {}): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

export const completion = (message: object, usage?: object, finish = 'stop'): object => ({
  id: 'chatcmpl-upstream',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  system_fingerprint: 'fp_1',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  ...(usage ? { usage } : {}),
});

export const helloCompletion = json(
  completion({ content: 'Hello' }, { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }),
);

export const failure = (status: number, error: object = { message: 'no' }): Script => json({ error }, status);
