import { endpoints, parts, type JsonOf } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

const MAX_AFFECTED_MODELS = 200;

type Changes = JsonOf<typeof parts.catalogueCheck>['changes'];

export function createCatalogueHandlers({ owners, log }: DashboardApiPorts): readonly Implementation[] {
  /** Null when usage is unavailable: a change is published during an incident, too. */
  async function affectedBy(changes: Changes) {
    const modelIds = changes
      .filter(({ kind, change }) => kind === 'model' && change !== 'added')
      .map(({ name }) => name)
      .slice(0, MAX_AFFECTED_MODELS);
    if (modelIds.length === 0) return [];
    try {
      return (await owners['generation-query'].call(parts.modelUse, { query: { model_ids: modelIds } })).data;
    } catch (error) {
      log.warn({ err: error }, 'the use of changed models is unavailable');
      return null;
    }
  }

  return [
    implement(endpoints.catalogue.export, async ({ response }) => {
      const { text } = await owners['inference-router'].call(endpoints.catalogue.state);
      response.setHeader('content-disposition', 'attachment; filename="models.yaml"');
      response.type('application/yaml').send(text);
      return undefined;
    }),

    implement(endpoints.catalogue.check, async ({ body }) => {
      const { issues, changes } = await owners['inference-router'].call(parts.catalogueCheck, { body });
      return { issues, changes, affected: await affectedBy(changes) };
    }),
  ];
}
