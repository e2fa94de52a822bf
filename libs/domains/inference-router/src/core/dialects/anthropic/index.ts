import type { Dialect, TargetOptions } from '../dialect';
import { kindOfError, readError } from './classify-error';
import { createDecoder } from './decode-event';
import { parsedRequest } from '../parsed-request';
import { encodeRequest } from './encode-request';
import { readResponse } from './read-response';
import { rules } from './rules';

/** 2026-10-21 refuses `temperature` and `top_p`, also for models that support them. */
const API_VERSION = '2023-06-01';

/** Anthropic's Messages API, at Anthropic, Vertex AI and Amazon Bedrock. */
export const anthropic: Dialect = {
  path,
  headers,
  framing: 'sse',
  ...parsedRequest(encodeRequest, () => rules),
  createDecoder,
  readResponse,
  readError,
  kindOfError,
};

function path({ providerModel, stream, options: { host } }: Parameters<Dialect['path']>[0]): string {
  if (host !== 'vertex') return '/v1/messages';
  const model = encodeURIComponent(providerModel).replaceAll('%40', '@');
  return `/publishers/anthropic/models/${model}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
}

/** Hosts other than Anthropic have the version in the body. */
function headers({ host }: TargetOptions): Readonly<Record<string, string>> {
  return host === undefined ? { 'anthropic-version': API_VERSION } : {};
}
