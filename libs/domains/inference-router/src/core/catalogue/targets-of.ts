import { targetKey, type Model, type Target } from './model-catalogue';

/** Each distinct target with the ids of its models. */
export function targetsOf(
  models: Iterable<Model>,
): Iterable<{ readonly target: Target; readonly modelIds: string[] }> {
  const found = new Map<string, { readonly target: Target; readonly modelIds: string[] }>();
  for (const model of models) {
    for (const target of model.targets) {
      const known = found.get(targetKey(target));
      if (known) known.modelIds.push(model.id);
      else found.set(targetKey(target), { target, modelIds: [model.id] });
    }
  }
  return found.values();
}
