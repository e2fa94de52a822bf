import { UpstreamFailure } from '../../core/failure/upstream-failure';

/** Maps a connection error. The text has the system's error code but no address. */
export function toTransportFailure(error: unknown, providerName: string): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const code = codeOf(error);
  const kind = code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT' ? 'connect_timed_out' : 'failed';
  return new UpstreamFailure(kind, { detail: `${providerName}: ${code}`, cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : error.name;
}
