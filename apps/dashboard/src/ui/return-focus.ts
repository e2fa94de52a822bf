import { useState } from 'react';

/**
 * Returns the focus to the element that had it before the dialog opened. Radix returns it to its own
 * trigger, which these dialogs do not have. Read while rendering, since autofocus runs before effects.
 */
export function useReturnFocus(open: boolean): (event: Event) => void {
  const [wasOpen, setWasOpen] = useState(false);
  const [focused, setFocused] = useState<Element | null>(null);
  if (open !== wasOpen) {
    setWasOpen(open);
    if (open) setFocused(document.activeElement);
  }
  return (event) => {
    event.preventDefault();
    if (focused instanceof HTMLElement) focused.focus();
  };
}
