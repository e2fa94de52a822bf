import { usdNumber, type NanoUsd, type Usage } from '@gateway/base';
import { UpstreamFailure } from '../failure/upstream-failure';
import type { CompletionHead } from './completion';

const FLOAT_BYTES = 4;

/**
 * An embedding of a provider as base64 of little-endian 32-bit floats.
 *
 * @param embedding a list of numbers, or such base64.
 * @param length what the catalogue promises: vectors of another length are useless to the client.
 * @throws UpstreamFailure
 */
export function embeddingBase64(embedding: unknown, length: number): string {
  const bytes = bytesOf(embedding);
  if (bytes.length !== length * FLOAT_BYTES)
    throw new UpstreamFailure('misconfigured', {
      detail: `an embedding has ${bytes.length / FLOAT_BYTES} numbers instead of ${length}`,
    });
  return bytes.toString('base64');
}

function bytesOf(embedding: unknown): Buffer {
  if (typeof embedding === 'string') return Buffer.from(embedding, 'base64');
  if (!Array.isArray(embedding) || !embedding.every((each) => Number.isFinite(each)))
    throw new UpstreamFailure('failed', { detail: 'an embedding is not a list of numbers' });
  const bytes = Buffer.allocUnsafe(embedding.length * FLOAT_BYTES);
  (embedding as number[]).forEach((each, index) => bytes.writeFloatLE(each, index * FLOAT_BYTES));
  return bytes;
}

/** The list of embeddings as JSON text, each as base64. */
export function renderEmbeddings(
  { modelId }: CompletionHead,
  embeddings: readonly string[],
  { promptTokens }: Usage,
  cost: NanoUsd,
): string {
  return JSON.stringify({
    object: 'list',
    data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: modelId,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, cost: usdNumber(cost) },
  });
}
