import { rm } from 'node:fs/promises';
import { Load } from './load';
import { openNode, startNode } from './node';
import type { Options } from './options';
import { imagesArchive } from './prepare';
import { Release } from './release';
import { Recorder, type StepResult } from './report';
import { INSTALL, STEPS, type StepContext } from './steps';

/** Starts a node, installs the chart and takes the steps. Runs in the enclosure. */
export async function tryChart(options: Options, root: string): Promise<StepResult[]> {
  const { cache, state, only, kept, rate } = options;
  const recorder = new Recorder();
  const node = kept
    ? openNode(cache, state)
    : await recorder.timed('a node that is ready', () => startNode(cache, state));
  if (!kept) {
    await recorder.timed('images on the node', async () => {
      await node.loadImages(imagesArchive(state));
      await rm(imagesArchive(state));
    });
  }
  const release = new Release(node, { cache, root });
  let load: Promise<Load> | undefined;
  const context: StepContext = {
    root,
    cache,
    node,
    release,
    load: () => (load ??= Load.open(release, rate)),
  };
  const isInstalled = kept || (await recorder.tried(INSTALL.name, () => INSTALL.run(context)));
  const chosen = STEPS.filter(({ group }) => only.length === 0 || only.includes(group));
  for (const { name, run } of isInstalled ? chosen : []) await recorder.tried(name, () => run(context));
  return recorder.results;
}
