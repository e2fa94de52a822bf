import { useId, useRef, useState, type ReactNode } from 'react';
import { Button, IconButton } from '../../ui/button';
import { readPicture, type Picture } from './image';

interface ComposerProps {
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
  readonly picture: Picture | undefined;
  readonly onPicture: (picture: Picture | undefined) => void;
  readonly takesPictures: boolean;
  readonly running: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly note: ReactNode;
}

/** Enter sends, Shift Enter begins a line. */
export function Composer(props: ComposerProps) {
  const { draft, onDraft, picture, onPicture, takesPictures, running, onSend, onStop, note } = props;
  const file = useRef<HTMLInputElement>(null);
  const noteId = useId();
  const [fault, setFault] = useState<string>();
  const choose = (chosen: File | undefined) => {
    if (!chosen) return;
    setFault(undefined);
    readPicture(chosen).then(onPicture, () => setFault('This file is no picture that the browser can read.'));
  };
  return (
    <div className="grid gap-2 rounded-lg border border-line-strong bg-paper p-2 focus-within:border-accent">
      {picture && (
        <div className="flex items-center gap-2 text-sm">
          <img
            src={picture.uri}
            alt={`To be sent: ${picture.name}`}
            className="size-14 rounded-md border border-line object-cover"
          />
          <bdi className="min-w-0 truncate">{picture.name}</bdi>
          <IconButton
            small
            className="!w-7"
            icon="close"
            label="Take the picture away"
            onClick={() => onPicture(undefined)}
          />
        </div>
      )}
      <textarea
        aria-label="Message"
        aria-describedby={noteId}
        rows={3}
        placeholder="Ask something"
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
          {fault ?? note}
        </p>
        <div className="flex gap-2">
          {takesPictures && (
            <>
              <input
                ref={file}
                type="file"
                accept="image/png,image/jpeg,image/webp,image/gif"
                className="sr-only"
                tabIndex={-1}
                aria-label="Picture"
                onChange={({ target }) => {
                  choose(target.files?.[0]);
                  target.value = '';
                }}
              />
              <IconButton icon="image" label="Attach a picture" onClick={() => file.current?.click()} />
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
              disabled={draft.trim() === '' && picture === undefined}
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
