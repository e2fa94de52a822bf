import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';

type Call = Pick<
  ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>,
  'getAuthContext'
>;

/** The service whose certificate the client showed; undefined when the certificate names none in the domain. */
export function callerOf(call: Call, domain: string): string | undefined {
  return serviceIn(call.getAuthContext()?.sslPeerCertificate?.subjectaltname, domain);
}

/**
 * The service that a certificate belongs to: the label before the domain in its
 * only DNS name of that domain. A certificate with two of them is refused, since
 * it would let one process call as two services.
 *
 * @param subjectAltName as Node reports it, such as "DNS:auth.inference-gateway.internal".
 */
export function serviceIn(subjectAltName: string | undefined, domain: string): string | undefined {
  const suffix = `.${domain}`;
  const names = (subjectAltName ?? '')
    .split(', ')
    .filter((name) => name.startsWith('DNS:') && name.endsWith(suffix))
    .map((name) => name.slice('DNS:'.length, -suffix.length));
  const [service, ...others] = names;
  return others.length === 0 && service !== undefined && /^[a-z][a-z-]*$/.test(service) ? service : undefined;
}
