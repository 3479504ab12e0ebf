import { EVENTS, type EventType } from '../../schemas/events.ts';
import { splitEnvironment } from '../../schemas/primitives/environment.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';

/** Five bits per character: no other event has such an id by chance. */
const TEST_ID = 'evt_testevent';

/** A test event. It refers to objects that do not exist. */
export function testEvent(
  type: EventType,
  { environment, nowMs }: { environment: string; nowMs: number },
): { id: string; body: string } {
  const id = `${TEST_ID}${newId('evt').slice(TEST_ID.length)}`;
  const { workspaceId } = splitEnvironment(environment);
  const created_at = timestampText(nowMs);
  const data = EVENTS[type].example;
  return { id, body: exactJson({ id, type, workspace_id: workspaceId, created_at, data }) };
}
