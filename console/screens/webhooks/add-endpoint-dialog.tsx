import { askToChange } from '../../api/change.tsx';
import { apiPath } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { FormDialog } from '../../design/dialog.tsx';
import { Field } from '../../design/fields.tsx';
import { Notice } from '../../design/pieces.tsx';
import { EventTypesField } from './event-types-field.tsx';

/** What the form has. It outlives the dialog, so that canceling loses nothing of it. */
export interface EndpointDraft {
  url: string;
  /** `*` is all. */
  events: string[];
}

export const EMPTY_DRAFT: EndpointDraft = { url: '', events: ['*'] };

interface AddEndpointDialogProps {
  draft: EndpointDraft;
  onDraft: (draft: EndpointDraft) => void;
  onClose: () => void;
  onAdded: (endpoint: Responded<'createWebhookEndpoint'>) => void;
}

export function AddEndpointDialog({ draft, onDraft, onClose, onAdded }: AddEndpointDialogProps) {
  const { url, events } = draft;
  const chosen = events.includes('*') ? ['*'] : events;
  const ask = () => {
    if (chosen.length === 0) return;
    onClose();
    askToChange({
      title: 'Add this endpoint?',
      effect: (
        <p>
          {url} gets {chosen.includes('*') ? 'every event' : chosen.join(', ')} from now on.
        </p>
      ),
      verb: 'Add endpoint',
      request: { method: 'POST', path: apiPath(['webhooks', 'endpoints']), body: { url, events: chosen } },
      done: 'The endpoint was added.',
      onDone: (body) => onAdded(body as Responded<'createWebhookEndpoint'>),
    });
  };
  return (
    <FormDialog title="Add an endpoint" onClose={onClose} onContinue={ask}>
      <Field
        label="URL"
        type="url"
        value={url}
        onInput={(typed) => onDraft({ ...draft, url: typed })}
        isRequired
        isFocused
        placeholder="https://…"
      />
      <EventTypesField chosen={events} onChoose={(types) => onDraft({ ...draft, events: types })} />
      {chosen.length === 0 ? <Notice tone="warn">Choose at least one event type.</Notice> : null}
    </FormDialog>
  );
}
