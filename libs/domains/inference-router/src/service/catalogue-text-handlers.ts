import type { Clock } from '@gateway/base';
import type { CatalogueAdminDefinition } from '@gateway/contracts/inference-router';
import type { RpcHandlers } from '@gateway/rpc';
import type { EntryEdit, ManagedCatalogue } from '../core/catalogue/managed-catalogue';
import { proposeModels, proposePrices } from '../core/price-data/propose-prices';
import { changeMessage } from './catalogue-messages';
import {
  invalid,
  invalidEdit,
  invalidText,
  issuesOf,
  READ_ONLY,
  refused,
  requireCatalogueText,
  requireManaged,
} from './catalogue-refusals';

const MIN_MARGIN_PERCENT = -100;
const MAX_MARGIN_PERCENT = 1_000;

type TextMethods = 'checkCatalogue' | 'listCatalogueEntries' | 'editCatalogueEntry' | 'proposePrices';

/** What operators do with a text before they save it. Nothing is stored. */
export function createCatalogueTextHandlers(
  managed: ManagedCatalogue | undefined,
  clock: Clock,
): Pick<RpcHandlers<typeof CatalogueAdminDefinition>, TextMethods> {
  return {
    async checkCatalogue({ text }) {
      const { checked, textInEffect } = await checkText(requireManaged(managed), text);
      if (!checked.ok) return { issues: issuesOf(checked.issues), changes: [] };
      const changes = requireManaged(managed).texts.compare(textInEffect, text);
      return { issues: [], changes: changes.map(changeMessage) };
    },

    async listCatalogueEntries({ text }) {
      requireCatalogueText(text);
      const { texts } = requireManaged(managed);
      const { provider, model } = texts.listEntries(text);
      return {
        providersJson: provider.map((entry) => JSON.stringify(entry)),
        modelsJson: model.map((entry) => JSON.stringify(entry)),
        schemaJson: JSON.stringify(texts.schema()),
      };
    },

    async editCatalogueEntry({ text, kind, index, entryJson }) {
      if (!managed) return refused(READ_ONLY);
      requireCatalogueText(text);
      if (kind !== 'provider' && kind !== 'model') throw invalid('kind', 'must be "provider" or "model"');
      const entry = entryJson === undefined ? undefined : objectOf(entryJson);
      const edited = managed.texts.withEntry(text, { kind, index, entry });
      if (!edited.ok) return refused(invalidEdit(edited.message));
      requireCatalogueText(edited.text);
      return { outcome: { $case: 'text', value: edited.text } };
    },

    async proposePrices({ text, marginPercent }) {
      if (!managed) return refused(READ_ONLY);
      if (!(marginPercent >= MIN_MARGIN_PERCENT && marginPercent <= MAX_MARGIN_PERCENT)) {
        throw invalid('margin_percent', `must be from ${MIN_MARGIN_PERCENT} to ${MAX_MARGIN_PERCENT}`);
      }
      const { checked } = await checkText(managed, text);
      if (!checked.ok) return refused(invalidText(checked.issues));
      const prices = await managed.loadPriceData();
      const options = { marginPercent, at: new Date(clock.now()) };
      const { proposals, notes } = proposePrices(checked.catalogue, prices.find, options);
      const newModels = proposeModels(checked.catalogue, prices, options).map((model) => ({
        provider: model.provider,
        model: model.data.model,
        entryJson: JSON.stringify(managed.texts.entryOf(model)),
      }));
      return {
        outcome: {
          $case: 'proposal',
          value: {
            text: managed.texts.withPrices(text, proposals),
            changedModels: proposals.map(({ modelId }) => modelId),
            notes: [...notes],
            newModels,
          },
        },
      };
    },
  };
}

/** Checks a text with the stored secrets. */
export async function checkText({ store, texts }: ManagedCatalogue, text: string) {
  requireCatalogueText(text);
  const { version, secrets } = await store.readPublished();
  return { checked: texts.check(text, secrets), textInEffect: version?.text ?? '' };
}

function objectOf(json: string): NonNullable<EntryEdit['entry']> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as never;
  throw invalid('entry', 'must be a JSON object');
}
