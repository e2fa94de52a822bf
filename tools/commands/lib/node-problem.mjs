const MINIMUM_NODE = [20, 19];

/** What is wrong with the version of this Node.js; undefined if it can run the gateway. */
export function nodeProblem() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = MINIMUM_NODE;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return `Node.js ${MINIMUM_NODE.join('.')} or newer is required; this is ${process.version}.`;
}
