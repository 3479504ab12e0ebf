import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Form } from './fields.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  isWide?: boolean;
  children: ComponentChildren;
}

/** Modal, with the browser's own care for focus and the Escape key. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // The event of a close comes later: by then another dialog may be open.
  const isOpen = useRef(true);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      isOpen.current = false;
      dialog?.close();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : undefined}
      aria-labelledby={id}
      onClose={() => isOpen.current && onClose()}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface FormDialogProps extends Omit<DialogProps, 'isWide'> {
  /** With fields that the browser finds filled in. */
  onContinue: () => void;
}

/** Fields of something that is asked about before it is made. */
export function FormDialog({ title, onClose, onContinue, children }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={onContinue}>
        {children}
        <div class="row row-end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary">
            Continue
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
