import { openAccess, type Access } from './access';
import type { Cluster } from './cluster';
import { Load } from './load';
import { loadImages, needsLoading } from './load-images';
import type { Options } from './options';
import { Release } from './release';
import { Recorder, type StepResult } from './report';
import { install, STEPS, type StepContext } from './steps';

/** Installs the chart, runs the steps and cleans up. */
export async function runSteps(options: Options, cluster: Cluster, root: string): Promise<StepResult[]> {
  const recorder = new Recorder();
  const release = new Release(cluster, root);
  let access: Promise<Access> | undefined;
  let load: Promise<Load> | undefined;
  const context: StepContext = {
    root,
    options,
    cluster,
    release,
    access: () => (access ??= openAccess(cluster)),
    load: () => (load ??= context.access().then((opened) => Load.open(release, opened, options.rate))),
    async closeAccess() {
      await (await access)?.close();
    },
  };
  try {
    const isReady =
      options.kept ||
      ((!needsLoading(options) || (await recorder.try('kind load', () => loadImages(options, root)))) &&
        (await recorder.try('helm install', () => install(context))));
    const selected = STEPS.filter(({ group }) => options.only.length === 0 || options.only.includes(group));
    for (const step of isReady ? selected : []) {
      // The release is kept for the next run.
      if (step.group === 'uninstall' && options.keep) continue;
      const skipReason = await step.skipReason?.(context);
      if (skipReason === undefined) await recorder.try(step.name, () => step.run(context));
      else recorder.skip(step.name, skipReason);
    }
  } finally {
    await context.closeAccess().catch(() => undefined);
    cluster.stopForwards();
    if (!options.keep) await recorder.try('delete the namespace', () => deleteNamespace(release));
  }
  return recorder.results;
}

async function deleteNamespace(release: Release): Promise<string> {
  await release.deleteNamespace();
  return '';
}
