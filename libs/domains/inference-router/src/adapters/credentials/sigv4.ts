import { createHash, createHmac, webcrypto, type Hash, type Hmac } from 'node:crypto';
import type { SignatureV4 } from '@smithy/signature-v4';
import type { AuthorizedCall, Credential } from '../../core/credential';
import { RefreshedSecret, type RefreshPorts, type ResolvedSecret } from './refreshed-secret';

/** AWS credentials, as the SDK resolves them. */
export interface AwsIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

export interface SigV4Options extends RefreshPorts {
  readonly region: string;
  /** The signing name of the service. */
  readonly service: string;
  /** Default: AWS's own chain of environment, files, pod roles (IRSA, Pod Identity) and machine roles. */
  readonly resolveIdentity?: () => Promise<AwsIdentity>;
}

/** Signed like the host and the headers of the signature. Proxies may change others on the way. */
const SIGNED_HEADERS = ['content-type'] as const;
const ADDED_HEADERS = ['authorization', 'x-amz-date', 'x-amz-security-token'] as const;

/** Signs calls with AWS Signature Version 4. The SDK's libraries are loaded by the first call. */
export class SigV4Credential implements Credential {
  private readonly identity: RefreshedSecret<AwsIdentity>;
  private signer: Promise<SignatureV4> | undefined;

  constructor(private readonly options: SigV4Options) {
    const { resolveIdentity = resolveByDefaultChain, ...ports } = options;
    this.identity = new RefreshedSecret({
      ...ports,
      name: 'AWS credentials',
      resolve: async () => toSecret(await resolveIdentity()),
    });
  }

  async authorize({ url, headers, body }: AuthorizedCall): Promise<Readonly<Record<string, string>>> {
    this.signer ??= this.createSigner();
    const signer = await this.signer;
    const signed: Record<string, string> = { host: url.host };
    for (const name of SIGNED_HEADERS) {
      const value = headers[name];
      if (value !== undefined) signed[name] = value;
    }
    const request = await signer.sign(
      {
        method: 'POST',
        protocol: url.protocol,
        hostname: url.hostname,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: signed,
        body,
      },
      { signingDate: new Date(this.options.nowMs()) },
    );
    const added: Record<string, string> = {};
    for (const name of ADDED_HEADERS) {
      const value = request.headers[name];
      if (value !== undefined) added[name] = value;
    }
    return added;
  }

  close(): Promise<void> {
    this.identity.close();
    return Promise.resolve();
  }

  private async createSigner(): Promise<SignatureV4> {
    const { SignatureV4 } = await import('@smithy/signature-v4');
    const { region, service } = this.options;
    return new SignatureV4({
      region,
      service,
      credentials: async () => this.identity.get(),
      sha256: Sha256,
      // The signature covers the checksum of the body without a header of its own.
      applyChecksum: false,
    });
  }
}

function toSecret(identity: AwsIdentity): ResolvedSecret<AwsIdentity> {
  return { value: identity, expiresAtMs: identity.expiration?.getTime() };
}

/** A new chain each time, since a chain keeps what it has read. */
async function resolveByDefaultChain(): Promise<AwsIdentity> {
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  return fromNodeProviderChain({ ignoreCache: true })();
}

const LARGE_BODY_BYTES = 1024 * 1024;

/** SHA-256, with a secret HMAC-SHA-256, in the form that the signer expects. Only the body is large; it is one part. */
class Sha256 {
  private readonly hash: Hash | Hmac;
  /** The data, while it has one part that is large. */
  private large: Uint8Array | undefined;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', keyOf(secret));
  }

  update(data: Uint8Array): void {
    if (data.byteLength > LARGE_BODY_BYTES) this.large = data;
    else this.hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    if (!this.large) return this.hash.digest();
    // In a thread: 30 MB take 20 to 100 milliseconds.
    return new Uint8Array(await webcrypto.subtle.digest('SHA-256', this.large as Uint8Array<ArrayBuffer>));
  }

  reset(): void {
    throw new Error('a digest is used once');
  }
}

function keyOf(secret: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof secret === 'string') return secret;
  return ArrayBuffer.isView(secret)
    ? new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength)
    : new Uint8Array(secret);
}
