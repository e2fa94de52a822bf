import { endpoints, parts } from '@gateway/dashboard-contract';
import type { z } from 'zod';
import { forwardedQuery } from '../http/forwarded-query';
import { implement, type Implementation } from '../http/implement';
import { activityOf } from '../key-activity';
import { requireKnownModels } from '../known-models';
import type { DashboardApiPorts } from '../ports';

/** What auth does not know of keys: their activity, and which models exist. */
export function createKeyHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, inferenceRouter } = ports;
  const { keys } = endpoints;

  return [
    implement(keys.list, ({ params, query }) =>
      listKeys(ports, params.organization_id, forwardedQuery(query)),
    ),

    implement(keys.create, async ({ params, body, sent }) => {
      await requireKnownModels(inferenceRouter, body.allowed_models);
      return owners.auth.call(keys.create, { params, body: sent });
    }),

    implement(keys.get, async ({ params }) => {
      const { key, bounds } = await owners.auth.call(parts.key, { params });
      const activity = await activityOf(ports, params.organization_id, [key.id]);
      return { key: { ...key, activity: activity.get(key.id) ?? null }, bounds };
    }),

    implement(keys.update, async ({ params, body, sent }) => {
      if (body.allowed_models) {
        const { key } = await owners.auth.call(parts.key, { params });
        await requireKnownModels(inferenceRouter, body.allowed_models, key.allowed_models ?? []);
      }
      return owners.auth.call(keys.update, { params, body: sent });
    }),
  ];
}

/** A page of keys with their activity. */
export async function listKeys(
  ports: Pick<DashboardApiPorts, 'owners' | 'inferenceRouter' | 'log'>,
  organizationId: string,
  query: z.input<typeof parts.keys.query>,
) {
  const params = { organization_id: organizationId };
  const page = await ports.owners.auth.call(parts.keys, { params, query });
  const ids = page.data.map(({ id }) => id);
  const activity = await activityOf(ports, organizationId, ids);
  return { ...page, data: page.data.map((key) => ({ ...key, activity: activity.get(key.id) ?? null })) };
}
