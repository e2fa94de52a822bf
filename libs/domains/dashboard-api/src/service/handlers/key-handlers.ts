import { endpoints, parts } from '@gateway/dashboard-contract';
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
    implement(keys.list, async ({ params, query }) => {
      const page = await owners.auth.call(parts.keys, { params, query: forwardedQuery(query) });
      const ids = page.data.map(({ id }) => id);
      const activity = await activityOf(ports, params.organization_id, ids);
      return { ...page, data: page.data.map((key) => ({ ...key, activity: activity.get(key.id) ?? null })) };
    }),

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
