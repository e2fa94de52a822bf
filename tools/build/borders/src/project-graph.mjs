// Nx's rule reads which project imports which from a graph on disk, and passes everything over in silence when there
// is none. So the graph is made anew whenever ESLint starts, and ESLint does not start on one that shows nothing.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createProjectGraphAsync } from '@nx/devkit';
import { platformLayers } from './layers.mjs';

const PROJECT_FOLDERS = ['apps', 'libs/domains', 'libs/platform', 'libs/demo', 'libs/testing'];

/**
 * Brings the project graph up to date.
 *
 * @param {string} root of the workspace
 * @throws when it has no edges, a folder is in no project, or a platform library is in no layer.
 */
export async function requireProjectGraph(root) {
  const { nodes, dependencies } = await createProjectGraphAsync({ exitOnError: false });
  const faults = graphFaults(foldersOf(root), Object.values(nodes), dependencies);
  if (faults.length > 0) throw new Error(`The import rules cannot be checked:\n- ${faults.join('\n- ')}`);
}

/** What would let imports pass unseen; one sentence each. */
function graphFaults(folders, projects, dependencies) {
  const names = new Set(projects.map(({ name }) => name));
  const edges = Object.values(dependencies)
    .flat()
    .filter(({ target, type }) => names.has(target) && type !== 'implicit');
  const roots = new Set(projects.map(({ data }) => data.root));
  const imported = new Set(edges.map(({ target }) => target));
  return [
    ...(edges.length === 0 ? ['the project graph shows no import; nx.json has to analyse source files'] : []),
    ...folders.filter((folder) => !roots.has(folder)).map((folder) => `${folder} has no project.json`),
    ...(edges.length === 0 ? [] : projects.filter((project) => isUnused(project, imported))).map(
      ({ name }) => `nothing imports ${name}; tsconfig.base.json has to name its entry`,
    ),
    ...projects.filter(isPlatform).flatMap(({ name, data }) => {
      const layers = data.tags.filter((tag) => tag.startsWith('layer:'));
      const known = layers.length === 1 && platformLayers.includes(layers[0].slice('layer:'.length));
      return known
        ? []
        : [`${name} needs the tag of one layer that tools/build/borders/src/layers.mjs names`];
    }),
  ];
}

function isUnused({ name, data }, imported) {
  return data.root.startsWith('libs/') && !imported.has(name);
}

function isPlatform({ data }) {
  return data.tags?.includes('type:platform');
}

function foldersOf(root) {
  return PROJECT_FOLDERS.filter((folder) => existsSync(path.join(root, folder))).flatMap((folder) =>
    readdirSync(path.join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${folder}/${name}`),
  );
}
