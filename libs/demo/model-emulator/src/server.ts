import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Admin, type GlobalFaults } from './admin';
import { composeCompletion, type ScriptedCall } from './completion';
import { Call } from './call';
import { deliverStream, deliverJson } from './deliver';
import { contextLengthExceeded, ProviderError, statusFault } from './errors';
import type { EarlyFault, FaultPlan } from './faults';
import { parseJson, readBody, sendError, sendJson } from './http';
import { listModels } from './models';
import { PrefixCache } from './prefix-cache';
import { FORMATS } from './dialects';
import { openai } from './dialects/openai';
import type { ChatRequest } from './request';
import type { EmulatorStats, SeenRequest } from './stats';
import { loadTokenizer } from './tokens';
import type { WireFormat } from './wire-format';

export interface ModelEmulatorOptions {
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on; default 0, any free one. */
  readonly port?: number;
  /** Seed of all completions; default 1. */
  readonly seed?: number;
  /** Tokens per second of every response without `[[rate:…]]`; default 0, as fast as possible. */
  readonly tokensPerSecond?: number;
  /** Milliseconds before the first byte of every response without `[[delay:…]]`; default 0. */
  readonly delayMs?: number;
  /** Accepted keys; default: any key, or none. */
  readonly apiKeys?: readonly string[];
  /** The number of recent requests that are recorded; default 200. */
  readonly maxSeenRequests?: number;
}

export interface ModelEmulator {
  /** The base URL for an OpenAI SDK: `http://host:port/v1`. */
  readonly url: string;
  /** The URL of the admin endpoints: `http://host:port/_emulator`. */
  readonly adminUrl: string;
  readonly port: number;
  stats(): EmulatorStats;
  /** The recent requests, oldest first. */
  requests(): readonly SeenRequest[];
  /** Resolves as soon as the counters satisfy `holds`, so that tests need not sleep. */
  until(holds: (stats: EmulatorStats) => boolean): Promise<void>;
  /** Faults for calls that name none: a share `rate` (0 to 1) of them gets one of `kinds`. */
  setFaults(faults: GlobalFaults): void;
  /**
   * Tool calls of the next responses, as lists of parallel calls. A request that lacks one of the tools does not take a turn.
   */
  setScript(turns: readonly (readonly ScriptedCall[])[]): void;
  /** Resets counters, recorded requests, global faults, the script and the prompt cache. */
  reset(): void;
  /** Stops listening and cuts all connections. */
  close(): Promise<void>;
}

const MAX_SEEN_BODY_CHARACTERS = 16_384;
const MODELS = listModels();

/** Starts the emulator; resolves when it listens. */
export async function startModelEmulator(options: ModelEmulatorOptions = {}): Promise<ModelEmulator> {
  await loadTokenizer();
  const emulator = new Emulator(options);
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    emulator.handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', 1_024, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  const origin = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  const { admin } = emulator;
  return {
    url: `${origin}/v1`,
    adminUrl: `${origin}/_emulator`,
    port,
    stats: () => admin.statistics.snapshot(),
    requests: () => admin.seenRequests(),
    until: (holds) => admin.statistics.until(holds),
    setFaults: (faults) => admin.setFaults(faults),
    setScript: (turns) => admin.setScript(turns),
    reset: () => emulator.reset(),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

class Emulator {
  readonly admin: Admin;
  private readonly cache = new PrefixCache();
  private readonly seed: number;
  private sequence = 0;

  constructor(private readonly options: ModelEmulatorOptions) {
    this.seed = options.seed ?? 1;
    this.admin = new Admin(options.maxSeenRequests);
  }

  reset(): void {
    this.admin.reset();
    this.cache.clear();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const format = request.method === 'POST' ? FORMATS.find(({ handles }) => handles(path)) : undefined;
    if (format !== undefined) {
      this.complete(format, path, request, response);
    } else if (path === '/v1/models' && request.method === 'GET') {
      if (!this.isAuthorized(request, openai)) sendError(response, invalidKey());
      else sendJson(response, 200, MODELS);
    } else if (path.startsWith('/_emulator/') || path.startsWith('/v1/_emulator/')) {
      const name = path.slice(path.indexOf('/_emulator') + '/_emulator'.length);
      readBody(request, (body) => {
        try {
          const value = this.admin.handle(request.method ?? '', name, body, () => this.reset());
          sendJson(response, 200, JSON.stringify(value));
        } catch (error) {
          sendError(response, error instanceof ProviderError ? error : internalError(error));
        }
      });
    } else {
      sendError(
        response,
        new ProviderError({ status: 404, message: `Invalid URL (${request.method} ${path})` }),
      );
    }
  }

  private isAuthorized(request: IncomingMessage, format: WireFormat): boolean {
    const { apiKeys } = this.options;
    if (apiKeys === undefined) return true;
    const sent = format.keyOf(request.headers);
    return sent !== undefined && apiKeys.includes(sent);
  }

  private complete(
    format: WireFormat,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const { statistics } = this.admin;
    statistics.callStarted();
    const seen = this.admin.record(request);
    const call = new Call(request, response, (outcome) => {
      seen.outcome = outcome;
      seen.status = response.headersSent ? response.statusCode : null;
      statistics.callEnded(outcome);
    });
    readBody(request, (body) => {
      seen.body = firstCharacters(body ?? '');
      this.respond({ call, seen, format, path }, body).catch((error: unknown) => {
        if (call.closed) return;
        const providerError = error instanceof ProviderError ? error : internalError(error);
        statistics.responded(providerError.status);
        const id = requestId(seen);
        sendError(
          response,
          providerError,
          format.headers(id, providerError),
          format.renderError(providerError, id),
        );
      });
    });
  }

  private async respond(exchange: Exchange, body: string | undefined): Promise<void> {
    const { call, seen, format, path } = exchange;
    if (body === undefined) throw new ProviderError({ status: 413, message: 'Request body is too large.' });
    if (!this.isAuthorized(call.request, format)) throw invalidKey();
    const faultHeader = call.request.headers['x-emulator-fault'];
    const request = format.readRequest({
      path,
      body: parseJson(body),
      headers: call.request.headers,
      faultHeader: Array.isArray(faultHeader) ? faultHeader.join(',') : faultHeader,
    });
    const plan = this.admin.decideFaults(request);
    seen.faults = plan.names;
    this.admin.statistics.faultsInjected(plan);

    await call.sleep((request.directives.delayMs ?? this.options.delayMs ?? 0) + plan.delayMs);
    if (call.closed) return;
    if (plan.early !== undefined) {
      await this.failEarly(call, plan.early, request);
      return;
    }
    await this.deliver(exchange, request, plan);
  }

  private async deliver(exchange: Exchange, request: ChatRequest, plan: FaultPlan): Promise<void> {
    const { call, seen, format } = exchange;
    const number = ++this.sequence;
    const completion = composeCompletion(request, {
      id: `chatcmpl-emu${this.seed.toString(36)}${number.toString(36).padStart(20, '0')}`,
      createdS: Math.floor(Date.now() / 1000),
      seed: this.seed,
      cache: this.cache.lookUp(request.model.id, request.prompt),
      calls: this.admin.nextCalls(request),
    });
    seen.usage = completion.usage;
    const { statistics } = this.admin;
    statistics.responded(200);
    const delivery = {
      call,
      completion,
      plan,
      rate: request.directives.rate ?? this.options.tokensPerSecond ?? 0,
      headers: format.headers(requestId(seen), undefined, {
        usage: completion.usage,
        usageFault: plan.usage,
      }),
      format,
    };
    if (request.stream) {
      await deliverStream(delivery, request.includeUsage, (count) => statistics.wroteChunks(count));
    } else {
      await deliverJson(delivery);
    }
  }

  private async failEarly(call: Call, fault: EarlyFault, request: ChatRequest): Promise<void> {
    const { response } = call;
    const { statistics } = this.admin;
    switch (fault.kind) {
      case 'status':
        throw statusFault(fault.status, fault.retryAfterSeconds);
      case 'context-length':
        throw contextLengthExceeded(request.model.contextWindow, request.model.contextWindow, 1);
      case 'hang':
        await call.untilClosed();
        return;
      case 'cut':
        call.cut();
        return;
      case 'html':
        statistics.responded(502);
        response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
        return;
      case 'redirect':
        statistics.responded(307);
        response.writeHead(307, { location: 'http://127.0.0.1:9/elsewhere' }).end();
        return;
      case 'empty':
        statistics.responded(200);
        response
          .writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' })
          .end();
        return;
    }
  }
}

/** One completion request and its response. */
interface Exchange {
  readonly call: Call;
  readonly seen: SeenRequest;
  readonly format: WireFormat;
  readonly path: string;
}

/** Derived from the `sequence` of the recorded request. */
function requestId(seen: SeenRequest): string {
  return `req_emu${seen.sequence}`;
}

/** Copies the text, because a slice would retain the whole body. */
function firstCharacters(body: string): string {
  if (body.length <= MAX_SEEN_BODY_CHARACTERS) return body;
  return Buffer.from(body.slice(0, MAX_SEEN_BODY_CHARACTERS)).toString();
}

function invalidKey(): ProviderError {
  return new ProviderError({ status: 401, message: 'Incorrect API key provided.', code: 'invalid_api_key' });
}

function internalError(error: unknown): ProviderError {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new ProviderError({
    status: 500,
    message: `The emulator itself failed: ${message}`,
    type: 'emulator_bug',
  });
}
