// The Nx rule reads the project graph from disk, and silently allows everything when there is none. So the graph is rebuilt
// whenever ESLint starts, and ESLint fails when the graph is empty.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createProjectGraphAsync } from '@nx/devkit';
import { platformLayers } from './layers.mjs';

const PROJECT_FOLDERS = ['apps', 'libs/domains', 'libs/platform', 'libs/demo', 'libs/testing'];

/**
 * Rebuilds the project graph.
 *
 * @param {string} root of the workspace
 * @throws when it has no edges, a folder is in no project, or a platform library is in no layer.
 */
export async function requireProjectGraph(root) {
  const { nodes, dependencies } = await createProjectGraphAsync({ exitOnError: false });
  const problems = graphProblems(foldersOf(root), Object.values(nodes), dependencies);
  if (problems.length > 0) throw new Error(`The import rules cannot be checked:\n- ${problems.join('\n- ')}`);
}

/** Conditions under which imports would not be checked. */
function graphProblems(folders, projects, dependencies) {
  const names = new Set(projects.map(({ name }) => name));
  const edges = Object.values(dependencies)
    .flat()
    .filter(({ target, type }) => names.has(target) && type !== 'implicit');
  const roots = new Set(projects.map(({ data }) => data.root));
  const imported = new Set(edges.map(({ target }) => target));
  return [
    ...(edges.length === 0 ? ['the project graph has no imports; nx.json must analyse source files'] : []),
    ...folders.filter((folder) => !roots.has(folder)).map((folder) => `${folder} has no project.json`),
    ...(edges.length === 0 ? [] : projects.filter((project) => isUnused(project, imported))).map(
      ({ name }) => `nothing imports ${name}; add its entry to tsconfig.base.json`,
    ),
    ...projects.filter(isPlatform).flatMap(({ name, data }) => {
      const layers = data.tags.filter((tag) => tag.startsWith('layer:'));
      const known = layers.length === 1 && platformLayers.includes(layers[0].slice('layer:'.length));
      return known ? [] : [`${name} needs the tag of one layer of tools/build/borders/src/layers.mjs`];
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
