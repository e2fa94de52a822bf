import { Button } from '../../../ui/button';
import { Badge } from '../../../ui/notice';
import { visible } from '../../../ui/values';
import type { Entry } from './entries';
import type { Draft } from './use-draft';

const TONES = { New: 'good', Changed: 'warn', Removed: 'bad' } as const;

/** How the draft changes an entry. */
export function DraftChange({ of: { change } }: { readonly of: Entry }) {
  return change && <Badge tone={TONES[change]}>{`${change} in the draft`}</Badge>;
}

/** Opens the form that changes or removes an entry of the draft. */
export function EditEntry({ of: entry, draft }: { readonly of: Entry; readonly draft: Draft }) {
  if (entry.index === null) return null;
  const { kind, index, fields } = entry;
  return (
    <Button
      small
      disabled={!draft.isRead}
      onClick={() => draft.setDialog({ dialog: 'form', kind, index, fields })}
    >
      Edit<span className="sr-only"> {visible(entry.name)}</span>
    </Button>
  );
}
