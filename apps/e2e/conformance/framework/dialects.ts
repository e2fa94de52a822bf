import { otherDialects, modelPrefixOf, type OtherDialect } from '../../src/testing/dialects';
import type { ConformanceCase } from './case';
import { modelFinder, type Deployment } from './deployment';

/** For cases that hold whatever protocol the provider speaks. */
export const everyDialect: readonly OtherDialect[] = otherDialects;

/** Repeats cases with models of each of their other dialects. */
export function onOtherDialects(cases: readonly ConformanceCase[]): readonly ConformanceCase[] {
  return cases.flatMap(({ code: _, dialects = [], ...one }) =>
    dialects.map((dialect) => ({
      ...one,
      title: `${one.title} (${dialect})`,
      needs: [...(one.needs ?? []), 'dialects' as const],
      verify: (deployment: Deployment) => one.verify(withDialect(deployment, dialect)),
    })),
  );
}

/** The same deployment, with the models of this dialect only. */
function withDialect(deployment: Deployment, dialect: OtherDialect): Deployment {
  const models = deployment.models.filter(({ id }) => id.startsWith(modelPrefixOf(dialect)));
  return { ...deployment, models, model: modelFinder(models) };
}
