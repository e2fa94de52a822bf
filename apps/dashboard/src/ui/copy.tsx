import { useEffect, useState } from 'react';
import { Button, IconButton } from './button';
import { cx } from './cx';

const SHOWN_MS = 1_600;

/** Copies text to the clipboard, if the browser allows it. */
function useCopy(text: string, onCopied?: () => void) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(
      () => {
        setCopied(true);
        onCopied?.();
      },
      () => setCopied(false),
    );
  };
  return { copied, copy };
}

interface CopyProps {
  readonly text: string;
  /** What is copied, such as "key". */
  readonly what: string;
}

/** Sits next to the text that it copies without changing the line height. */
export function CopyIcon({ text, what, className }: CopyProps & { readonly className?: string }) {
  const { copied, copy } = useCopy(text);
  return (
    <IconButton
      small
      className={cx('!w-7 align-middle', className ?? '-my-1.5')}
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : `Copy ${what}`}
      onClick={copy}
    />
  );
}

export function CopyButton({ text, what, onCopied }: CopyProps & { readonly onCopied?: () => void }) {
  const { copied, copy } = useCopy(text, onCopied);
  return (
    <Button icon={copied ? 'check' : 'copy'} onClick={copy} aria-live="polite">
      {copied ? 'Copied' : `Copy ${what}`}
    </Button>
  );
}
