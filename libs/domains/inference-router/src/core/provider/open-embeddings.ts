import { asObject, parseJson } from '../completion/json';
import { embeddingBase64 } from '../completion/embeddings';
import type { EmbeddingsProtocol, ReadEmbeddings } from '../dialects/dialect';
import { dialects } from '../dialects/registry';
import { UpstreamFailure } from '../failure/upstream-failure';
import type { ProviderTransport } from '../ports';
import { type Attempt, MAX_RESPONSE_BYTES } from './attempt';
import { classifyError } from './classify-response';
import type { EncodedEmbeddings } from './encode-embeddings';
import { notAnObject, readFailure, utf8, type ErrorTexts } from './read-failure';
import type { OpenedResponse, TargetCall } from './target-call';

interface Ports extends ErrorTexts {
  readonly transport: ProviderTransport;
}

/** What one or more calls returned. */
interface Read {
  readonly embeddings: string[];
  /** Undefined once a call reported none. */
  promptTokens: number | undefined;
}

/**
 * Requests embeddings, with one call after the other where the provider limits the inputs of a call. They are one attempt:
 * it succeeds with all of them, in the order of the inputs.
 */
export async function openEmbeddings(
  attempt: Attempt,
  ports: Ports,
  call: TargetCall,
  encoded: EncodedEmbeddings,
): Promise<OpenedResponse> {
  const protocol = dialects[call.target.provider.dialect].embeddings;
  if (!protocol) throw new Error('the catalogue has an embedding model of a dialect without embeddings');
  const read: Read = { embeddings: [], promptTokens: 0 };
  for (const { body, inputs } of encoded.calls) {
    const { embeddings, promptTokens } = await readPart(attempt, ports, call, protocol, body);
    if (embeddings.length !== inputs)
      throw new UpstreamFailure('failed', {
        detail: `the response has ${embeddings.length} embeddings for ${inputs} inputs`,
      });
    for (const embedding of embeddings) read.embeddings.push(embeddingBase64(embedding, encoded.dimensions));
    if (read.promptTokens !== undefined)
      read.promptTokens = promptTokens === undefined ? undefined : read.promptTokens + promptTokens;
  }
  attempt.finish();
  const { embeddings, promptTokens } = read;
  return {
    kind: 'response',
    choices: [],
    embeddings,
    reportedUsage:
      promptTokens === undefined ? undefined : { ...NO_PARTS, promptTokens, completionTokens: 0 },
    systemFingerprint: undefined,
  };
}

const NO_PARTS = {
  cachedTokens: undefined,
  cacheWriteTokens: undefined,
  cacheWrite1hTokens: undefined,
  imageTokens: undefined,
  reasoningTokens: undefined,
};

async function readPart(
  attempt: Attempt,
  ports: Ports,
  call: TargetCall,
  protocol: EmbeddingsProtocol,
  body: Uint8Array,
): Promise<ReadEmbeddings> {
  const { target, model, request } = call;
  const { timeouts } = target.provider;
  attempt.expect(timeouts.firstByteMs, 'response');
  const response = await attempt.send(() =>
    ports.transport.send({
      target,
      body,
      stream: false,
      operation: 'embeddings',
      path: protocol.path(target),
      signal: attempt.signal,
      onSent: call.onSent,
    }),
  );
  if (response.status < 200 || response.status >= 300)
    throw await readFailure(attempt, response, ports, call);
  attempt.expect(timeouts.idleMs, 'rest of the response');
  const json = asObject(parseJson(utf8(await attempt.readAll(MAX_RESPONSE_BYTES))));
  if (!json) throw notAnObject();
  const read = protocol.read(json, (name) => response.header(name));
  if (read.error) throw classifyError(read.error, undefined, target, model, request, ports.logsErrorTexts);
  return read;
}
