import { useId, useRef, useState, type ReactNode } from 'react';
import { Button, IconButton } from '../../ui/button';
import { readImage, type ImageAttachment } from './image';

interface ComposerProps {
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
  readonly image: ImageAttachment | undefined;
  readonly onImage: (image: ImageAttachment | undefined) => void;
  readonly supportsImages: boolean;
  readonly running: boolean;
  /** Whether the settings can be sent. */
  readonly isValid: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly note: ReactNode;
}

/** Enter sends; Shift+Enter inserts a line break. */
export function Composer(props: ComposerProps) {
  const { draft, onDraft, image, onImage, supportsImages, running, isValid, onSend, onStop, note } = props;
  const file = useRef<HTMLInputElement>(null);
  const noteId = useId();
  const [error, setError] = useState<string>();
  const choose = (chosen: File | undefined) => {
    if (!chosen) return;
    setError(undefined);
    readImage(chosen).then(onImage, () => setError('This image format is not supported.'));
  };
  return (
    <div className="grid gap-2 rounded-lg border border-line-strong bg-paper p-2 focus-within:border-accent">
      {image && (
        <div className="flex items-center gap-2 text-sm">
          <img
            src={image.uri}
            alt={`Attachment: ${image.name}`}
            className="size-14 rounded-md border border-line object-cover"
          />
          <bdi className="min-w-0 truncate">{image.name}</bdi>
          <IconButton
            small
            className="!w-7"
            icon="close"
            label="Remove image"
            onClick={() => onImage(undefined)}
          />
        </div>
      )}
      <textarea
        aria-label="Message"
        aria-describedby={noteId}
        rows={3}
        placeholder="Send a message"
        value={draft}
        onChange={({ target }) => onDraft(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onSend();
        }}
        className="w-full resize-y bg-transparent px-1.5 py-1 outline-none placeholder:text-ink-faint"
      />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p id={noteId} role="status" className="min-w-0 flex-1 basis-64 px-1.5 text-xs text-ink-soft">
          {error ?? note}
        </p>
        <div className="flex gap-2">
          {supportsImages && (
            <>
              <input
                ref={file}
                type="file"
                accept="image/png,image/jpeg,image/webp,image/gif"
                className="sr-only"
                tabIndex={-1}
                aria-label="Image"
                onChange={({ target }) => {
                  choose(target.files?.[0]);
                  target.value = '';
                }}
              />
              <IconButton icon="image" label="Attach image" onClick={() => file.current?.click()} />
            </>
          )}
          {running ? (
            <Button icon="stop" onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button
              kind="primary"
              icon="send"
              disabled={!isValid || (draft.trim() === '' && image === undefined)}
              onClick={onSend}
            >
              Send
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}
