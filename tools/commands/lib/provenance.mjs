/** Where the parameters below are documented. */
const BUILD_TYPE = 'urn:inference-gateway:npm-run-images:v1';

/**
 * The provenance of an image: an in-toto statement with a SLSA 1.0 predicate.
 *
 * @param build `image` and its `digest`; `program`, `buildArguments`; `revision` of the sources and whether they were
 * `modified`; `lockFileSha256`; `baseImages` with `name` and `digest`; `builder`, `startedOn` and `finishedOn`.
 * Digests have the form `sha256:…`.
 */
export function provenanceOf(build) {
  const { image, digest, program, buildArguments, revision, modified, lockFileSha256, baseImages } = build;
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: image, digest: digestSet(digest) }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { program, buildArguments },
        resolvedDependencies: [
          { name: 'sources', digest: { gitCommit: revision }, annotations: { modified } },
          { name: 'pnpm-lock.yaml', digest: { sha256: lockFileSha256 } },
          ...baseImages.map((base) => ({ name: base.name, digest: digestSet(base.digest) })),
        ],
      },
      runDetails: {
        builder: { id: build.builder },
        metadata: { startedOn: build.startedOn, finishedOn: build.finishedOn },
      },
    },
  };
}

/** `sha256:abc` as `{ sha256: 'abc' }`. */
function digestSet(digest) {
  const [algorithm, value] = digest.split(':');
  return { [algorithm]: value };
}
