import { ApiError } from '@gateway/dashboard-contract/client';
import { Button } from './button';
import { Conflict } from './conflict';
import { FailureLine } from './states';

interface Versioned {
  readonly version: number;
}

/** The resource as another person saved it after this form had read it, from the error of a save. */
export function conflictingVersion<Resource extends Versioned>(error: unknown): Resource | undefined {
  if (!(error instanceof ApiError) || error.code !== 'version_conflict') return undefined;
  return error.details.metadata['current'] as Resource;
}

interface VersionedFormEndProps<Resource extends Versioned> {
  /** The edited resource, such as "this key". */
  readonly what: string;
  readonly save: { readonly error: Error | null; readonly isPending: boolean; reset(): void };
  /** Called with the version that the next save replaces. */
  readonly onVersion: (version: number) => void;
  readonly onDiscard: (current: Resource) => void;
  readonly onCancel: () => void;
  /** The form shows the failure next to a field. */
  readonly hasFieldErrors?: boolean;
}

/** The end of a form that saves with optimistic locking: a conflict lets the person choose. */
export function VersionedFormEnd<Resource extends Versioned>({
  what,
  save,
  onVersion,
  onDiscard,
  onCancel,
  hasFieldErrors = false,
}: VersionedFormEndProps<Resource>) {
  const current = conflictingVersion<Resource>(save.error);
  const acceptVersion = ({ version }: Resource) => {
    onVersion(version);
    save.reset();
  };
  return (
    <>
      {current && (
        <Conflict
          what={what}
          onDiscard={() => {
            onDiscard(current);
            acceptVersion(current);
          }}
          onKeep={() => acceptVersion(current)}
        >
          Your changes were not saved. Discard them to see the current version, or keep them and save again.
        </Conflict>
      )}
      {save.error && !current && !hasFieldErrors && <FailureLine error={save.error} />}
      <div className="flex gap-2">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={current !== undefined}>
          Save
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </>
  );
}
