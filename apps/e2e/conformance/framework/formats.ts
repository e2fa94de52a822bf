import { otherFormats, publicFormats, type OtherFormat } from './format';
import type { ConformanceCase } from './case';
import { modelFinder, type Deployment } from './deployment';

/** For cases that hold whatever the public format of the request is. */
export const everyFormat: readonly OtherFormat[] = otherFormats;

/** For cases of completions. */
export const completionFormats: readonly OtherFormat[] = ['messages', 'responses'];

/** Repeats cases in each of their other formats. */
export function onOtherFormats(cases: readonly ConformanceCase[]): readonly ConformanceCase[] {
  return cases.flatMap(({ code: _, dialects: __, formats = [], ...one }) =>
    formats.map((format) => ({
      ...one,
      title: `${one.title} (${format})`,
      needs: [...(one.needs ?? []), format],
      verify: (deployment: Deployment) => one.verify(withFormat(deployment, format)),
    })),
  );
}

/** The same deployment, whose requests and responses have this format. */
function withFormat(deployment: Deployment, name: OtherFormat): Deployment {
  const format = publicFormats[name];
  if (name !== 'embeddings') return { ...deployment, format };
  const { embeddingModels: models } = deployment;
  const find = modelFinder(models);
  return {
    ...{ ...deployment, format, models },
    // Embedding models have no capabilities. Failing requests use another one than the other cases, too.
    model: (having) => (having?.length ? (models.at(-1) ?? find()) : find()),
  };
}
