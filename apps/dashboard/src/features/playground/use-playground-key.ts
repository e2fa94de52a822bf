import { useCallback, useRef } from 'react';
import { api } from '../../api/client';

interface PlaygroundKey {
  readonly secret: string;
  readonly baseUrl: string;
  readonly expiresAtMs: number;
}

/** A key that expires sooner is replaced. */
const MARGIN_MS = 30_000;

/** Returns a playground key, created on first use and held only in memory. */
export function usePlaygroundKey(organizationId: string): () => Promise<PlaygroundKey> {
  const cached = useRef<{ readonly organizationId: string; readonly key: PlaygroundKey }>(undefined);
  return useCallback(async () => {
    const { current } = cached;
    if (current?.organizationId === organizationId && current.key.expiresAtMs - MARGIN_MS > Date.now()) {
      return current.key;
    }
    const created = await api.call('POST /api/organizations/{organization_id}/playground/key', {
      params: { organization_id: organizationId },
      body: {},
    });
    const key = {
      secret: created.secret,
      baseUrl: created.base_url,
      expiresAtMs: Date.parse(created.expires_at),
    };
    cached.current = { organizationId, key };
    return key;
  }, [organizationId]);
}
