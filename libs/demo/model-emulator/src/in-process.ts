import { composeCompletion } from './completion';
import { FORMATS } from './dialects';
import { ProviderError } from './errors';
import { createFrame } from './framing';
import { parseJson } from './http';
import { PrefixCache } from './prefix-cache';
import { loadTokenizer } from './tokens';
import type { RenderedStream, WireFormat } from './wire-format';

/** A POST to the emulator. */
export interface EmulatorRequest {
  readonly path: string;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface EmulatorResponse {
  readonly status: number;
  readonly body: Buffer;
}

const SEED = 1;
const PLAIN = { crlf: false, comments: false, multiLine: false };

/** The emulator without a server, delays and faults: for tests that send many requests. */
export async function createInProcessEmulator(): Promise<(request: EmulatorRequest) => EmulatorResponse> {
  await loadTokenizer();
  const cache = new PrefixCache();
  let sequence = 0;

  function respond(format: WireFormat, { path, headers, body }: EmulatorRequest): Buffer {
    const request = format.readRequest({ path, body: parseJson(body), headers, faultHeader: undefined });
    const completion = composeCompletion(request, {
      id: `chatcmpl-emu${String((sequence += 1)).padStart(20, '0')}`,
      createdS: Math.floor(Date.now() / 1000),
      seed: SEED,
      cache: cache.lookUp(request.model.id, request.prompt),
    });
    if (!request.stream) return Buffer.from(format.renderCompletion(completion, undefined));
    return bytesOf(format.renderStream(completion, request.includeUsage, undefined));
  }

  return (request) => {
    const format = FORMATS.find(({ handles }) => handles(request.path));
    if (!format) throw new Error(`the emulator serves no ${request.path}`);
    try {
      return { status: 200, body: respond(format, request) };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return { status: error.status, body: Buffer.from(format.renderError(error, undefined)) };
    }
  };
}

function bytesOf({ events, end, binary, crlf, nameOf }: RenderedStream): Buffer {
  const all = end === undefined ? [...events] : [...events, end];
  if (binary) return Buffer.concat(all.map((data) => binary.frame(data)));
  return Buffer.from(all.map(createFrame({ ...PLAIN, crlf: crlf === true }, nameOf)).join(''));
}
