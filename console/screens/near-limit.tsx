import { apiPath, useOperation } from '../api/rest.ts';
import { linkTo } from '../app/place.ts';
import { count, percent } from '../design/figures.ts';
import { Loaded } from '../design/loaded.tsx';
import { Card, NEAR } from '../design/pieces.tsx';
import { LevelTable } from './level-table.tsx';

const SHOWN = 10;
/** Of more the number is a bound. */
const COUNTED = 100;
const EVERY_MS = 15_000;

/** The customers that have used most of a limit or budget. */
export function NearLimit() {
  const path = apiPath(['usage', 'levels'], { above: NEAR, limit: COUNTED });
  const read = useOperation<'usageLevels.list'>(path, { everyMs: EVERY_MS });
  return (
    <Card title="Near or over a limit" actions={<a href={linkTo(['overview', 'levels'])}>All levels</a>}>
      <Loaded read={read} lines={4}>
        {({ data, nextCursor }) => (
          <>
            <LevelTable
              levels={data.slice(0, SHOWN)}
              empty={`No customer has used ${percent(NEAR)} of a limit or budget.`}
            />
            {data.length <= SHOWN ? null : (
              <p class="small muted">
                The fullest {SHOWN} of {nextCursor ? `more than ${COUNTED}` : count(data.length)} at{' '}
                {percent(NEAR)} or above. <a href={linkTo(['overview', 'levels'])}>See all</a>
              </p>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}
