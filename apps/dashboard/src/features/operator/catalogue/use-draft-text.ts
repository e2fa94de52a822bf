import { useState } from 'react';
import type { CatalogueState } from './catalogue-state';

interface DraftBase {
  readonly revision: number;
  readonly version: number;
  readonly text: string;
}

function baseOf({ draft, version, text }: CatalogueState): DraftBase {
  return { revision: draft?.revision ?? 0, version: version?.version ?? 0, text: draft?.text ?? text };
}

/**
 * The edited text, and the draft and version on which it is based. Without unsaved edits it follows what
 * other operators save and publish.
 */
export function useDraftText(state: CatalogueState) {
  const latest = baseOf(state);
  const [base, setBase] = useState(latest);
  const [text, setText] = useState(latest.text);
  const isOutdated = base.revision !== latest.revision || base.version !== latest.version;
  const isEdited = text !== base.text;
  const show = (shown: DraftBase) => {
    setBase(shown);
    setText(shown.text);
  };
  if (isOutdated && !isEdited) show(latest);
  return {
    text,
    setText,
    isEdited,
    revision: base.revision,
    version: base.version,
    /** Whether another operator saved or published something while this text was edited. */
    hasConflict: isOutdated && isEdited,
    discardEdits: () => show(latest),
    /** Bases the edits on the latest state, whose text they will replace. */
    keepEdits: () => setBase({ ...latest, text: base.text }),
    /** After this text was saved. */
    saved: (revision: number) => setBase({ ...base, revision, text }),
  };
}
