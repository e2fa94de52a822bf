export interface Secret {
  /** Changes with each write; a write that names an older one is refused. */
  readonly version: string;
  readonly data: Readonly<Record<string, string>>;
}

/** Secrets of one namespace. */
export interface SecretStore {
  /** Rejects when the secret does not exist. */
  read(name: string): Promise<Secret>;
  /** @returns false when the secret changed after `version` was read. */
  write(name: string, version: string, data: Readonly<Record<string, string>>): Promise<boolean>;
}

export interface SecretStoreOptions {
  readonly url: string;
  readonly token: string;
  readonly namespace: string;
}

const TIMEOUT_MS = 10_000;
const CONFLICT = 409;

/** Secrets over the Kubernetes API. */
export function createSecretStore({ url, token, namespace }: SecretStoreOptions): SecretStore {
  async function send(name: string, init: RequestInit): Promise<Response> {
    const response = await fetch(
      `${url}/api/v1/namespaces/${namespace}/secrets/${encodeURIComponent(name)}`,
      {
        ...init,
        headers: { ...init.headers, Authorization: `Bearer ${token}`, Accept: 'application/json' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
    );
    if (response.ok || response.status === CONFLICT) return response;
    const { message = '' } = (await response.json().catch(() => ({}))) as { message?: string };
    throw new Error(`${init.method} of the secret ${name} failed with ${response.status}: ${message}`);
  }

  return {
    read: async (name) => {
      const response = await send(name, { method: 'GET' });
      const { metadata, data = {} } = (await response.json()) as {
        metadata: { resourceVersion: string };
        data?: Record<string, string>;
      };
      return {
        version: metadata.resourceVersion,
        data: Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
        ),
      };
    },
    write: async (name, version, data) => {
      const response = await send(name, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: JSON.stringify({ metadata: { resourceVersion: version }, stringData: data }),
      });
      return response.status !== CONFLICT;
    },
  };
}
