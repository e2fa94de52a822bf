import { implement, type Implementation } from '@gateway/admin-calls';
import type { Clock } from '@gateway/base';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import type { EntryEdit, ManagedCatalogue } from '../core/catalogue/managed-catalogue';
import { proposeModels, proposePrices } from '../core/price-data/propose-prices';
import { invalidText, requireManaged, requireManagedText, requireStorable } from './catalogue-refusals';
import { changeView, issueViews } from './catalogue-views';

/** What operators do with a text before they save it. Nothing is stored. */
export function createCatalogueTextEndpoints(
  managed: ManagedCatalogue | undefined,
  clock: Clock,
): readonly Implementation[] {
  const { entries, editEntry, proposePrices: propose } = endpoints.catalogue;
  return [
    implement(parts.catalogueCheck, async ({ body: { text } }) => {
      const catalogue = requireManagedText(managed);
      const { checked, textInEffect } = await checkText(catalogue, text);
      if (!checked.ok) return { issues: issueViews(checked.issues), changes: [] };
      return { issues: [], changes: catalogue.texts.compare(textInEffect, text).map(changeView) };
    }),

    implement(entries, async ({ body: { text } }) => {
      const { texts } = requireManagedText(managed);
      const { provider, model } = texts.listEntries(text);
      return { providers: provider, models: model, schema: texts.schema() };
    }),

    implement(editEntry, async ({ body: { text, kind, index, entry } }) => {
      const { texts } = requireManaged(managed);
      const edit = { kind, index: index ?? undefined, entry: (entry ?? undefined) as EntryEdit['entry'] };
      const edited = texts.withEntry(text, edit);
      if (!edited.ok) throw new DashboardError('invalid', { message: edited.message });
      return { text: edited.text };
    }),

    implement(propose, async ({ body: { text, margin_percent: marginPercent } }) => {
      const catalogue = requireManaged(managed);
      const { checked } = await checkText(catalogue, text);
      if (!checked.ok) throw invalidText(checked.issues);
      const prices = await catalogue.loadPriceData();
      const options = { marginPercent, at: new Date(clock.now()) };
      const { proposals, notes } = proposePrices(checked.catalogue, prices.find, options);
      return {
        text: catalogue.texts.withPrices(text, proposals),
        changed_models: proposals.map(({ modelId }) => modelId),
        notes,
        new_models: proposeModels(checked.catalogue, prices, options).map((model) => ({
          provider: model.provider,
          model: model.data.model,
          entry: catalogue.texts.entryOf(model),
        })),
      };
    }),
  ];
}

/** Checks a text with the stored secrets. */
export async function checkText({ store, texts }: ManagedCatalogue, text: string) {
  requireStorable('text', text);
  const { version, secrets } = await store.readPublished();
  return { checked: texts.check(text, secrets), textInEffect: version?.text ?? '' };
}
